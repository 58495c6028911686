//! Evaluating a plan's selectors on a decoded event.

use std::borrow::Cow;

use serde_json::Value;
use sojourn_plan::{JsonPath, Selector};

use crate::glance::View;
use crate::text::scalar_text;
use crate::{Decoded, RawMessage};

/// What is known of a message's content.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seen<'a> {
    /// All of it.
    Whole(&'a Decoded),
    /// What selectors look at; it is in no envelope.
    Glanced(View<'a>),
}

impl<'a> Seen<'a> {
    /// The event's type.
    pub(crate) fn event_type(self) -> Option<Cow<'a, str>> {
        match self {
            Seen::Whole(decoded) => decoded.event_type.as_deref().map(Cow::Borrowed),
            Seen::Glanced(view) => view.event_type(),
        }
    }

    /// A second name of the same type.
    pub(crate) fn type_alias(self) -> Option<&'a str> {
        match self {
            Seen::Whole(decoded) => decoded.type_alias.as_deref(),
            Seen::Glanced(..) => None,
        }
    }

    /// The declared message id.
    pub(crate) fn message_id(self) -> Option<&'a str> {
        match self {
            Seen::Whole(decoded) => decoded.message_id.as_deref(),
            Seen::Glanced(view) => view.message_id(),
        }
    }

    /// The trace context that the document itself carries.
    pub(crate) fn traceparent(self) -> Option<&'a str> {
        match self {
            Seen::Whole(decoded) => decoded.traceparent.as_deref(),
            Seen::Glanced(..) => None,
        }
    }

    fn at(self, path: &JsonPath) -> Option<Found<'a>> {
        match self {
            Seen::Whole(decoded) => {
                let document = if is_envelope_path(path) {
                    decoded.envelope.as_ref().or(decoded.body.as_ref())
                } else {
                    decoded.body.as_ref()
                };
                path.find(document?).map(Found::Json)
            }
            Seen::Glanced(view) => view.find(path),
        }
    }
}

/// The value a selector points at; strings for headers, keys and topics. Bytes of a header or key
/// that are not UTF-8 have no value: read as text, two different keys could become the same.
pub fn select(selector: &Selector, message: &RawMessage<'_>, decoded: &Decoded) -> Option<Value> {
    find(selector, message, Seen::Whole(decoded)).map(|found| match found {
        Found::Json(value) => value.clone(),
        Found::Text(text) => Value::String(text.into_owned()),
    })
}

/// A value where it lies.
#[derive(Debug)]
pub(crate) enum Found<'a> {
    /// In the decoded document.
    Json(&'a Value),
    /// In a header, the key, the topic, the type or the raw payload.
    Text(Cow<'a, str>),
}

impl<'a> Found<'a> {
    /// As text, where it has one.
    pub(crate) fn text(&self) -> Option<Cow<'_, str>> {
        match self {
            Found::Json(value) => scalar_text(value),
            Found::Text(text) => Some(Cow::Borrowed(text)),
        }
    }
}

/// Finds a value without copying it.
pub(crate) fn find<'a>(
    selector: &Selector,
    message: &'a RawMessage<'_>,
    seen: Seen<'a>,
) -> Option<Found<'a>> {
    match selector {
        // An event has no status.
        Selector::Status => None,
        Selector::Header(name) => utf8(message.header(name)?),
        Selector::Body(path) => seen.at(path),
        Selector::Text => Some(Found::Text(String::from_utf8_lossy(message.payload))),
        Selector::Regex(regex) => {
            // Matches only payloads of UTF-8: groups are borrowed from it.
            let text = std::str::from_utf8(message.payload).ok()?;
            let captures = regex.captures(text)?;
            let group = captures.get(1).or_else(|| captures.get(0))?;
            Some(Found::Text(Cow::Borrowed(group.as_str())))
        }
        Selector::MessageKey => utf8(message.key?),
        Selector::Topic => Some(Found::Text(Cow::Borrowed(message.topic))),
        Selector::Type => seen.event_type().map(Found::Text),
    }
}

/// Whether a selector looks into the envelope.
pub(crate) fn selects_envelope(selector: &Selector) -> bool {
    matches!(selector, Selector::Body(path) if is_envelope_path(path))
}

/// Whether a path looks into the envelope instead of the body: the plan's reader lets no other path
/// begin so.
pub(crate) fn is_envelope_path(path: &JsonPath) -> bool {
    path.text.starts_with("$envelope")
}

fn utf8(bytes: &[u8]) -> Option<Found<'_>> {
    let text = std::str::from_utf8(bytes).ok()?;
    Some(Found::Text(Cow::Borrowed(text)))
}
