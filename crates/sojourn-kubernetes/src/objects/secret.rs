//! The Secret: the only object that holds what others should not see.

use serde_json::{Value, json};

use super::pod::{JOIN_KEY, WORDS};
use super::{Part, metadata, without_nulls};
use crate::Wanted;

/// Files, variables, secret words and the join key. It can't be changed: pods of one run that saw
/// different plans would make a run that nobody planned.
pub(super) fn secret(wanted: &Wanted) -> Value {
    let (mut texts, others) = wanted.bundle.data();
    texts.insert(JOIN_KEY.to_owned(), format!("{}\n", wanted.key.trim()).into());
    if !wanted.secret_words.is_empty() {
        texts.insert(WORDS.to_owned(), json!(wanted.secret_words).to_string().into());
    }
    without_nulls(json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata(wanted, wanted.name.as_str(), Part::Coordinator),
        "type": "Opaque",
        "immutable": true,
        "stringData": texts,
        "data": if others.is_empty() { Value::Null } else { others.into() },
    }))
}
