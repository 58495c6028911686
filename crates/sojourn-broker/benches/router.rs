//! How many events a second one tap thread can decode and route, for the payments demo's shapes.
//!
//! `cargo bench -p sojourn-broker`. Prints the best of several rounds: other load only adds time.
#![allow(clippy::print_stdout, reason = "a benchmark speaks to the terminal")]
#![allow(clippy::unwrap_used, reason = "its input is its own")]

use std::hint::black_box;

use serde_json::json;
use sojourn_broker::{RawMessage, Router};
use sojourn_clock::now_ns;
use sojourn_plan::{
    Channel, Check, Connector, Decoder, Journey, JsonPath, KafkaChannel, PathStep, Plan, Selector,
    Stage, StageSource, Test,
};

const EVENTS: usize = 4_000;
const ROUNDS: usize = 50;
const TYPES: [&str; 4] =
    ["PaymentInitiated", "PaymentCreated", "PaymentSettled", "PaymentCompleted"];

fn main() {
    let id = |number: usize| format!("pay:00000000-0000-4000-8000-{number:012}");
    let plain = |number: usize| {
        json!({
            "type": TYPES[number % 4], "aggregateId": id(number),
            "amount": number, "currency": "GBP", "occurredAt": "2026-01-01T00:00:00.000Z",
        })
    };
    let cloud_event = |number: usize| {
        json!({
            "specversion": "1.0", "type": TYPES[number % 4], "source": "/payments",
            "id": format!("{number:032x}"), "time": "2026-01-01T00:00:00.000Z",
            "datacontenttype": "application/json", "data": { "aggregateId": id(number) },
        })
    };
    let mass_transit = |number: usize| {
        json!({
            "messageId": format!("{number:032x}"), "conversationId": format!("{number:032x}"),
            "sourceAddress": "rabbitmq://localhost/worker",
            "destinationAddress": "rabbitmq://localhost/Regis.Pay.Domain.IntegrationEvents",
            "messageType": [format!("urn:message:Pay.Events:{}", TYPES[number % 4])],
            "message": { "aggregateId": id(number) }, "sentTime": "2026-01-01T00:00:00Z",
            "headers": {}, "host": { "machineName": "m", "processName": "p", "processId": 1 },
        })
    };
    let payloads = |event: &dyn Fn(usize) -> serde_json::Value| -> Vec<String> {
        (0..EVENTS).map(|number| event(number).to_string()).collect()
    };
    measure("plain JSON", &payloads(&plain));
    measure("CloudEvents, structured", &payloads(&cloud_event));
    measure("MassTransit", &payloads(&mass_transit));
}

fn measure(name: &str, payloads: &[String]) {
    let mut router = Router::new(&plan(), 0, "run-1");
    let mut best_ns = u64::MAX;
    for _ in 0..ROUNDS {
        let begun = now_ns();
        for payload in payloads {
            let message = RawMessage {
                stamp_ns: begun,
                topic: "payments.events",
                key: None,
                headers: vec![("sojourn-run", b"run-1")],
                payload: payload.as_bytes(),
                position: None,
            };
            let observation = router.observe(black_box(&message)).unwrap();
            assert_eq!(observation.candidates.len(), 1);
            black_box(observation);
        }
        best_ns = best_ns.min(now_ns() - begun);
    }
    let each_ns = best_ns as f64 / payloads.len() as f64;
    println!(
        "{name:<24} {:>4} bytes  {each_ns:>6.0} ns an event  {:>9.0} events/s",
        payloads[0].len(),
        1e9 / each_ns
    );
}

fn plan() -> Plan {
    let stage = |name: &&str| {
        let source = StageSource::Event {
            channel: 0,
            matches: vec![Check {
                text: String::new(),
                selector: Selector::Type,
                test: Test::Equals(json!(name)),
            }],
            checks: Vec::new(),
            key: Selector::Body(JsonPath {
                text: "$.aggregateId".to_owned(),
                plain: Some(vec![PathStep::Name("aggregateId".to_owned())]),
                compiled: serde_json_path::JsonPath::parse("$.aggregateId").unwrap(),
            }),
            key_format: "{}".to_owned(),
        };
        Stage::new(name, source)
    };
    Plan {
        channels: vec![Channel {
            name: "events".to_owned(),
            connector: Connector::Kafka(KafkaChannel::default()),
            decoder: Decoder::Auto,
            message_id: None,
            marker: None,
            backlog: Vec::new(),
        }],
        journeys: vec![Journey {
            name: "payment".to_owned(),
            steps: Vec::new(),
            stages: TYPES.iter().map(stage).collect(),
            within_ns: 1,
            linger_ns: 0,
            label: None,
            trace: false,
            poison: None,
        }],
        ..Plan::default()
    }
}
