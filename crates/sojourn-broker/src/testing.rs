//! What the tests of several rooms share: messages and paths.

use sojourn_plan::{JsonPath, PathStep, Selector};

use crate::RawMessage;

/// A plain path into the body, or into the envelope.
pub(crate) fn path(text: &str) -> Selector {
    let relative = text.strip_prefix("$envelope").or_else(|| text.strip_prefix('$')).unwrap();
    let names = relative.split('.').skip(1);
    Selector::Body(JsonPath {
        text: text.to_owned(),
        plain: Some(names.map(|name| PathStep::Name(name.to_owned())).collect()),
        compiled: serde_json_path::JsonPath::parse(&format!("${relative}")).unwrap(),
    })
}

/// A message with nothing but a payload.
pub(crate) fn message(payload: &[u8]) -> RawMessage<'_> {
    RawMessage {
        stamp_ns: 1,
        topic: "payments.events",
        key: None,
        headers: Vec::new(),
        payload,
        position: None,
    }
}
