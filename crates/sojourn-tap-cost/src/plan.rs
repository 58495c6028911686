//! A plan of one journey with one stage: the event, by its type and key.

use serde_json::json;
use sojourn_plan::{
    Channel, Check, Connector, Decoder, Expect, Journey, JsonPath, PathStep, Plan, Selector, Stage,
    StageKind, StageSource, Test,
};

use crate::EVENT_TYPE;

/// How long a journey may take, nanoseconds: none is overdue while a benchmark runs.
const WITHIN_NS: u64 = 3_600_000_000_000;

/// For events whose payload is the event itself.
pub fn plan(connector: Connector) -> Plan {
    plan_at(connector, Selector::Type, &["aggregateId"])
}

/// For events that lie deeper in their payload: where its type is found, and the names that lead to
/// its key.
pub fn plan_at(connector: Connector, event_type: Selector, key: &[&str]) -> Plan {
    let stage = Stage {
        name: "settled".to_owned(),
        source: StageSource::Event {
            channel: 0,
            matches: vec![Check {
                text: String::new(),
                selector: event_type,
                test: Test::Equals(json!(EVENT_TYPE)),
            }],
            checks: Vec::new(),
            key: body(key),
            key_format: "{}".to_owned(),
        },
        kind: StageKind::Required,
        after: None,
        expect: Expect::Members(1),
        member: None,
        shared: false,
        reason: None,
        rekey: None,
        clock: None,
    };
    Plan {
        channels: vec![Channel {
            name: "events".to_owned(),
            connector,
            decoder: Decoder::Auto,
            message_id: None,
            marker: None,
            backlog: Vec::new(),
        }],
        journeys: vec![Journey {
            name: "payment".to_owned(),
            steps: Vec::new(),
            stages: vec![stage],
            within_ns: WITHIN_NS,
            linger_ns: 0,
            trace: false,
            label: None,
            poison: None,
        }],
        ..Plan::default()
    }
}

/// What these names lead to in the payload.
pub fn body(names: &[&str]) -> Selector {
    let text = format!("$.{}", names.join("."));
    Selector::Body(JsonPath {
        plain: Some(names.iter().map(|name| PathStep::Name((*name).to_owned())).collect()),
        compiled: serde_json_path::JsonPath::parse(&text).unwrap(),
        text,
    })
}
