//! The Secret: the only object that holds what others should not see.

use serde_json::{Value, json};

use super::pod::JOIN_KEY;
use super::{Part, metadata, without_nulls};
use crate::Wanted;

/// Files, variables and the join key. It can't be changed: pods of one run that saw different
/// plans would make a run that nobody planned.
pub(super) fn secret(wanted: &Wanted) -> Value {
    let (mut texts, others) = wanted.bundle.data();
    texts.insert(JOIN_KEY.to_owned(), format!("{}\n", wanted.key.trim()).into());
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
