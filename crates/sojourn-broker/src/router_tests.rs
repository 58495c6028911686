//! Tests of the router: which stages an event fits, with which key.

use serde_json::{Value, json};
use sojourn_plan::{
    Channel, Check, Connector, Decoder, Expect, Journey, KafkaChannel, Plan, Selector, Stage,
    StageSource, Test,
};

use super::*;
use crate::Position;
use crate::testing::{message, path};

const PAYMENT: &[u8] = br#"{"type":"PaymentCreated","aggregateId":"pay:1"}"#;

fn equals(selector: Selector, value: &str) -> Check {
    Check { text: String::new(), selector, test: Test::Equals(json!(value)) }
}

fn stage(name: &str, matches: Vec<Check>, key: Selector) -> Stage {
    let source = StageSource::Event {
        channel: 0,
        matches,
        checks: Vec::new(),
        key,
        key_format: "{}".to_owned(),
    };
    Stage::new(name, source)
}

/// A stage on events of a type, keyed by `$.aggregateId`.
fn typed(event_type: &str) -> Stage {
    stage(event_type, vec![equals(Selector::Type, event_type)], path("$.aggregateId"))
}

fn plan(stages: Vec<Stage>) -> Plan {
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
            stages,
            within_ns: 1,
            linger_ns: 0,
            trace: false,
            label: None,
            poison: None,
        }],
        ..Plan::default()
    }
}

fn router(stages: Vec<Stage>) -> Router {
    Router::new(&plan(stages), 0, "run-1")
}

/// (kind, stage, key) of every candidate.
fn fits(observation: &Observation) -> Vec<(u16, u8, String)> {
    let text =
        |candidate: &Candidate| String::from_utf8(candidate.key.as_bytes().to_vec()).unwrap();
    observation
        .candidates
        .iter()
        .map(|candidate| (candidate.kind, candidate.stage, text(candidate)))
        .collect()
}

#[test]
fn an_event_fits_the_stages_of_its_type_in_declared_order() {
    let mut plan = plan(vec![typed("PaymentInitiated"), typed("PaymentCreated")]);
    plan.journeys.push(Journey {
        name: "other".to_owned(),
        stages: vec![typed("PaymentCreated")],
        ..plan.journeys[0].clone()
    });
    let mut router = Router::new(&plan, 0, "run-1");
    let observation = router.observe(&message(PAYMENT)).unwrap();
    assert_eq!(fits(&observation), [(0, 1, "pay:1".to_owned()), (1, 0, "pay:1".to_owned())]);
    assert!(!observation.undecodable);
    // Stages of another channel are none of this router's.
    let elsewhere = Router::new(&plan, 1, "run-1").observe(&message(PAYMENT)).unwrap();
    assert!(elsewhere.candidates.is_empty() && !elsewhere.undecodable);
}

#[test]
fn an_event_of_no_stage_is_not_undecodable() {
    let mut router = router(vec![typed("PaymentCreated")]);
    for payload in [r#"{"type":"Else"}"#, r#"{"type":"Else","aggregateId":null}"#, "{}", "[]"] {
        let observation = router.observe(&message(payload.as_bytes())).unwrap();
        assert!(observation.candidates.is_empty(), "{payload}");
        assert!(!observation.undecodable, "{payload}");
    }
    assert!(router.undecodable_samples().is_empty());
}

