//! Evaluating a plan's selectors on a decoded event.

use sojourn_plan::Selector;

use crate::{Decoded, RawMessage};

/// The value a selector points at; strings for headers, keys and topics.
pub fn select(
    _selector: &Selector,
    _message: &RawMessage<'_>,
    _decoded: &Decoded,
) -> Option<serde_json::Value> {
    None
}
