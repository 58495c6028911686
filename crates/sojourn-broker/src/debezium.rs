//! Debezium: a change of a row, in JSON with or without its schema.

use serde_json::Value;

use crate::Decoded;
use crate::text::scalar_text;

/// Create, update, delete, read (of a snapshot), truncate, message.
const OPS: [&str; 6] = ["c", "u", "d", "r", "t", "m"];

/// Whether a document can be nothing else: an operation, a row and the connector that saw it.
pub(crate) fn is_change(document: &Value) -> bool {
    let change = payload(document);
    let told = |field| change["source"][field].is_string();
    op(change).is_some()
        && (change.get("before").is_some() || change.get("after").is_some())
        && told("connector")
        && told("version")
}

/// Whether a document says that a row's key is to be forgotten, behind the deletion itself.
pub(crate) fn is_tombstone(document: &Value) -> bool {
    document.is_null()
        || document.as_object().is_some_and(|fields| {
            fields.len() == 2 && fields.contains_key("schema") && document["payload"].is_null()
        })
}

/// Takes the row out: as it is now, of a deletion as it was. Its type is `table.op`, or `op`. The
/// envelope is the change without its schema, so that one path finds a field in both forms.
pub(crate) fn change(mut document: Value, keep: bool) -> Result<Decoded, &'static str> {
    if op(payload(&document)).is_none() {
        return Err("not a change of Debezium: no field op with one of c, u, d, r, t, m");
    }
    let is_enclosed = document["payload"].get("op").is_some();
    let mut change = if is_enclosed { document["payload"].take() } else { document };
    let op = change["op"].as_str().unwrap_or_default().to_owned();
    let source = &change["source"];
    let table = source.get("table").or_else(|| source.get("collection"));
    let name = table.and_then(scalar_text).map(|table| format!("{table}.{op}"));
    let row = ["after", "before", "message"]
        .into_iter()
        .find(|name| change.get(name).is_some_and(|row| !row.is_null()));
    let body = row.and_then(|row| {
        let row = change.get_mut(row)?;
        Some(document_of(if keep { row.clone() } else { row.take() }))
    });
    let (event_type, type_alias) = match name {
        Some(name) => (Some(name), Some(op)),
        None => (Some(op), None),
    };
    let envelope = keep.then_some(change);
    Ok(Decoded { event_type, type_alias, body, envelope, ..Decoded::default() })
}

/// The change in its schema's envelope, or the document itself.
fn payload(document: &Value) -> &Value {
    match document.get("payload") {
        Some(payload) if payload.get("op").is_some() => payload,
        _ => document,
    }
}

fn op(change: &Value) -> Option<&str> {
    change.get("op")?.as_str().filter(|op| OPS.contains(op))
}

/// Of MongoDB a row is a text that holds JSON.
fn document_of(row: Value) -> Value {
    match row.as_str().map(serde_json::from_str) {
        Some(Ok(document @ Value::Object(_))) => document,
        _ => row,
    }
}

#[cfg(test)]
#[path = "debezium_tests.rs"]
mod tests;
