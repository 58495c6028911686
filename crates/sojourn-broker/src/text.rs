//! Values as text: what keys, members and ids are compared by.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hasher};

use serde_json::Value;

/// A value's text: strings as they are, numbers and booleans as JSON writes them. Null, arrays and
/// objects have none.
pub(crate) fn scalar_text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(number) => Some(Cow::Owned(number.to_string())),
        Value::Bool(true) => Some(Cow::Borrowed("true")),
        Value::Bool(false) => Some(Cow::Borrowed("false")),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// 64 bits of a text: the same in every process of this build (SipHash with a fixed key).
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}
