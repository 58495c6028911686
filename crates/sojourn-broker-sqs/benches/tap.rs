//! What a message costs the tap, against a real server: `cargo bench -p sojourn-broker-sqs`.
//!
//! Everything that the tap does happens on the thread that polls it, so that this thread's CPU time
//! is the tap's whole cost: requests, answers, decoding, deletions. `bare` only counts; `router`
//! decodes JSON, finds stage and key as in a run. The rate is the server's, on the same machine.
#![allow(clippy::print_stdout, reason = "a benchmark speaks to the terminal")]
#![allow(clippy::unwrap_used, reason = "its server is its own")]

use std::time::Duration;

use serde_json::json;
use sojourn_broker::{Connect, PublisherSettings, RawMessage, Router, Sink};
use sojourn_broker_sqs::Sqs;
use sojourn_clock::{now_ns, thread_cpu};
use sojourn_plan::{
    Channel, Connector, Decoder, Expect, Journey, JsonPath, PathStep, Plan, Selector, SqsChannel,
    SqsSource, Stage, StageKind, StageSource,
};
use sojourn_services::ElasticMq;

const MESSAGES: usize = 20_000;

fn main() {
    let server = ElasticMq::start().unwrap();
    let plan = plan(&server.url());
    measure("bare", &plan, None);
    measure("router", &plan, Some(Router::new(&plan, 0, "run-1")));
}

fn measure(name: &str, plan: &Plan, router: Option<Router>) {
    let channel = &plan.channels[0];
    Sqs.provision(channel, "bench").unwrap();
    let mut tap = Sqs.tap(channel).unwrap();
    tap.open().unwrap();
    publish(channel);
    let mut sink = Counting { router, count: 0 };
    let (begun_ns, cpu_ns) = (now_ns(), thread_cpu().cpu_ns);
    while sink.count < MESSAGES {
        tap.poll(Duration::from_millis(10), &mut sink).unwrap();
    }
    let (took_ns, cpu_ns) = (now_ns() - begun_ns, thread_cpu().cpu_ns - cpu_ns);
    println!("{name}_rate {:.0} messages/s", MESSAGES as f64 * 1e9 / took_ns as f64);
    println!("{name}_cpu {:.2} us/message", cpu_ns as f64 / 1e3 / MESSAGES as f64);
}

fn publish(channel: &Channel) {
    let settings = PublisherSettings { queue_max: MESSAGES, ..PublisherSettings::default() };
    let mut publisher = Sqs.publisher(channel, settings).unwrap();
    let (mut outcomes, begun_ns) = (Vec::new(), now_ns());
    for number in 0..MESSAGES {
        let event = json!({
            "type": "PaymentCreated", "aggregateId": format!("pay:{number:032}"),
            "amount": number, "currency": "GBP", "occurredAt": "2026-01-01T00:00:00.000Z",
        });
        let headers: [(&str, &[u8]); 1] = [("sojourn-run", b"run-1")];
        let payload = event.to_string();
        publisher.try_publish(number as u64, "bench", None, &headers, payload.as_bytes()).unwrap();
    }
    while outcomes.len() < MESSAGES {
        publisher.poll(&mut outcomes);
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(outcomes.iter().all(|outcome| outcome.error.is_none()));
    let took_ns = now_ns() - begun_ns;
    println!("publish_rate {:.0} messages/s", MESSAGES as f64 * 1e9 / took_ns as f64);
}

struct Counting {
    router: Option<Router>,
    count: usize,
}

impl Sink for Counting {
    fn message(&mut self, message: &RawMessage<'_>) {
        if let Some(router) = &mut self.router {
            assert_eq!(router.observe(message).unwrap().candidates.len(), 1);
        }
        self.count += 1;
    }
}

fn plan(url: &str) -> Plan {
    let key = Selector::Body(JsonPath {
        text: "$.aggregateId".to_owned(),
        plain: Some(vec![PathStep::Name("aggregateId".to_owned())]),
        compiled: serde_json_path::JsonPath::parse("$.aggregateId").unwrap(),
    });
    let stage = Stage {
        name: "created".to_owned(),
        source: StageSource::Event {
            channel: 0,
            matches: Vec::new(),
            checks: Vec::new(),
            key,
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
            connector: Connector::Sqs(SqsChannel {
                endpoint: Some(url.to_owned()),
                source: SqsSource::Queue("bench".to_owned()),
                discard: true,
                ..SqsChannel::default()
            }),
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
