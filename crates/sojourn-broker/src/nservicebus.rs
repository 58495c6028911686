//! NServiceBus: what its headers say about a body of JSON.
//!
//! `NServiceBus.EnclosedMessageTypes` lists .NET's assembly-qualified names, the message's own
//! class first: `Shop.Paid, Shop.Events, Version=1.0.0.0, Culture=neutral;Shop.IEvent, …`.

use serde_json::Value;

use crate::Decoded;

/// The body, with the type of the first class listed.
pub(crate) fn message(body: Value, types: &[u8]) -> Decoded {
    let (event_type, type_alias) = names(types);
    Decoded { event_type, type_alias, body: Some(body), ..Decoded::default() }
}

/// The first class with its namespace, and without. None where the list is empty.
pub(crate) fn names(types: &[u8]) -> (Option<String>, Option<String>) {
    let types = String::from_utf8_lossy(types);
    // A generic type's arguments have commas and semicolons of their own, in brackets.
    let mut depth = 0_usize;
    let end = types.find(|letter| {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && matches!(letter, ',' | ';')
    });
    let full = types[..end.unwrap_or(types.len())].trim();
    if full.is_empty() {
        return (None, None);
    }
    let plain = full.split_once('[').map_or(full, |(plain, _)| plain);
    let alias = plain.rsplit_once(['.', '+']).map(|(_, bare)| bare.to_owned());
    (Some(full.to_owned()), alias)
}

/// Some of its serialisers begin a body with a byte order mark.
pub(crate) fn without_mark(payload: &[u8]) -> &[u8] {
    payload.strip_prefix(b"\xef\xbb\xbf").unwrap_or(payload)
}
