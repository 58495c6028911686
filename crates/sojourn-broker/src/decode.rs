//! Reading payloads, as the channel's decoder says or as recognised.

use std::borrow::Cow;

use serde_json::Value;
use sojourn_plan::Decoder;

use crate::envelope::{self, Headers, Marks};
use crate::text::scalar_text;
use crate::{RawMessage, debezium, messagepack, nservicebus, pattern};

/// A message, read.
#[derive(Clone, Debug, Default)]
pub struct Decoded {
    /// The event's type: the decoder's own, else a header `type`, else the JSON field `type`.
    pub event_type: Option<String>,
    /// A second name of the same type: MassTransit's and NServiceBus' without its namespace,
    /// Debezium's operation without its table.
    pub type_alias: Option<String>,
    /// The declared message id, where there is one.
    pub message_id: Option<String>,
    /// The trace context that the document itself carries: a CloudEvent's `traceparent`.
    pub traceparent: Option<String>,
    /// The payload that JSON paths see: CloudEvents' `data`, MassTransit's `message`, Debezium's
    /// row, else the whole.
    pub body: Option<Value>,
    /// The whole document, where it is not the body: paths beginning `$envelope` see it. Of a
    /// binary CloudEvent the one that its structured form would have.
    pub envelope: Option<Value>,
}

/// Reads a message; `Err` says in words why it can't be read. With [`Decoder::Auto`] a payload that
/// is not JSON is no error: it has no body. Decoders that read by a schema are to be opened first:
/// [`crate::OpenDecoder`].
pub fn decode(decoder: &Decoder, message: &RawMessage<'_>) -> Result<Decoded, String> {
    outcome(decoder, read(decoder, message, true))
}

/// What a reading comes to for those who want all or nothing.
pub(crate) fn outcome(decoder: &Decoder, reading: Reading) -> Result<Decoded, String> {
    match reading.problem {
        Some(problem) if !matches!(decoder, Decoder::Auto) => Err(problem),
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
    /// It tells the broker to forget a key, and is no event.
    pub(crate) is_tombstone: bool,
}

/// Reads a message, parsing its payload once. Keeping the envelope whole costs a copy of the body.
pub(crate) fn read(decoder: &Decoder, message: &RawMessage<'_>, keep_envelope: bool) -> Reading {
    let headers = Headers::of(message, decoder);
    let document = parse(decoder, &headers, message.payload);
    take_headers_apart(decoder, message, &headers, document, keep_envelope)
}

/// Takes a document apart that has been read otherwise, or tells why it could not be.
#[cfg(any(feature = "avro", feature = "protobuf", test))]
pub(crate) fn take_apart(
    decoder: &Decoder,
    message: &RawMessage<'_>,
    document: Result<Value, String>,
    keep_envelope: bool,
) -> Reading {
    let headers = Headers::of(message, decoder);
    take_headers_apart(decoder, message, &headers, document, keep_envelope)
}

fn take_headers_apart(
    decoder: &Decoder,
    message: &RawMessage<'_>,
    headers: &Headers<'_>,
    document: Result<Value, String>,
    keep_envelope: bool,
) -> Reading {
    let recognises_cloud_events = matches!(decoder, Decoder::Auto | Decoder::CloudEvents);
    let binary = recognises_cloud_events && headers.is_binary_cloud_event();
    let mut decoded = match document {
        Ok(_) if headers.is_cloud_events_batch() && recognises_cloud_events => {
            return unread(headers, "a CloudEvents batch: one message with several events");
        }
        Ok(document) if binary => Decoded {
            envelope: keep_envelope.then(|| envelope::of_headers(message, &document)),
            body: Some(document),
            ..Decoded::default()
        },
        Ok(document)
            if matches!(decoder, Decoder::Debezium) && debezium::is_tombstone(&document) =>
        {
            return Reading { is_tombstone: true, ..Reading::default() };
        }
        Ok(document) => match unwrap(decoder, document, headers, keep_envelope) {
            Ok(decoded) => decoded,
            Err(problem) => return unread(headers, problem),
        },
        Err(problem) => return unread(headers, &problem),
    };
    if binary {
        decoded.event_type = headers.cloud_event_type();
        decoded.message_id = headers.cloud_event_id();
    }
    if decoded.event_type.is_none() {
        decoded.event_type = match headers.event_type() {
            Some(event_type) => Some(event_type.into_owned()),
            None => json_type(&decoded),
        };
    }
    if decoded.message_id.is_none() {
        decoded.message_id = headers.message_id().map(Cow::into_owned);
    }
    Reading { decoded, ..Reading::default() }
}

/// Takes the body out of its envelope, as the decoder says or as recognised.
fn unwrap(
    decoder: &Decoder,
    document: Value,
    headers: &Headers<'_>,
    keep: bool,
) -> Result<Decoded, &'static str> {
    match decoder {
        Decoder::Auto => {}
        Decoder::Json | Decoder::MessagePack | Decoder::Protobuf(_) | Decoder::Text(_) => {
            return Ok(plain(document));
        }
        // Kafka Connect's converters write Debezium's changes in Avro too.
        Decoder::Avro(_) if debezium::is_change(&document) => {
            return debezium::change(document, keep);
        }
        Decoder::Avro(_) => return Ok(plain(document)),
        Decoder::CloudEvents => return cloud_event(document, keep),
        Decoder::MassTransit => return mass_transit(document, keep),
        Decoder::NServiceBus => {
            let types = headers.nservicebus_types();
            let types = types.ok_or(
                "not a message of NServiceBus: no header NServiceBus.EnclosedMessageTypes",
            )?;
            return Ok(nservicebus::message(document, types));
        }
        Decoder::Debezium => return debezium::change(document, keep),
    }
    let marks = Marks::of(&document);
    if marks.is_cloud_event {
        envelope::cloud_event(document, keep)
    } else if headers.says_cloud_event() {
        cloud_event(document, keep)
    } else if marks.is_mass_transit || headers.says_mass_transit() {
        mass_transit(document, keep)
    } else if let Some(types) = headers.nservicebus_types() {
        Ok(nservicebus::message(document, types))
    } else if marks.may_be_change && debezium::is_change(&document) {
        debezium::change(document, keep)
    } else {
        Ok(plain(document))
    }
}

