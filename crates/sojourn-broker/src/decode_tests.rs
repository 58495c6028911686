//! Payloads of every kind, and bytes of none.

use serde_json::json;

use super::*;

fn message<'a>(headers: &[(&'a str, &'a str)], payload: &'a [u8]) -> RawMessage<'a> {
    RawMessage {
        stamp_ns: 0,
        topic: "t",
        key: None,
        headers: headers.iter().map(|(name, value)| (*name, value.as_bytes())).collect(),
        payload,
        position: None,
    }
}

/// Type, message id and body.
type Read<'a> = (Option<&'a str>, Option<&'a str>, Option<Value>);

/// Decodes, and compares type, message id and body.
fn check(
    decoder: &Decoder,
    headers: &[(&str, &str)],
    payload: &str,
    expect: Result<Read<'_>, &str>,
) {
    let got = decode(decoder, &message(headers, payload.as_bytes()));
    match (got, expect) {
        (Ok(got), Ok(expect)) => assert_eq!(
            (got.event_type.as_deref(), got.message_id.as_deref(), got.body),
            expect,
            "{headers:?} {payload}"
        ),
        (Err(got), Err(expect)) => assert!(got.contains(expect), "{got} has no {expect}"),
        (got, expect) => panic!("{headers:?} {payload}: got {got:?}, expected {expect:?}"),
    }
}

#[test]
fn plain_json_takes_its_type_from_a_header_first() {
    let body = json!({"type": "A", "n": 1});
    let payload = r#"{"type":"A","n":1}"#;
    for decoder in [&Decoder::Auto, &Decoder::Json] {
        check(decoder, &[], payload, Ok((Some("A"), None, Some(body.clone()))));
        check(
            decoder,
            &[("Type", "H"), ("messageId", "m1")],
            payload,
            Ok((Some("H"), Some("m1"), Some(body.clone()))),
        );
    }
    for name in ["message-id", "message_id", "Message-Id"] {
        check(&Decoder::Json, &[(name, "m2")], "[1]", Ok((None, Some("m2"), Some(json!([1])))));
    }
    check(&Decoder::Json, &[], "{oops", Err("not JSON"));
    check(&Decoder::Json, &[], "", Err("empty"));
}

#[test]
fn auto_reads_what_is_not_json_as_bytes() {
    check(&Decoder::Auto, &[("type", "Bin")], "\u{1}\u{2}", Ok((Some("Bin"), None, None)));
}

