//! A glance against the reading of the whole: both must say the same of any payload.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::decode::read;
use crate::select::{Seen, find};
use crate::testing::message;

/// A path of names and numbers.
fn path(text: &str) -> Selector {
    let compiled = serde_json_path::JsonPath::parse(text).unwrap();
    let steps = text.split(['.', '[', ']']).skip(1).filter(|step| !step.is_empty());
    let step = |step: &str| match step.parse() {
        Ok(index) => PathStep::Index(index),
        Err(_) => PathStep::Name(step.to_owned()),
    };
    Selector::Body(JsonPath {
        text: text.to_owned(),
        plain: Some(steps.map(step).collect()),
        compiled,
    })
}

const PATHS: [&str; 9] = [
    "$.id",
    "$.a.b",
    "$.a.c.id",
    "$.a.c.id.deep",
    "$.op",
    "$.items[1].id",
    "$[0]",
    "$.a.b[0]",
    "$.n",
];

fn selectors() -> Vec<Selector> {
    PATHS.iter().map(|text| path(text)).chain([Selector::Type, Selector::Topic]).collect()
}

/// What is found of everything, as text.
fn all(seen: Seen<'_>, message: &RawMessage<'_>, selectors: &[Selector]) -> Vec<String> {
    let found = |selector| match find(selector, message, seen) {
        None => "none".to_owned(),
        Some(Found::Text(text)) => Value::String(text.into_owned()).to_string(),
        Some(Found::Json(value)) => value.to_string(),
    };
    let own = format!("{:?} {:?}", seen.message_id(), (seen.type_alias(), seen.traceparent()));
    selectors.iter().map(found).chain([own]).collect()
}

/// Whether a glance was enough; it must show what the whole does.
fn agrees(decoder: &Decoder, message: &RawMessage<'_>) -> bool {
    let selectors = selectors();
    let glasses = Glasses::new(decoder, selectors.iter()).unwrap();
    let whole = read(decoder, message, false);
    let Some(glance) = glasses.look(message) else { return false };
    assert_eq!(whole.problem, None, "{:?}", String::from_utf8_lossy(message.payload));
    assert!(!whole.is_tombstone);
    assert_eq!(
        all(Seen::Glanced(glance.view(&glasses)), message, &selectors),
        all(Seen::Whole(&whole.decoded), message, &selectors),
        "{:?}",
        String::from_utf8_lossy(message.payload)
    );
    true
}

fn both(payload: &str) -> [bool; 2] {
    [Decoder::Auto, Decoder::Json].map(|decoder| agrees(&decoder, &message(payload.as_bytes())))
}

#[test]
fn a_glance_is_enough_for_plain_objects() {
    for payload in [
        "{}",
        r#" {"type":"A","id":"x","n":-1.5e3,"a":{"b":[1,{}],"c":{"id":{"deep":true}}}} "#,
        r#"{"type":7,"id":null,"a":[{"b":1}],"items":[0,{"id":"x"}],"n":18446744073709551616}"#,
        r#"{"type":"\u0041\n","\u0069d":"\ud83d\ude00","a":"text"}"#,
        r#"{"id":1,"id":2,"a":{"b":1,"c":{"id":5}},"a":{"c":{"id":"6"}},"type":"A","type":null}"#,
        r#"{"a":{"b":1},"a":3,"x":{"id":9}}"#,
        r#"{"payload":{"before":1},"payload":"op","message":1,"messageId":2}"#,
        r#"{"op":"c","id":"x"}"#,
        r#"{"0":"x","type":[1]}"#,
    ] {
        assert_eq!(both(payload), [true, true], "{payload}");
    }
}

#[test]
fn what_may_be_an_envelope_is_read_whole() {
    for payload in [
        r#"{"specversion":"1.0","type":"t","id":"i","data":{"id":1}}"#,
        r#"{"messageId":"m","messageType":["urn:message:A"],"message":{"id":1}}"#,
        r#"{"op":"c","source":{"connector":"x","version":"1"},"after":{"id":1}}"#,
        r#"{"payload":{"op":"c","source":{"connector":"x","version":"1"},"after":{"id":1}}}"#,
        r#"{"specver\u0073ion":"1.0","type":"t","data":{"id":1}}"#,
    ] {
        assert_eq!(both(payload), [false, true], "{payload}");
    }
    for name in ["ce-type", "ce_specversion", "NServiceBus.EnclosedMessageTypes"] {
        let headers = vec![(name, &b"x"[..])];
        let message = RawMessage { headers, ..message(b"{\"id\":1}") };
        assert!(!agrees(&Decoder::Auto, &message), "{name}");
        assert!(agrees(&Decoder::Json, &message), "{name}");
    }
    for content in ["application/cloudevents+json", "application/vnd.masstransit+json; x"] {
        let headers = vec![("Content-Type", content.as_bytes())];
        assert!(!agrees(&Decoder::Auto, &RawMessage { headers, ..message(b"{\"id\":1}") }));
    }
}