fn plain(document: Value) -> Decoded {
    Decoded { body: Some(document), ..Decoded::default() }
}

fn cloud_event(document: Value, keep: bool) -> Result<Decoded, &'static str> {
    if envelope::is_cloud_event(&document) {
        envelope::cloud_event(document, keep)
    } else {
        Err("not a CloudEvent: no ce- headers, and no field specversion")
    }
}

fn mass_transit(document: Value, keep: bool) -> Result<Decoded, &'static str> {
    if document.get("message").is_some() {
        Ok(envelope::mass_transit(document, keep))
    } else {
        Err("not a MassTransit envelope: no field message")
    }
}

fn parse(decoder: &Decoder, headers: &Headers<'_>, payload: &[u8]) -> Result<Value, String> {
    match decoder {
        Decoder::Text(regex) => return pattern::read(regex, payload),
        Decoder::Avro(_) | Decoder::Protobuf(_) => {
            return Err("its decoder was not opened, and so has no schema".to_owned());
        }
        // A tombstone has no payload at all.
        Decoder::Debezium if payload.is_empty() => return Ok(Value::Null),
        _ if payload.is_empty() => return Err("the payload is empty".to_owned()),
        Decoder::MessagePack => return messagepack::read(payload),
        _ => {}
    }
    let is_nservicebus = headers.nservicebus_types().is_some();
    let payload = if is_nservicebus { nservicebus::without_mark(payload) } else { payload };
    serde_json::from_slice(payload).map_err(|error| match headers.nservicebus_content() {
        Some(content) if is_nservicebus => {
            format!("the payload, of content type {content}, is not JSON: {error}")
        }
        _ => format!("the payload is not JSON: {error}"),
    })
}

fn unread(headers: &Headers<'_>, problem: &str) -> Reading {
    let (mut event_type, mut type_alias) = (headers.cloud_event_type(), None);
    if event_type.is_none()
        && let Some(types) = headers.nservicebus_types()
    {
        (event_type, type_alias) = nservicebus::names(types);
    }
    Reading {
        decoded: Decoded {
            event_type: event_type.or_else(|| headers.event_type().map(Cow::into_owned)),
            type_alias,
            message_id: headers
                .cloud_event_id()
                .or_else(|| headers.message_id().map(Cow::into_owned)),
            ..Decoded::default()
        },
        problem: Some(problem.to_owned()),
        is_tombstone: false,
    }
}

fn json_type(decoded: &Decoded) -> Option<String> {
    let value = decoded.body.as_ref()?.get("type")?;
    scalar_text(value).map(Cow::into_owned)
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
