//! Envelopes around a payload: what headers and documents say; CloudEvents and MassTransit.
//!
//! CloudEvents 1.0: structured mode is a JSON document with `specversion`, its payload in `data` or
//! `data_base64`; binary mode puts the attributes into headers, `ce-…` over HTTP and `ce_…` over
//! Kafka. MassTransit: a JSON document whose `messageType` lists URNs, the payload in `message`.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::GeneralPurposeConfig;
use base64::engine::{DecodePaddingMode, GeneralPurpose};
use serde_json::Value;
use sojourn_plan::Decoder;

use crate::text::scalar_text;
use crate::{Decoded, RawMessage};

/// The headers that decoders look at, found in one pass.
#[derive(Debug, Default)]
pub(crate) struct Headers<'a> {
    content_type: Option<&'a [u8]>,
    event_type: Option<&'a [u8]>,
    message_id: Option<&'a [u8]>,
    ce_specversion: Option<&'a [u8]>,
    ce_type: Option<&'a [u8]>,
    ce_id: Option<&'a [u8]>,
    nservicebus_types: Option<&'a [u8]>,
    nservicebus_id: Option<&'a [u8]>,
    nservicebus_content: Option<&'a [u8]>,
}

impl<'a> Headers<'a> {
    /// Of a message; the first of a name counts. A decoder that does not know NServiceBus sees
    /// none of its headers.
    pub(crate) fn of(message: &RawMessage<'a>, decoder: &Decoder) -> Self {
        let mut headers = Self::default();
        for (name, value) in &message.headers {
            if let Some(slot) = headers.slot(name)
                && slot.is_none()
            {
                *slot = Some(value);
            }
        }
        if !matches!(decoder, Decoder::Auto | Decoder::NServiceBus) {
            headers.nservicebus_types = None;
            headers.nservicebus_id = None;
        }
        headers
    }

    fn slot(&mut self, name: &str) -> Option<&mut Option<&'a [u8]>> {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        // By length first: most headers are none of these.
        match name.len() {
            4 if is("type") => Some(&mut self.event_type),
            5 if is("ce-id") || is("ce_id") => Some(&mut self.ce_id),
            7 if is("ce-type") || is("ce_type") => Some(&mut self.ce_type),
            9 if is("messageId") => Some(&mut self.message_id),
            10 if is("message-id") || is("message_id") || is("webhook-id") => {
                Some(&mut self.message_id)
            }
            12 if is("content-type") => Some(&mut self.content_type),
            14 if is("ce-specversion") || is("ce_specversion") => Some(&mut self.ce_specversion),
            21 if is("NServiceBus.MessageId") => Some(&mut self.nservicebus_id),
            23 if is("NServiceBus.ContentType") => Some(&mut self.nservicebus_content),
            32 if is("NServiceBus.EnclosedMessageTypes") => Some(&mut self.nservicebus_types),
            _ => None,
        }
    }

    /// Whether the attributes are in headers. Some senders leave `specversion` out.
    pub(crate) fn is_binary_cloud_event(&self) -> bool {
        self.ce_specversion.is_some() || self.ce_type.is_some()
    }

    /// Whether the content type is that of a structured CloudEvent.
    pub(crate) fn says_cloud_event(&self) -> bool {
        self.content_is("application/cloudevents+json")
    }

    /// Whether the content type is that of several CloudEvents in one message.
    pub(crate) fn is_cloud_events_batch(&self) -> bool {
        self.content_is("application/cloudevents-batch+json")
    }

    /// Whether the content type is that of MassTransit's envelope.
    pub(crate) fn says_mass_transit(&self) -> bool {
        self.content_is("application/vnd.masstransit+json")
    }

    /// Header `type`.
    pub(crate) fn event_type(&self) -> Option<Cow<'a, str>> {
        self.event_type.map(String::from_utf8_lossy)
    }

    /// NServiceBus' own id, else header `message-id`, `messageId`, `message_id` or Standard
    /// Webhooks' `webhook-id`.
    pub(crate) fn message_id(&self) -> Option<Cow<'a, str>> {
        self.nservicebus_id.or(self.message_id).map(String::from_utf8_lossy)
    }

    /// The classes of a message of NServiceBus; `None` where it is none.
    pub(crate) fn nservicebus_types(&self) -> Option<&'a [u8]> {
        self.nservicebus_types
    }

    /// What NServiceBus says that the body is written in.
    pub(crate) fn nservicebus_content(&self) -> Option<String> {
        owned(self.nservicebus_content)
    }

    /// The binary CloudEvent's `type`.
    pub(crate) fn cloud_event_type(&self) -> Option<String> {
        owned(self.ce_type)
    }

    /// The binary CloudEvent's `id`.
    pub(crate) fn cloud_event_id(&self) -> Option<String> {
        owned(self.ce_id)
    }

    /// Whether the payload may be an envelope, or have another form than plain JSON.
    pub(crate) fn may_be_enveloped(&self) -> bool {
        self.is_binary_cloud_event()
            || self.nservicebus_types.is_some()
            || self.content_type.is_some()
                && (self.says_cloud_event()
                    || self.is_cloud_events_batch()
                    || self.says_mass_transit())
    }

    fn content_is(&self, media_type: &str) -> bool {
        self.content_type.is_some_and(|content| {
            let essence = content.split(|byte| *byte == b';').next();
            essence.is_some_and(|essence| {
                essence.trim_ascii().eq_ignore_ascii_case(media_type.as_bytes())
            })
        })
    }
}