#[test]
fn structured_cloud_events() {
    let payload =
        r#"{"specversion":"1.0","type":"paid","id":"7","source":"/s","data":{"type":"x"}}"#;
    for headers in [&[][..], &[("content-type", "application/cloudevents+json; charset=utf-8")]] {
        for decoder in [&Decoder::Auto, &Decoder::CloudEvents] {
            check(
                decoder,
                headers,
                payload,
                Ok((Some("paid"), Some("7"), Some(json!({"type": "x"})))),
            );
        }
    }
    check(
        &Decoder::Json,
        &[],
        r#"{"specversion":"1.0","type":"paid","id":"7"}"#,
        Ok((Some("paid"), None, Some(json!({"specversion": "1.0", "type": "paid", "id": "7"})))),
    );
    check(&Decoder::CloudEvents, &[], r#"{"a":1}"#, Err("not a CloudEvent"));
    check(
        &Decoder::CloudEvents,
        &[("content-type", "application/cloudevents-batch+json")],
        "[]",
        Err("batch"),
    );
}

#[test]
fn cloud_events_data_in_base64() {
    // {"k":1}, with and without padding.
    for data in ["eyJrIjoxfQ==", "eyJrIjoxfQ"] {
        check(
            &Decoder::Auto,
            &[],
            &json!({"specversion": "1.0", "type": "t", "id": "i", "data_base64": data}).to_string(),
            Ok((Some("t"), Some("i"), Some(json!({"k": 1})))),
        );
    }
    check(
        &Decoder::CloudEvents,
        &[],
        r#"{"specversion":"1.0","type":"t","data_base64":"%%"}"#,
        Err("base64"),
    );
    // "text" is not JSON: it stays text.
    check(
        &Decoder::Auto,
        &[],
        r#"{"specversion":"1.0","type":"t","data_base64":"dGV4dA=="}"#,
        Ok((Some("t"), None, Some(json!("text")))),
    );
}

#[test]
fn binary_cloud_events_by_either_header_form() {
    for (kind, id) in [("ce-type", "ce-id"), ("ce_type", "ce_id"), ("CE-Type", "CE-Id")] {
        for decoder in [&Decoder::Auto, &Decoder::CloudEvents] {
            check(
                decoder,
                &[(kind, "paid"), (id, "9"), ("type", "other")],
                r#"{"type":"inner","specversion":"1.0"}"#,
                Ok((Some("paid"), Some("9"), Some(json!({"type": "inner", "specversion": "1.0"})))),
            );
        }
    }
}

#[test]
fn mass_transit_by_fields_or_content_type() {
    let payload = r#"{"messageId":"m",
        "messageType":["urn:message:Pay.Events:Paid","urn:message:X:Y"],
        "message":{"aggregateId":"pay:1"},"headers":{}}"#;
    for decoder in [&Decoder::Auto, &Decoder::MassTransit] {
        check(
            decoder,
            &[],
            payload,
            Ok((Some("Pay.Events:Paid"), Some("m"), Some(json!({"aggregateId": "pay:1"})))),
        );
    }
    let decoded = decode(&Decoder::Auto, &message(&[], payload.as_bytes())).unwrap();
    assert_eq!(decoded.type_alias.as_deref(), Some("Paid"));
    let envelope = decoded.envelope.unwrap();
    assert_eq!(envelope["message"]["aggregateId"], "pay:1");
    check(
        &Decoder::Auto,
        &[("content-type", "application/vnd.masstransit+json")],
        r#"{"message":{"a":1}}"#,
        Ok((None, None, Some(json!({"a": 1})))),
    );
    check(&Decoder::MassTransit, &[], r#"{"a":1}"#, Err("not a MassTransit"));
}

const ORDER: (&str, &str) = (
    "NServiceBus.EnclosedMessageTypes",
    "Shop.Events.Paid, Shop.Events, Version=1.0.0.0, Culture=neutral, PublicKeyToken=null;\
     Shop.IEvent, Shop.Events, Version=1.0.0.0, Culture=neutral, PublicKeyToken=null",
);

#[test]
fn nservicebus_by_its_headers() {
    let id = ("nservicebus.messageid", "m-1");
    let marked = "\u{feff}{\"type\":\"inner\",\"orderId\":\"o1\"}";
    for payload in [marked, marked.trim_start_matches('\u{feff}')] {
        for decoder in [&Decoder::Auto, &Decoder::NServiceBus] {
            check(
                decoder,
                &[("type", "other"), ("message-id", "broker's"), id, ORDER],
                payload,
                Ok((
                    Some("Shop.Events.Paid"),
                    Some("m-1"),
                    Some(json!({"type": "inner", "orderId": "o1"})),
                )),
            );
        }
    }
    let read = decode(&Decoder::Auto, &message(&[ORDER], b"{}")).unwrap();
    assert_eq!(read.type_alias.as_deref(), Some("Paid"));
    // Without its own id the broker's counts, and to other decoders it is any header.
    check(
        &Decoder::NServiceBus,
        &[ORDER, ("message-id", "b")],
        "{}",
        Ok((Some("Shop.Events.Paid"), Some("b"), Some(json!({})))),
    );
    check(&Decoder::Json, &[ORDER, id], "{}", Ok((None, None, Some(json!({})))));
}

#[test]
fn nservicebus_types_of_every_form() {
    let alias = |types: &str| {
        let headers = [("NServiceBus.EnclosedMessageTypes", types)];
        let read = decode(&Decoder::NServiceBus, &message(&headers, b"1")).unwrap();
        (read.event_type, read.type_alias)
    };
    let named = |full: &str, bare: Option<&str>| (Some(full.to_owned()), bare.map(str::to_owned));
    assert_eq!(alias("Paid"), named("Paid", None));
    assert_eq!(alias(" A.Paid ;A.B"), named("A.Paid", Some("Paid")));
    assert_eq!(alias("A.Outer+Paid, A"), named("A.Outer+Paid", Some("Paid")));
    let generic = "A.Batch`1[[B.Paid, B, Version=1.0.0.0;x]], A, Version=1.0.0.0";
    let full = "A.Batch`1[[B.Paid, B, Version=1.0.0.0;x]]";
    assert_eq!(alias(generic), named(full, Some("Batch`1")));
    assert_eq!(alias("A.Open[, B"), named("A.Open[, B", Some("Open")));
    for empty in ["", ";", " , x"] {
        assert_eq!(alias(empty), (None, None), "{empty:?}");
    }
}

#[test]
fn nservicebus_that_can_not_be_read_keeps_its_type() {
    let xml = ("NServiceBus.ContentType", "text/xml");
    check(
        &Decoder::NServiceBus,
        &[ORDER, xml],
        "<Paid/>",
        Err("content type text/xml, is not JSON"),
    );
    check(&Decoder::NServiceBus, &[], "{}", Err("no header NServiceBus.EnclosedMessageTypes"));
    check(&Decoder::NServiceBus, &[ORDER], "", Err("empty"));
    check(&Decoder::Auto, &[ORDER, xml], "<Paid/>", Ok((Some("Shop.Events.Paid"), None, None)));
}

fn all() -> [Decoder; 8] {
    [
        Decoder::Auto,
        Decoder::Json,
        Decoder::CloudEvents,
        Decoder::MassTransit,
        Decoder::NServiceBus,
        Decoder::Debezium,
        Decoder::MessagePack,
        Decoder::Text(regex::Regex::new("(?<id>[0-9]+)").unwrap()),
    ]
}

proptest::proptest! {
    #[test]
    fn nothing_panics_on_any_bytes(
        payload: Vec<u8>,
        name in "(ce-type|ce_id|type|content-type|message-id|NServiceBus.EnclosedMessageTypes)",
        value: Vec<u8>,
    ) {
        for decoder in all() {
            let mut message = message(&[], &payload);
            message.headers.push((&name, &value));
            let _read = decode(&decoder, &message);
        }
    }
}