#[test]
fn a_missing_null_or_empty_key_is_undecodable_with_a_sample() {
    let mut router = router(vec![typed("A")]);
    for payload in [
        r#"{"type":"A"}"#,
        r#"{"type":"A","aggregateId":null}"#,
        r#"{"type":"A","aggregateId":""}"#,
        r#"{"type":"A","aggregateId":{"x":1}}"#,
    ] {
        let observation = router.observe(&message(payload.as_bytes())).unwrap();
        assert!(observation.candidates.is_empty() && observation.undecodable, "{payload}");
    }
    let samples = router.undecodable_samples();
    assert_eq!(samples.len(), 4);
    assert!(samples[0].contains("no key at $.aggregateId for payment/A"), "{}", samples[0]);
    assert!(samples[0].contains(r#"{"type":"A"}"#), "{}", samples[0]);
}

#[test]
fn samples_are_bounded_in_number_and_length() {
    let mut router = router(vec![typed("A")]);
    let long = format!(r#"{{"type":"A","text":"{}"}}"#, "é".repeat(500));
    for _ in 0..50 {
        assert!(router.observe(&message(long.as_bytes())).unwrap().undecodable);
    }
    assert_eq!(router.undecodable_samples().len(), 10);
    assert!(router.undecodable_samples().iter().all(|sample| sample.len() <= 200));
}

#[test]
fn an_unreadable_payload_is_undecodable_where_a_stage_needs_it() {
    let on_topic = |topic: &str| equals(Selector::Topic, topic);
    let payments = || on_topic("payments.events");
    // (stage, undecodable)
    let cases = [
        (stage("any", vec![], path("$.id")), true),
        (stage("topic", vec![payments()], path("$.id")), true),
        (stage("elsewhere", vec![on_topic("x")], path("$.id")), false),
        (typed("A"), true),
        (stage("key", vec![payments()], Selector::MessageKey), false),
    ];
    for (stage, undecodable) in cases {
        let name = stage.name.clone();
        let mut router = router(vec![stage]);
        let mut garbage = message(b"\xff{not json");
        garbage.key = Some(b"k1");
        let observation = router.observe(&garbage).unwrap();
        assert_eq!(observation.undecodable, undecodable, "{name}");
        assert_eq!(router.undecodable_samples().len(), usize::from(undecodable), "{name}");
        if undecodable {
            assert!(router.undecodable_samples()[0].contains("not JSON"), "{name}");
        }
        if name == "key" {
            assert_eq!(fits(&observation), [(0, 0, "k1".to_owned())]);
        }
    }
}

#[test]
fn a_header_type_decides_though_the_payload_is_unreadable() {
    let mut router = router(vec![typed("A")]);
    for (header, undecodable) in [("A", true), ("B", false)] {
        let mut garbage = message(b"garbage");
        garbage.headers = vec![("type", header.as_bytes())];
        assert_eq!(router.observe(&garbage).unwrap().undecodable, undecodable, "{header}");
    }
}

#[test]
fn keys_are_text_and_take_their_format() {
    let key_of = |format: &str, payload: Value| {
        let mut stage = typed("A");
        let StageSource::Event { key_format, .. } = &mut stage.source else { unreachable!() };
        format.clone_into(key_format);
        let payload = payload.to_string();
        let observation = router(vec![stage]).observe(&message(payload.as_bytes())).unwrap();
        fits(&observation).pop().map(|(_, _, key)| key)
    };
    let event = |id: Value| json!({"type": "A", "aggregateId": id});
    assert_eq!(key_of("{}", event(json!("x"))).as_deref(), Some("x"));
    assert_eq!(key_of("", event(json!("x"))).as_deref(), Some("x"));
    assert_eq!(key_of("pay:{}", event(json!("x"))).as_deref(), Some("pay:x"));
    assert_eq!(key_of("<{}>", event(json!(42))).as_deref(), Some("<42>"));
    assert_eq!(
        key_of("{}", event(json!(18_446_744_073_709_551_615_u64))).as_deref(),
        Some("18446744073709551615")
    );
    assert_eq!(key_of("{}", event(json!(true))).as_deref(), Some("true"));
    let long = "k".repeat(100);
    assert_eq!(key_of("pay:{}", event(json!(long))), Some(format!("pay:{long}")));
    assert_eq!(key_of("pay:{}", event(json!(""))), None);
}

#[test]
fn keys_come_from_headers_message_keys_and_topics() {
    for (selector, expect) in [
        (Selector::Header("Payment-Id".to_owned()), "h1"),
        (Selector::MessageKey, "k1"),
        (Selector::Topic, "payments.events"),
        (Selector::Regex(regex("aggregateId\":\"pay:([0-9]+)")), "1"),
        (Selector::Regex(regex("pay:[0-9]+")), "pay:1"),
    ] {
        let mut message = message(PAYMENT);
        message.headers = vec![("payment-id", b"h1")];
        message.key = Some(b"k1");
        let observation = router(vec![stage("s", vec![], selector)]).observe(&message).unwrap();
        assert_eq!(fits(&observation), [(0, 0, expect.to_owned())]);
    }
}

fn regex(pattern: &str) -> regex::Regex {
    regex::Regex::new(pattern).unwrap()
}

#[test]
fn a_key_that_is_not_utf8_matches_nothing() {
    let mut message = message(PAYMENT);
    message.key = Some(&[0xff, 0x00]);
    let mut router = router(vec![stage("s", vec![], Selector::MessageKey)]);
    assert!(router.observe(&message).unwrap().undecodable);
    assert!(router.undecodable_samples()[0].contains("the message key"));
}

#[test]
fn a_content_check_that_does_not_hold_is_said_of_the_candidate() {
    let mut stage = typed("A");
    let StageSource::Event { checks, .. } = &mut stage.source else { unreachable!() };
    checks.push(equals(path("$.currency"), "GBP"));
    let mut router = router(vec![stage]);
    let mut failed = |currency: Value| {
        let event = json!({"type": "A", "aggregateId": "k", "currency": currency}).to_string();
        let observation = router.observe(&message(event.as_bytes())).unwrap();
        assert!(!observation.undecodable);
        observation.candidates[0].check_failed
    };
    assert!(!failed(json!("GBP")));
    assert!(failed(json!("EUR")));
    assert!(failed(json!(null)));
}

#[test]
fn members_are_told_apart_by_value() {
    let mut stage = typed("A");
    stage.expect = Expect::Members(2);
    stage.member = Some(path("$.member"));
    let mut router = router(vec![stage]);
    let mut member = |value: Value| {
        let payload = json!({"type": "A", "aggregateId": "k", "member": value}).to_string();
        let observation = router.observe(&message(payload.as_bytes())).unwrap();
        observation.candidates[0].member
    };
    let (ledger, receipt) = (member(json!("ledger")), member(json!("receipt")));
    assert!(ledger.is_some() && receipt.is_some() && ledger != receipt);
    assert_eq!(ledger, member(json!("ledger")));
    assert_eq!(member(json!(1)), member(json!("1")));
    assert_eq!(member(json!(null)), None);
    assert!(member(json!({"a": 1})).is_some());
}

#[test]
fn mass_transit_types_match_by_full_and_bare_name() {
    let payload = br#"{"messageId":"m1","messageType":["urn:message:Pay.Events:PaymentCreated"],
        "message":{"aggregateId":"pay:1"}}"#;
    for (name, fits_it) in
        [("PaymentCreated", true), ("Pay.Events:PaymentCreated", true), ("Created", false)]
    {
        let mut router = router(vec![typed(name)]);
        let observation = router.observe(&message(payload)).unwrap();
        assert_eq!(observation.candidates.len(), usize::from(fits_it), "{name}");
        assert_eq!(observation.message_id, Some(hash(b"m1")));
    }
}

#[test]
fn envelope_paths_see_the_whole_document() {
    let payload = br#"{"specversion":"1.0","type":"T","id":"i","subject":"pay:9",
        "data":{"aggregateId":"pay:1"}}"#;
    for (selector, expect) in [
        ("$envelope.subject", "pay:9"),
        ("$envelope.data.aggregateId", "pay:1"),
        ("$.aggregateId", "pay:1"),
    ] {
        let mut router = router(vec![stage("s", vec![], path(selector))]);
        let observation = router.observe(&message(payload)).unwrap();
        assert_eq!(fits(&observation), [(0, 0, expect.to_owned())], "{selector}");
    }
}

#[test]
fn envelope_paths_see_a_binary_cloud_event_as_its_structured_form() {
    let mut message = message(br#"{"aggregateId":"pay:1","subject":"of the payload"}"#);
    message.headers = vec![
        ("ce_specversion", b"1.0".as_slice()),
        ("CE-Type", b"T"),
        ("ce-Subject", b"pay:9"),
        ("ce_subject", b"a second one"),
        ("content-type", b"application/json"),
        ("ce_bytes", b"\xff"),
        ("\u{e4}\u{e4}", b"no ASCII"),
    ];
    for (selector, expect) in [
        ("$envelope.subject", "pay:9"),
        ("$envelope.type", "T"),
        ("$envelope.datacontenttype", "application/json"),
        ("$envelope.data.aggregateId", "pay:1"),
        ("$.subject", "of the payload"),
    ] {
        let mut router = router(vec![stage("s", vec![], path(selector))]);
        let observation = router.observe(&message).unwrap();
        assert_eq!(fits(&observation), [(0, 0, expect.to_owned())], "{selector}");
    }
    let mut router = router(vec![stage("s", vec![], path("$envelope.bytes"))]);
    assert!(router.observe(&message).unwrap().undecodable, "not UTF-8: no key");
}

#[test]
fn the_marker_tells_our_run_from_others() {
    let mut plan = plan(vec![typed("A")]);
    for (header, expect) in [
        (None, Marker::Absent),
        (Some("run-1"), Marker::Ours),
        (Some("run-2"), Marker::Foreign),
        (Some(""), Marker::Absent),
    ] {
        let mut message = message(PAYMENT);
        message.headers = header.iter().map(|id| ("Sojourn-Run", id.as_bytes())).collect();
        let observation = Router::new(&plan, 0, "run-1").observe(&message).unwrap();
        assert_eq!(observation.marker, expect, "{header:?}");
    }
    plan.channels[0].marker = Some(path("$.aggregateId"));
    let observation = Router::new(&plan, 0, "pay:1").observe(&message(PAYMENT)).unwrap();
    assert_eq!(observation.marker, Marker::Ours);
}

#[test]
fn the_channel_may_say_where_the_message_id_is() {
    let mut plan = plan(vec![typed("A")]);
    let mut message = message(PAYMENT);
    message.headers = vec![("message-id", b"m1")];
    let default = Router::new(&plan, 0, "r").observe(&message).unwrap();
    assert_eq!(default.message_id, Some(hash(b"m1")));
    plan.channels[0].message_id = Some(path("$.aggregateId"));
    let declared = Router::new(&plan, 0, "r").observe(&message).unwrap();
    assert_eq!(declared.message_id, Some(hash(b"pay:1")));
}

#[test]
fn rereads_are_dropped_by_position_and_counted() {
    let mut router = router(vec![typed("PaymentCreated")]);
    let mut seen = |partition, offset| {
        let mut message = message(PAYMENT);
        message.position = Some(Position { partition, offset });
        router.observe(&message).is_some()
    };
    assert!(seen(0, 10) && seen(0, 11) && seen(1, 5));
    assert!(!seen(0, 11) && !seen(0, 10) && !seen(0, 3));
    // A gap is no re-read: compaction and transactions leave them.
    assert!(seen(0, 20) && seen(1, 6));
    assert_eq!(router.rereads(), 3);
}

proptest::proptest! {
    #[test]
    fn observing_any_bytes_never_panics(payload: Vec<u8>, key: Option<Vec<u8>>) {
        let mut router = router(vec![typed("A"), stage("k", vec![], Selector::MessageKey)]);
        let mut message = message(&payload);
        message.key = key.as_deref();
        let observation = router.observe(&message).unwrap();
        proptest::prop_assert_eq!(
            observation.candidates.len(),
            usize::from(key.is_some_and(|key| !key.is_empty() && std::str::from_utf8(&key).is_ok()))
        );
    }
}

/// A router of one stage, for the type `event_type`, whose channel reads by `decoder`.
fn reading(decoder: Decoder, event_type: Option<&str>) -> Router {
    let matches = event_type.map(|event_type| equals(Selector::Type, event_type));
    let mut plan = plan(vec![stage("s", matches.into_iter().collect(), path("$.id"))]);
    plan.channels[0].decoder = decoder;
    Router::new(&plan, 0, "run-1")
}

#[test]
fn rows_of_debezium_fit_by_either_name_and_tombstones_fit_nothing() {
    let deleted = br#"{"payload":{"before":{"id":"o1"},"after":null,"op":"d",
        "source":{"version":"2","connector":"mysql","table":"orders"}}}"#;
    for event_type in ["orders.d", "d"] {
        for decoder in [Decoder::Auto, Decoder::Debezium] {
            let observation = reading(decoder, Some(event_type)).observe(&message(deleted));
            assert_eq!(fits(&observation.unwrap()), [(0, 0, "o1".to_owned())]);
        }
    }
    // Of a stage that takes every event too.
    let mut router = reading(Decoder::Debezium, None);
    for payload in [&b""[..], b"null"] {
        let observation = router.observe(&message(payload)).unwrap();
        assert!(observation.candidates.is_empty() && !observation.undecodable);
    }
    assert!(router.observe(&message(b"{}")).unwrap().candidates.is_empty());
    assert!(router.undecodable_samples()[0].contains("not a change of Debezium"));
}

#[test]
fn keys_come_from_messagepack_text_and_nservicebus() {
    let packed = b"\x82\xa4type\xa4Paid\xa2id\xa2o1";
    let observation = reading(Decoder::MessagePack, Some("Paid")).observe(&message(packed));
    assert_eq!(fits(&observation.unwrap()), [(0, 0, "o1".to_owned())]);

    let text = Decoder::Text(regex("^(?<type>[A-Z]+) (?<id>o[0-9]+)"));
    let observation = reading(text, Some("PAID")).observe(&message(b"PAID o1 and more"));
    assert_eq!(fits(&observation.unwrap()), [(0, 0, "o1".to_owned())]);

    let mut sent = message(br#"{"id":"o1"}"#);
    sent.headers = vec![
        ("NServiceBus.EnclosedMessageTypes", b"Shop.Paid, Shop"),
        ("NServiceBus.MessageId", b"m1"),
    ];
    for event_type in ["Shop.Paid", "Paid"] {
        let observation = reading(Decoder::Auto, Some(event_type)).observe(&sent).unwrap();
        assert_eq!(fits(&observation), [(0, 0, "o1".to_owned())]);
        assert_eq!(observation.message_id, Some(hash(b"m1")));
    }
}
