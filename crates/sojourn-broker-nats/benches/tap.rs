//! How many messages a second one tap thread can take: by a sink that does nothing, and by the
//! router, which decodes JSON and finds the key; of core NATS and of a stream.
//!
//! `cargo bench -p sojourn-broker-nats`. Processor time is that of the tap's own thread, with the
//! kernel's part; publisher and server are others. Best of several rounds: other load only adds.
#![allow(clippy::print_stdout, reason = "a benchmark speaks to the terminal")]
#![allow(clippy::unwrap_used, reason = "its server is its own")]

use std::hint::black_box;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;
use sojourn_broker::{Publisher as _, PublisherSettings, RawMessage, Router, Sink, Tap as _};
use sojourn_broker_nats::{NatsPublisher, NatsTap};
use sojourn_clock::thread_cpu;
use sojourn_plan::{
    Channel, Check, Connector, Decoder, Expect, Journey, JsonPath, NatsChannel, PathStep, Plan,
    Selector, Server, Stage, StageKind, StageSource, Test,
};
use sojourn_services::{Nats, Service as _};

const MESSAGES: u64 = 400_000;
const PUBLISHED: u64 = 200_000;
const ROUNDS: usize = 5;

fn main() {
    let nats = Nats::start().unwrap();
    let mut control = Control::connect(nats.port());
    let config = json!({
        "name": "S", "subjects": ["stream.>"], "storage": "memory", "retention": "limits",
        "max_msgs": 1_000_000, "discard": "old", "num_replicas": 1, "max_age": 0,
        "max_bytes": -1, "max_consumers": -1,
    });
    control.send(&format!(
        "SUB answer 1\r\nPUB $JS.API.STREAM.CREATE.S answer {}\r\n{config}\r\n",
        config.to_string().len()
    ));
    control.line_with("MSG answer");
    for (name, subject, stream) in [("core", "core.a", None), ("stream", "stream.a", Some("S"))] {
        let channel = NatsChannel {
            server: Server { host: "127.0.0.1".to_owned(), port: nats.port(), ..Server::default() },
            subjects: vec![subject.to_owned()],
            stream: stream.map(ToOwned::to_owned),
            ..NatsChannel::default()
        };
        let bare = best(&channel, subject, &mut Bare(0));
        let router = Router::new(&plan(), 0, "run-1");
        let routed = best(&channel, subject, &mut Routed(router, 0));
        println!("nats_{name}_bare_cpu_each {:.3} us", bare);
        println!("nats_{name}_bare_per_core {:.0} messages/s", 1e6 / bare);
        println!("nats_{name}_routed_cpu_each {:.3} us", routed);
        println!("nats_{name}_routed_per_core {:.0} messages/s", 1e6 / routed);
        let (caller, whole) = publishing(&channel, subject);
        println!("nats_{name}_publish_caller_cpu_each {caller:.3} us");
        println!("nats_{name}_publish_wall_each {whole:.3} us");
    }
}

/// Processor time of a message, microseconds.
fn best(channel: &NatsChannel, subject: &str, sink: &mut dyn Counting) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let mut tap = NatsTap::new(channel).unwrap();
        tap.open().unwrap();
        let (port, subject) = (channel.server.port, subject.to_owned());
        let flood = std::thread::spawn(move || flood(port, &subject));
        let begun = thread_cpu();
        let until = sink.count() + MESSAGES;
        while sink.count() < until {
            sink.poll(&mut tap);
        }
        let spent = thread_cpu().since(&begun);
        best = best.min(spent.cpu_ns as f64 / 1_000.0 / MESSAGES as f64);
        flood.join().unwrap();
        assert!(tap.take_gaps().is_empty());
    }
    best
}