/// Whether a document is a structured CloudEvent.
pub(crate) fn is_cloud_event(document: &Value) -> bool {
    document.get("specversion").is_some_and(Value::is_string)
}

/// Reads a structured CloudEvent.
pub(crate) fn cloud_event(mut document: Value, keep: bool) -> Result<Decoded, &'static str> {
    let event_type = field_text(&document, "type");
    let message_id = field_text(&document, "id");
    let traceparent = field_text(&document, "traceparent");
    let body = match document.get("data_base64") {
        Some(encoded) => Some(from_base64(encoded)?),
        None => extract(&mut document, "data", keep),
    };
    Ok(Decoded {
        event_type,
        type_alias: None,
        message_id,
        traceparent,
        body,
        envelope: keep.then_some(document),
    })
}

/// The document that a binary CloudEvent would be in structured mode, so that one path finds an
/// attribute in both. Attributes that are not UTF-8 are left out.
pub(crate) fn of_headers(message: &RawMessage<'_>, body: &Value) -> Value {
    let attribute = |name: &str| {
        let prefix = name.get(..3)?;
        let is_ours = prefix.eq_ignore_ascii_case("ce-") || prefix.eq_ignore_ascii_case("ce_");
        is_ours.then(|| name[3..].to_ascii_lowercase())
    };
    let mut document = serde_json::Map::new();
    for (name, value) in &message.headers {
        let name = match attribute(name) {
            Some(name) => name,
            None if name.eq_ignore_ascii_case("content-type") => "datacontenttype".to_owned(),
            None => continue,
        };
        if let Ok(value) = std::str::from_utf8(value) {
            // The first of a name counts, as everywhere.
            document.entry(name).or_insert_with(|| value.into());
        }
    }
    document.insert("data".to_owned(), body.clone());
    Value::Object(document)
}

/// What a document's own fields say it is. One pass, by the length of the names: looking each up
/// would hash it.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// A structured CloudEvent.
    pub(crate) is_cloud_event: bool,
    /// It has MassTransit's telling fields.
    pub(crate) is_mass_transit: bool,
    /// Worth a closer look: a field that Debezium's changes have.
    pub(crate) may_be_change: bool,
}

