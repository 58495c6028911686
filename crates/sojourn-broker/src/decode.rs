//! Reading payloads: JSON, CloudEvents, MassTransit.

use serde_json::Value;
use sojourn_plan::Decoder;

use crate::envelope::{self, Headers};
use crate::{RawMessage, text::scalar_text};

/// A message, read.
#[derive(Clone, Debug, Default)]
pub struct Decoded {
    /// The event's type: the decoder's own, else a header `type`, else the JSON field `type`.
    pub event_type: Option<String>,
    /// A second name of the same type: MassTransit's without its namespace.
    pub type_alias: Option<String>,
    /// The declared message id, where there is one.
    pub message_id: Option<String>,
    /// The payload that JSON paths see: CloudEvents' `data`, MassTransit's `message`, else the
    /// whole.
    pub body: Option<Value>,
    /// The whole document, where it is not the body: paths beginning `$envelope` see it. Of a
    /// binary CloudEvent the one that its structured form would have.
    pub envelope: Option<Value>,
}

/// Reads a message; `Err` says in words why it can't be read. With [`Decoder::Auto`] a payload that
/// is not JSON is no error: it has no body.
pub fn decode(decoder: Decoder, message: &RawMessage<'_>) -> Result<Decoded, String> {
    let reading = read(decoder, message, true);
    match reading.problem {
        Some(problem) if decoder != Decoder::Auto => Err(problem),
        _ => Ok(reading.decoded),
    }
}

/// What could be read, and why the rest could not.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// Where there is a problem: what the headers say.
    pub(crate) decoded: Decoded,
    /// Why the payload could not be read, in words.
    pub(crate) problem: Option<String>,
}

/// Reads a message, parsing its payload once. Keeping the envelope whole costs a copy of the body.
pub(crate) fn read(decoder: Decoder, message: &RawMessage<'_>, keep_envelope: bool) -> Reading {
    let headers = Headers::of(message);
    let recognises_cloud_events = matches!(decoder, Decoder::Auto | Decoder::CloudEvents);
    let binary = recognises_cloud_events && headers.is_binary_cloud_event();
    let mut decoded = match parse(message.payload) {
        Ok(_) if headers.is_cloud_events_batch() && recognises_cloud_events => {
            return unread(&headers, "a CloudEvents batch: one message with several events");
        }
        Ok(document) if binary => Decoded {
            envelope: keep_envelope.then(|| envelope::of_headers(message, &document)),
            body: Some(document),
            ..Decoded::default()
        },
        Ok(document) => match unwrap(decoder, document, &headers, keep_envelope) {
            Ok(decoded) => decoded,
            Err(problem) => return unread(&headers, problem),
        },
        Err(problem) => return unread(&headers, &problem),
    };
    if binary {
        decoded.event_type = headers.cloud_event_type();
        decoded.message_id = headers.cloud_event_id();
    }
    if decoded.event_type.is_none() {
        decoded.event_type = headers.event_type().or_else(|| json_type(&decoded));
    }
    if decoded.message_id.is_none() {
        decoded.message_id = headers.message_id();
    }
    Reading { decoded, problem: None }
}

/// Takes the body out of its envelope, as the decoder says or as recognised.
fn unwrap(
    decoder: Decoder,
    document: Value,
    headers: &Headers<'_>,
    keep: bool,
) -> Result<Decoded, &'static str> {
    let auto = decoder == Decoder::Auto;
    let is_cloud_event = envelope::is_cloud_event(&document);
    if decoder == Decoder::CloudEvents || auto && (is_cloud_event || headers.says_cloud_event()) {
        return if is_cloud_event {
            envelope::cloud_event(document, keep)
        } else {
            Err("not a CloudEvent: no ce- headers, and no field specversion")
        };
    }
    let is_mass_transit = envelope::is_mass_transit(&document);
    if decoder == Decoder::MassTransit || auto && (is_mass_transit || headers.says_mass_transit()) {
        return if document.get("message").is_some() {
            Ok(envelope::mass_transit(document, keep))
        } else {
            Err("not a MassTransit envelope: no field message")
        };
    }
    Ok(Decoded { body: Some(document), ..Decoded::default() })
}

fn parse(payload: &[u8]) -> Result<Value, String> {
    if payload.is_empty() {
        return Err("the payload is empty".to_owned());
    }
    serde_json::from_slice(payload).map_err(|error| format!("the payload is not JSON: {error}"))
}

fn unread(headers: &Headers<'_>, problem: &str) -> Reading {
    Reading {
        decoded: Decoded {
            event_type: headers.cloud_event_type().or_else(|| headers.event_type()),
            message_id: headers.cloud_event_id().or_else(|| headers.message_id()),
            ..Decoded::default()
        },
        problem: Some(problem.to_owned()),
    }
}