/// Publishes all at once, as fast as the server takes it.
fn flood(port: u16, subject: &str) {
    let mut control = Control::connect(port);
    let headers = "NATS/1.0\r\nsojourn-run: run-1\r\n\r\n";
    let mut number = 0;
    while number < MESSAGES {
        let mut batch = String::new();
        for _ in 0..1_000 {
            let payload = format!(
                "{{\"type\":\"PaymentSettled\",\"aggregateId\":\"pay:00000000-0000-4000-8000-\
                 {number:012}\",\"amount\":{number},\"currency\":\"GBP\",\
                 \"occurredAt\":\"2026-01-01T00:00:00.000Z\"}}"
            );
            let total = headers.len() + payload.len();
            batch += &format!("HPUB {subject} {} {total}\r\n{headers}{payload}\r\n", headers.len());
            number += 1;
        }
        control.send(&batch);
        // The server drops whoever publishes much faster than it reads.
        control.send("PING\r\n");
        control.line_with("PONG");
    }
}

/// Processor time of the publishing thread, and time in all, of a message, microseconds.
fn publishing(channel: &NatsChannel, subject: &str) -> (f64, f64) {
    let mut publisher = NatsPublisher::new(channel, PublisherSettings::default()).unwrap();
    let (mut outcomes, mut done) = (Vec::new(), 0);
    let (begun, begun_ns) = (thread_cpu(), sojourn_clock::now_ns());
    let mut token = 0;
    while done < PUBLISHED {
        let payload = [b'x'; 150];
        while token < PUBLISHED
            && publisher.try_publish(token, subject, None, &[("a", b"b")], &payload).is_ok()
        {
            token += 1;
        }
        publisher.poll(&mut outcomes);
        done += outcomes.len() as u64;
        assert!(outcomes.iter().all(|outcome| outcome.error.is_none()), "{:?}", outcomes.last());
        outcomes.clear();
        std::thread::sleep(Duration::from_micros(200));
    }
    let spent = thread_cpu().since(&begun);
    let each = |ns: u64| ns as f64 / 1_000.0 / PUBLISHED as f64;
    (each(spent.cpu_ns), each(sojourn_clock::now_ns() - begun_ns))
}

trait Counting {
    fn count(&self) -> u64;
    fn poll(&mut self, tap: &mut NatsTap);
}

struct Bare(u64);

impl Sink for Bare {
    fn message(&mut self, message: &RawMessage<'_>) {
        black_box(message);
        self.0 += 1;
    }
}

impl Counting for Bare {
    fn count(&self) -> u64 {
        self.0
    }

    fn poll(&mut self, tap: &mut NatsTap) {
        tap.poll(Duration::from_millis(10), self).unwrap();
    }
}

struct Routed(Router, u64);

impl Sink for Routed {
    fn message(&mut self, message: &RawMessage<'_>) {
        let observation = self.0.observe(message).unwrap();
        assert_eq!(observation.candidates.len(), 1);
        black_box(observation);
        self.1 += 1;
    }
}

impl Counting for Routed {
    fn count(&self) -> u64 {
        self.1
    }

    fn poll(&mut self, tap: &mut NatsTap) {
        tap.poll(Duration::from_millis(10), self).unwrap();
    }
}

/// A plain connection.
struct Control(BufReader<TcpStream>);

impl Control {
    fn connect(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let mut control = Self(BufReader::new(stream));
        control.line_with("INFO");
        control.send("CONNECT {\"verbose\":false,\"headers\":true}\r\n");
        control
    }

    fn send(&mut self, text: &str) {
        self.0.get_mut().write_all(text.as_bytes()).unwrap();
    }

    fn line_with(&mut self, begin: &str) {
        let mut line = String::new();
        while !line.starts_with(begin) {
            line.clear();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "no {begin}");
        }
    }
}

fn plan() -> Plan {
    let stage = Stage {
        name: "settled".to_owned(),
        source: StageSource::Event {
            channel: 0,
            matches: vec![Check {
                text: String::new(),
                selector: Selector::Type,
                test: Test::Equals(json!("PaymentSettled")),
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
            connector: Connector::Nats(NatsChannel::default()),
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