impl Marks {
    /// Of a document; nothing of what is no object.
    pub(crate) fn of(document: &Value) -> Self {
        let mut marks = Self::default();
        let (mut message, mut message_id, mut message_type) = (false, false, false);
        for (name, value) in document.as_object().into_iter().flatten() {
            match name.len() {
                2 => marks.may_be_change |= name == "op",
                7 => {
                    message |= name == "message";
                    marks.may_be_change |= name == "payload" && value.is_object();
                }
                9 => message_id |= name == "messageId",
                11 => {
                    message_type |= name == "messageType";
                    // It goes before all else.
                    if name == "specversion" && value.is_string() {
                        return Self { is_cloud_event: true, ..Self::default() };
                    }
                }
                _ => {}
            }
        }
        marks.is_mass_transit = message && message_id && message_type;
        marks
    }
}

/// What the names of a document's fields say it might be: at least where [`Marks`] say it is.
#[derive(Debug, Default)]
pub(crate) struct Names {
    specversion: bool,
    message: bool,
    message_id: bool,
    message_type: bool,
    op: bool,
    source: bool,
}

impl Names {
    /// A field has this name.
    #[inline]
    pub(crate) fn note(&mut self, name: &str) {
        match name.len() {
            2 => self.op |= name == "op",
            6 => self.source |= name == "source",
            7 => self.message |= name == "message",
            9 => self.message_id |= name == "messageId",
            11 => {
                self.message_type |= name == "messageType";
                self.specversion |= name == "specversion";
            }
            _ => {}
        }
    }

    /// Whether all of them might be those of an envelope. A change of Debezium that is enclosed in
    /// `payload` can only be told by that.
    pub(crate) fn may_be_enveloped(&self) -> bool {
        let mass_transit = self.message && self.message_id && self.message_type;
        self.specversion || mass_transit || (self.op && self.source)
    }
}

/// Reads MassTransit's envelope. The type is the first one listed: the message's own class.
pub(crate) fn mass_transit(mut document: Value, keep: bool) -> Decoded {
    let urn = match document.get("messageType") {
        Some(Value::Array(urns)) => urns.first().and_then(Value::as_str),
        Some(Value::String(urn)) => Some(urn.as_str()),
        _ => None,
    };
    let event_type = urn.map(|urn| urn.strip_prefix("urn:message:").unwrap_or(urn).to_owned());
    // A generic type's arguments have colons of their own: `Ns:Faulted[[Ns:Paid]]`.
    let type_alias = event_type.as_deref().and_then(|full| {
        let plain = full.split_once("[[").map_or(full, |(plain, _)| plain);
        let (_, bare) = plain.rsplit_once(':')?;
        Some(bare.to_owned())
    });
    let message_id = field_text(&document, "messageId");
    let body = extract(&mut document, "message", keep);
    let envelope = keep.then_some(document);
    Decoded { event_type, type_alias, message_id, traceparent: None, body, envelope }
}

/// Base64 data: a JSON value where it is one, else its text; bytes that are neither have no body to
/// look into and read as null.
fn from_base64(encoded: &Value) -> Result<Value, &'static str> {
    let engine = GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let bytes = encoded
        .as_str()
        .and_then(|text| engine.decode(text).ok())
        .ok_or("data_base64 is not base64")?;
    Ok(serde_json::from_slice(&bytes)
        .unwrap_or_else(|_| String::from_utf8(bytes).map_or(Value::Null, Value::String)))
}

fn extract(document: &mut Value, field: &str, keep: bool) -> Option<Value> {
    if keep { document.get(field).cloned() } else { document.get_mut(field).map(Value::take) }
}

fn field_text(document: &Value, field: &str) -> Option<String> {
    let text = scalar_text(document.get(field)?)?;
    Some(text.into_owned())
}

fn owned(header: Option<&[u8]>) -> Option<String> {
    header.map(|value| String::from_utf8_lossy(value).into_owned())
}
