//! Messages of brokers and webhooks: decoders agree with each other.

use sojourn_broker::{RawMessage, decode, select};
use sojourn_plan::{Decoder, Selector};

use crate::Input;

const NAMES: [&str; 8] =
    ["content-type", "type", "ce-type", "ce_id", "ce-specversion", "message-id", "Ce-Time", "x"];

/// Options: which headers there are; each has a line of the bytes, the rest is the payload.
pub(crate) fn check(input: Input<'_>) {
    let mut headers = Vec::new();
    let mut payload = input.bytes;
    for (number, name) in (0..).zip(NAMES) {
        if input.has(number) {
            let end = payload.iter().position(|byte| *byte == b'\n').unwrap_or(payload.len());
            let (value, rest) = payload.split_at(end);
            headers.push((name, value));
            payload = rest.strip_prefix(b"\n").unwrap_or_default();
        }
    }
    let message = RawMessage {
        stamp_ns: 0,
        topic: "topic",
        key: Some(input.bytes),
        headers,
        payload,
        position: None,
    };
    let is_json = serde_json::from_slice::<serde_json::Value>(payload).is_ok();
    let auto = decode(&Decoder::Auto, &message).expect("whatever it is, it is bytes");
    assert!(is_json || auto.body.is_none());
    let json = decode(&Decoder::Json, &message);
    assert_eq!(json.is_ok(), is_json);
    for decoder in [Decoder::CloudEvents, Decoder::MassTransit] {
        if let Ok(decoded) = decode(&decoder, &message) {
            assert!(is_json);
            assert!(decoder != Decoder::MassTransit || decoded.envelope.is_some());
        }
    }
    // What is read of these is not what JSON is: none may panic.
    for decoder in [Decoder::NServiceBus, Decoder::Debezium, Decoder::MessagePack] {
        let _read = decode(&decoder, &message);
    }
    for selector in [Selector::Text, Selector::Type, Selector::MessageKey, Selector::Topic] {
        let found = select(&selector, &message, &auto);
        assert!(found.is_none_or(|value| value.is_string()));
    }
    let header = select(&Selector::Header("TYPE".to_owned()), &message, &auto);
    assert_eq!(
        header.is_some(),
        message.header("type").is_some_and(|it| str::from_utf8(it).is_ok())
    );
}
