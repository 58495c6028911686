//! Debezium's changes, with and without their schema.

use proptest::prelude::*;
use serde_json::{Value, json};
use sojourn_plan::Decoder;

use crate::{Decoded, RawMessage, decode};

fn read(decoder: &Decoder, payload: &[u8]) -> Result<Decoded, String> {
    let headers = Vec::new();
    decode(
        decoder,
        &RawMessage { stamp_ns: 0, topic: "t", key: None, headers, payload, position: None },
    )
}

fn source(table: &str) -> Value {
    json!({
        "version": "2.7.0.Final", "connector": "postgresql", "name": "shop", "ts_ms": 1,
        "snapshot": "false", "db": "shop", "schema": "public", "table": table, "lsn": 33832960,
    })
}

fn change(op: &str, before: Value, after: Value) -> Value {
    json!({"before": before, "after": after, "source": source("orders"), "op": op, "ts_ms": 2})
}

fn with_schema(change: Value) -> Value {
    json!({"schema": {"type": "struct", "fields": [], "name": "shop.Envelope"}, "payload": change})
}

#[test]
fn the_row_with_or_without_schema_recognised_or_declared() {
    let (old, new) = (json!({"id": 1, "s": "a"}), json!({"id": 1, "s": "b"}));
    let cases = [
        ("c", Value::Null, new.clone(), &new),
        ("r", Value::Null, new.clone(), &new),
        ("u", old.clone(), new.clone(), &new),
        ("d", old.clone(), Value::Null, &old),
    ];
    for (op, before, after, row) in cases {
        let plain = change(op, before, after);
        for document in [plain.clone(), with_schema(plain.clone())] {
            for decoder in [&Decoder::Auto, &Decoder::Debezium] {
                let got = read(decoder, document.to_string().as_bytes()).unwrap();
                assert_eq!(got.event_type, Some(format!("orders.{op}")));
                assert_eq!(got.type_alias.as_deref(), Some(op));
                assert_eq!(got.body.as_ref(), Some(row));
                assert_eq!(got.envelope.as_ref(), Some(&plain), "one path for both forms");
            }
        }
    }
}

#[test]
fn rows_of_other_kinds() {
    // MongoDB: a collection, and the document as text.
    let mongo = json!({
        "op": "c", "after": "{\"_id\":{\"$oid\":\"5f\"},\"n\":1}",
        "source": {"version": "2", "connector": "mongodb", "collection": "carts"},
    });
    let got = read(&Decoder::Auto, mongo.to_string().as_bytes()).unwrap();
    assert_eq!(got.event_type.as_deref(), Some("carts.c"));
    assert_eq!(got.body.unwrap()["_id"]["$oid"], "5f");
    let text = json!({"op": "u", "after": "no JSON"}).to_string();
    let got = read(&Decoder::Debezium, text.as_bytes()).unwrap();
    assert_eq!((got.event_type.as_deref(), got.body), (Some("u"), Some(json!("no JSON"))));
    // A message of the log, and a table emptied.
    let told = json!({"op": "m", "message": {"prefix": "p", "content": "eA=="}}).to_string();
    let got = read(&Decoder::Debezium, told.as_bytes()).unwrap();
    assert_eq!(got.body.unwrap()["prefix"], "p");
    let emptied = change("t", Value::Null, Value::Null).to_string();
    let got = read(&Decoder::Debezium, emptied.as_bytes()).unwrap();
    assert_eq!((got.event_type.as_deref(), got.body), (Some("orders.t"), None));
}

#[test]
fn only_the_unmistakable_is_recognised() {
    let whole = change("c", Value::Null, json!({"id": 1}));
    for field in ["op", "source"] {
        let mut part = whole.clone();
        part.as_object_mut().unwrap().remove(field);
        for document in [part.clone(), json!({"payload": part})] {
            let got = read(&Decoder::Auto, document.to_string().as_bytes()).unwrap();
            assert_eq!(got.body, Some(document), "it stays as it is");
        }
    }
    for other in [json!("upsert"), json!(1), json!("x")] {
        let mut document = whole.clone();
        document["op"] = other;
        let text = document.to_string();
        assert_eq!(read(&Decoder::Auto, text.as_bytes()).unwrap().body, Some(document));
        let problem = read(&Decoder::Debezium, text.as_bytes()).unwrap_err();
        assert!(problem.contains("no field op"), "{problem}");
    }
    assert!(read(&Decoder::Debezium, b"{\"status\":\"BEGIN\"}").unwrap_err().contains("field op"));
    assert!(read(&Decoder::Debezium, b"{oops").unwrap_err().contains("not JSON"));
}

#[test]
fn tombstones_are_no_event() {
    for payload in ["", "null", r#"{"schema":null,"payload":null}"#] {
        let got = read(&Decoder::Debezium, payload.as_bytes()).unwrap();
        assert_eq!((got.event_type, got.body), (None, None), "{payload}");
    }
}

proptest! {
    #[test]
    fn whatever_stands_in_its_fields(
        field in "(op|before|after|source|payload|schema|message|table)",
        value in "(null|1|\"c\"|\"d\"|\\{\\}|\\[\\]|\\{\"op\":\"c\"\\}|\\{\"table\":\\{\\}\\})",
        enclosed: bool,
        cut in 0_usize..400,
    ) {
        let mut document = change("u", json!({"id": 1}), json!({"id": 2}));
        document[&field] = serde_json::from_str(&value).unwrap();
        let document = if enclosed { with_schema(document) } else { document };
        let text = document.to_string();
        for decoder in [&Decoder::Auto, &Decoder::Debezium] {
            let _whole = read(decoder, text.as_bytes());
            let part = &text.as_bytes()[..cut.min(text.len() - 1)];
            // What is cut is never read as a change.
            let got = read(decoder, part);
            prop_assert!(got.is_err() || got.unwrap().body.is_none());
        }
    }
}