fn json_type(decoded: &Decoded) -> Option<String> {
    let value = decoded.body.as_ref()?.get("type")?;
    scalar_text(value).map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
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
        decoder: Decoder,
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
        for decoder in [Decoder::Auto, Decoder::Json] {
            check(decoder, &[], payload, Ok((Some("A"), None, Some(body.clone()))));
            check(
                decoder,
                &[("Type", "H"), ("messageId", "m1")],
                payload,
                Ok((Some("H"), Some("m1"), Some(body.clone()))),
            );
        }
        for name in ["message-id", "message_id", "Message-Id"] {
            check(Decoder::Json, &[(name, "m2")], "[1]", Ok((None, Some("m2"), Some(json!([1])))));
        }
        check(Decoder::Json, &[], "{oops", Err("not JSON"));
        check(Decoder::Json, &[], "", Err("empty"));
    }

    #[test]
    fn auto_reads_what_is_not_json_as_bytes() {
        check(Decoder::Auto, &[("type", "Bin")], "\u{1}\u{2}", Ok((Some("Bin"), None, None)));
    }

    #[test]
    fn structured_cloud_events() {
        let payload =
            r#"{"specversion":"1.0","type":"paid","id":"7","source":"/s","data":{"type":"x"}}"#;
        for headers in [&[][..], &[("content-type", "application/cloudevents+json; charset=utf-8")]]
        {
            for decoder in [Decoder::Auto, Decoder::CloudEvents] {
                check(
                    decoder,
                    headers,
                    payload,
                    Ok((Some("paid"), Some("7"), Some(json!({"type": "x"})))),
                );
            }
        }
        check(
            Decoder::Json,
            &[],
            r#"{"specversion":"1.0","type":"paid","id":"7"}"#,
            Ok((
                Some("paid"),
                None,
                Some(json!({"specversion": "1.0", "type": "paid", "id": "7"})),
            )),
        );
        check(Decoder::CloudEvents, &[], r#"{"a":1}"#, Err("not a CloudEvent"));
        check(
            Decoder::CloudEvents,
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
                Decoder::Auto,
                &[],
                &json!({"specversion": "1.0", "type": "t", "id": "i", "data_base64": data})
                    .to_string(),
                Ok((Some("t"), Some("i"), Some(json!({"k": 1})))),
            );
        }
        check(
            Decoder::CloudEvents,
            &[],
            r#"{"specversion":"1.0","type":"t","data_base64":"%%"}"#,
            Err("base64"),
        );
        // "text" is not JSON: it stays text.
        check(
            Decoder::Auto,
            &[],
            r#"{"specversion":"1.0","type":"t","data_base64":"dGV4dA=="}"#,
            Ok((Some("t"), None, Some(json!("text")))),
        );
    }

    #[test]
    fn binary_cloud_events_by_either_header_form() {
        for (kind, id) in [("ce-type", "ce-id"), ("ce_type", "ce_id"), ("CE-Type", "CE-Id")] {
            for decoder in [Decoder::Auto, Decoder::CloudEvents] {
                check(
                    decoder,
                    &[(kind, "paid"), (id, "9"), ("type", "other")],
                    r#"{"type":"inner","specversion":"1.0"}"#,
                    Ok((
                        Some("paid"),
                        Some("9"),
                        Some(json!({"type": "inner", "specversion": "1.0"})),
                    )),
                );
            }
        }
    }

    #[test]
    fn mass_transit_by_fields_or_content_type() {
        let payload = r#"{"messageId":"m",
            "messageType":["urn:message:Pay.Events:Paid","urn:message:X:Y"],
            "message":{"aggregateId":"pay:1"},"headers":{}}"#;
        for decoder in [Decoder::Auto, Decoder::MassTransit] {
            check(
                decoder,
                &[],
                payload,
                Ok((Some("Pay.Events:Paid"), Some("m"), Some(json!({"aggregateId": "pay:1"})))),
            );
        }
        let decoded = decode(Decoder::Auto, &message(&[], payload.as_bytes())).unwrap();
        assert_eq!(decoded.type_alias.as_deref(), Some("Paid"));
        let envelope = decoded.envelope.unwrap();
        assert_eq!(envelope["message"]["aggregateId"], "pay:1");
        check(
            Decoder::Auto,
            &[("content-type", "application/vnd.masstransit+json")],
            r#"{"message":{"a":1}}"#,
            Ok((None, None, Some(json!({"a": 1})))),
        );
        check(Decoder::MassTransit, &[], r#"{"a":1}"#, Err("not a MassTransit"));
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics_on_any_bytes(
            payload: Vec<u8>,
            name in "(ce-type|ce_id|type|content-type|message-id)",
            value: Vec<u8>,
        ) {
            let all = [Decoder::Auto, Decoder::Json, Decoder::CloudEvents, Decoder::MassTransit];
            for decoder in all {
                let mut message = message(&[], &payload);
                message.headers.push((&name, &value));
                let _read = decode(decoder, &message);
            }
        }
    }
}