#[test]
fn what_is_no_object_or_no_json_is_read_whole() {
    let deep = |depth: usize| format!("{{\"x\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(both(&deep(126)), [true, true]);
    for payload in [
        "",
        "[1]",
        "\"type\"",
        "3",
        "null",
        "{",
        "{}x",
        r#"{"id":1,}"#,
        r#"{"x":1e999}"#,
        r#"{"x":"\ud800"}"#,
        "{\"x\":\"\n\"}",
        r#"{"x":{"\q":1}}"#,
        r#"{"x":[1,2,]}"#,
        r#"{"x":{"$serde_json::private::RawValue":"7"}}"#,
        r#"{"$serde_json::private::RawValue":"7"}"#,
        &deep(127),
    ] {
        assert_eq!(both(payload), [false, false], "{payload}");
    }
    assert!(!agrees(&Decoder::Auto, &message(b"{\"x\":\"\xff\"}")));
}

#[test]
fn headers_tell_type_and_id() {
    for value in [&b"H"[..], b"", b"\xff"] {
        let headers = vec![("Type", value), ("message-id", value)];
        let message = RawMessage { headers, ..message(b"{\"type\":\"A\"}") };
        assert!(agrees(&Decoder::Auto, &message));
    }
}

#[test]
fn some_selectors_need_the_whole() {
    let glasses = |decoder: &Decoder, selector: Selector| {
        Glasses::new(decoder, std::iter::once(&selector)).is_some()
    };
    assert!(glasses(&Decoder::Auto, path("$.id")));
    assert!(!glasses(&Decoder::CloudEvents, path("$.id")));
    assert!(!glasses(&Decoder::Auto, path("$")));
    assert!(!glasses(&Decoder::Auto, crate::testing::path("$envelope.id")));
    let Selector::Body(general) = path("$.id") else { unreachable!() };
    let general = Selector::Body(JsonPath { plain: None, ..general });
    assert!(!glasses(&Decoder::Auto, general));
    let many: Vec<_> = (0..PLACES_MAX).map(|number| path(&format!("$.f{number}"))).collect();
    assert!(Glasses::new(&Decoder::Auto, many[1..].iter()).is_some());
    assert!(Glasses::new(&Decoder::Auto, many.iter()).is_none());
}

#[test]
fn glances_for_nothing_become_rare_and_return() {
    let mut unsure = Unsure::default();
    let mut tried = 0;
    for _ in 0..1_000 {
        if unsure.tries() {
            tried += 1;
            unsure.learn(false);
        }
    }
    assert!((10..30).contains(&tried), "{tried}");
    while !unsure.tries() {}
    unsure.learn(true);
    assert!(unsure.tries());
}

fn name() -> impl Strategy<Value = String> {
    let known = [
        "type",
        "id",
        "a",
        "b",
        "c",
        "n",
        "deep",
        "items",
        "op",
        "source",
        "payload",
        "message",
        "messageId",
        "messageType",
        "specversion",
        "connector",
        "version",
        "after",
        "$serde_json::private::RawValue",
    ];
    prop_oneof![9 => prop::sample::select(known.to_vec()).prop_map(str::to_owned), 1 => ".{0,3}"]
}

/// Numbers and words as they may be written; two are none.
const ODD: [&str; 7] = ["1e999", "true", "null", "-0", "0.1E+2", "01", "18446744073709551616"];

/// JSON as text, with names that come twice and strings written with escapes.
fn text() -> impl Strategy<Value = String> {
    let string = prop_oneof![
        ".{0,4}".prop_map(|text| json!(text).to_string()),
        Just(r#""\u0063""#.to_owned()),
        Just(r#""c""#.to_owned()),
        Just(r#""\ud800""#.to_owned()),
    ];
    let leaf = prop_oneof![
        4 => string,
        2 => any::<i64>().prop_map(|number| number.to_string()),
        2 => any::<f64>().prop_map(|number| json!(number).to_string()),
        1 => prop::sample::select(ODD.to_vec()).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let fields = prop::collection::vec((name(), inner.clone()), 0..6).prop_map(|fields| {
            let field = |(name, value): (String, String)| format!("{}: {value}", json!(name));
            format!("{{{}}}", fields.into_iter().map(field).collect::<Vec<_>>().join(" ,"))
        });
        let items = prop::collection::vec(inner, 0..3);
        prop_oneof![4 => fields, 1 => items.prop_map(|items| format!("[{}]", items.join(",")))]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_096, ..ProptestConfig::default() })]

    #[test]
    fn any_json_is_seen_as_it_is_read(payload in text()) {
        both(&payload);
    }

    #[test]
    fn any_json_with_a_byte_changed_is_seen_as_it_is_read(
        payload in text(),
        at: prop::sample::Index,
        byte: u8,
    ) {
        let mut payload = payload.into_bytes();
        let at = at.index(payload.len());
        payload[at] = byte;
        for decoder in [Decoder::Auto, Decoder::Json] {
            agrees(&decoder, &message(&payload));
        }
    }

    #[test]
    fn any_bytes_are_seen_as_they_are_read(payload: Vec<u8>) {
        agrees(&Decoder::Auto, &message(&payload));
    }
}
