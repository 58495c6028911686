//! What a message costs the tap: processor time of the thread that polls it, over a real RabbitMQ.
//!
//! `cargo bench -p sojourn-broker-amqp`. All messages are in the tap's queue before it is polled,
//! so that the broker is the bound of the rate and waiting is not counted. Prints `name value
//! unit`, medians of several rounds.
#![allow(clippy::print_stdout, reason = "a benchmark speaks to the terminal")]
#![allow(clippy::unwrap_used, reason = "its broker is its own")]

use std::hint::black_box;
use std::time::Duration;

use serde_json::json;
use sojourn_broker::{Publisher, PublisherSettings, RawMessage, Router, Sink, Tap};
use sojourn_broker_amqp::{AmqpPublisher, AmqpTap};
use sojourn_clock::{now_ns, thread_cpu};
use sojourn_plan::{
    AmqpChannel, Channel, Check, Connector, Decoder, Expect, Journey, JsonPath, PathStep, Plan,
    Selector, Server, Stage, StageKind, StageSource, Test,
};
use sojourn_services::{RabbitMq, Service};

const MESSAGES: u64 = 100_000;
const ROUNDS: usize = 5;

fn main() {
    let rabbit = RabbitMq::start().unwrap();
    let channel = AmqpChannel {
        server: Server { host: "127.0.0.1".to_owned(), port: rabbit.port(), ..Server::default() },
        exchange: "amq.fanout".to_owned(),
        routing: vec!["#".to_owned()],
        management: None,
        mandatory: true,
    };
    let mut counting = Vec::new();
    let mut routing = Vec::new();
    let mut publishing = Vec::new();
    for _ in 0..ROUNDS {
        counting.push(measure(&channel, &mut Counted(0), &mut publishing));
        let mut routed = Routed { router: Router::new(&plan(), 0, "run-1"), seen: 0 };
        routing.push(measure(&channel, &mut routed, &mut publishing));
    }
    for (name, mut rounds) in [("counting", counting), ("with_router", routing)] {
        rounds.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (cpu_us, rate) = rounds[ROUNDS / 2];
        println!("tap_{name}_cpu {cpu_us:.3} us/message");
        println!("tap_{name}_possible {:.0} messages/s/core", 1e6 / cpu_us);
        println!("tap_{name}_received {rate:.0} messages/s");
    }
    publishing.sort_by(f64::total_cmp);
    println!("publisher_confirmed {:.0} messages/s", publishing[publishing.len() / 2]);
}

/// Processor time in microseconds a message, and messages a second.
fn measure(
    channel: &AmqpChannel,
    sink: &mut dyn Counting,
    publishing: &mut Vec<f64>,
) -> (f64, f64) {
    let mut tap = AmqpTap::new(channel).unwrap();
    tap.open().unwrap();
    publishing.push(fill(channel));
    let (begun_ns, begun) = (now_ns(), thread_cpu().cpu_ns);
    while sink.seen() < MESSAGES {
        tap.poll(Duration::from_millis(2), sink.as_sink()).unwrap();
    }
    let cpu_us = (thread_cpu().cpu_ns - begun) as f64 / 1e3 / MESSAGES as f64;
    (cpu_us, MESSAGES as f64 / ((now_ns() - begun_ns) as f64 / 1e9))
}

/// Publishes all messages; messages confirmed a second.
fn fill(channel: &AmqpChannel) -> f64 {
    let how = PublisherSettings { queue_max: 1_000, ..PublisherSettings::default() };
    let mut publisher = AmqpPublisher::new(channel, how).unwrap();
    let (mut token, mut confirmed) = (0, 0);
    let mut outcomes = Vec::new();
    let begun_ns = now_ns();
    while confirmed < MESSAGES {
        let payload = json!({
            "type": "PaymentCreated",
            "aggregateId": format!("pay:00000000-0000-4000-8000-{token:012}"),
            "amount": token, "currency": "GBP", "occurredAt": "2026-01-01T00:00:00.000Z",
        })
        .to_string();
        let headers: [(&str, &[u8]); 2] =
            [("content-type", b"application/json"), ("sojourn-run", b"run-1")];
        while token < MESSAGES
            && publisher.try_publish(token, "pay", None, &headers, payload.as_bytes()).is_ok()
        {
            token += 1;
        }
        std::thread::sleep(Duration::from_micros(200));
        publisher.poll(&mut outcomes);
        assert!(outcomes.iter().all(|outcome| outcome.error.is_none()));
        confirmed += outcomes.drain(..).count() as u64;
    }
    MESSAGES as f64 / ((now_ns() - begun_ns) as f64 / 1e9)
}

trait Counting: Sink {
    fn seen(&self) -> u64;
    fn as_sink(&mut self) -> &mut dyn Sink;
}

struct Counted(u64);

impl Sink for Counted {
    fn message(&mut self, message: &RawMessage<'_>) {
        black_box(message);
        self.0 += 1;
    }
}

impl Counting for Counted {
    fn seen(&self) -> u64 {
        self.0
    }

    fn as_sink(&mut self) -> &mut dyn Sink {
        self
    }
}

struct Routed {
    router: Router,
    seen: u64,
}

impl Sink for Routed {
    fn message(&mut self, message: &RawMessage<'_>) {
        let observation = self.router.observe(message).unwrap();
        assert_eq!(observation.candidates.len(), 1);
        black_box(observation);
        self.seen += 1;
    }
}

impl Counting for Routed {
    fn seen(&self) -> u64 {
        self.seen
    }

    fn as_sink(&mut self) -> &mut dyn Sink {
        self
    }
}

/// One journey with one stage: payments by type and id.
fn plan() -> Plan {
    let stage = Stage {
        name: "created".to_owned(),
        source: StageSource::Event {
            channel: 0,
            matches: vec![Check {
                text: String::new(),
                selector: Selector::Type,
                test: Test::Equals(json!("PaymentCreated")),
            }],
            checks: Vec::new(),
            key: Selector::Body(JsonPath {
                text: "$.aggregateId".to_owned(),
                plain: Some(vec![PathStep::Name("aggregateId".to_owned())]),
                compiled: serde_json_path::JsonPath::parse("$.aggregateId").unwrap(),
            }),
            key_format: "{}".to_owned(),
        },
        kind: StageKind::Required,
        after: None,
        expect: Expect::Members(1),
        member: None,
        shared: false,
        reason: None,
        rekey: None,
    };
    Plan {
        channels: vec![Channel {
            name: "events".to_owned(),
            connector: Connector::Amqp(AmqpChannel::default()),
            decoder: Decoder::Auto,
            message_id: None,
            marker: None,
            backlog: Vec::new(),
        }],
        journeys: vec![Journey {
            name: "payment".to_owned(),
            steps: Vec::new(),
            stages: vec![stage],
            within_ns: 1,
            linger_ns: 0,
            trace: false,
            poison: None,
        }],
        ..Plan::default()
    }
}
