//! Where a message mentions an id.

use serde_json::Value;

use crate::{Decoded, RawMessage};

/// A place in a message whose text is an id, with or without text around it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mention {
    /// A selector of the journey file: `$.order.id`, `key`, `header.x-order`.
    pub place: String,
    /// The text around the id, with `{}` in its place; `{}` alone where the text is the id.
    pub around: String,
}

/// Deepest document looked into.
const DEPTH_MAX: usize = 32;

/// Every place of a message that mentions the id, the payload's first; the decoded payload stands
/// for the raw one. An empty id is mentioned nowhere.
pub fn mentions(message: &RawMessage<'_>, decoded: &Decoded, id: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    if id.is_empty() {
        return found;
    }
    if let Some(body) = &decoded.body {
        look_into(body, "$", id, DEPTH_MAX, &mut found);
    }
    let mut look_at = |place: String, text: &[u8]| {
        let around = std::str::from_utf8(text).ok().and_then(|text| around(text, id));
        found.extend(around.map(|around| Mention { place, around }));
    };
    if let Some(key) = message.key {
        look_at("key".to_owned(), key);
    }
    for (name, value) in &message.headers {
        look_at(format!("header.{name}"), value);
    }
    if let Some(envelope) = decoded.envelope.as_ref().filter(|_| found.is_empty()) {
        look_into(envelope, "$envelope", id, DEPTH_MAX, &mut found);
    }
    found
}

fn look_into(value: &Value, path: &str, id: &str, depth: usize, found: &mut Vec<Mention>) {
    if depth == 0 {
        return;
    }
    match value {
        Value::String(text) => {
            let around = around(text, id);
            found.extend(around.map(|around| Mention { place: path.to_owned(), around }));
        }
        Value::Number(number) if number.to_string() == id => {
            found.push(Mention { place: path.to_owned(), around: "{}".to_owned() });
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                let is_plain = name.chars().all(|c| c.is_alphanumeric() || c == '_')
                    && name.starts_with(|c: char| !c.is_numeric());
                let path = match is_plain {
                    true => format!("{path}.{name}"),
                    false => format!("{path}[{}]", Value::from(name.as_str())),
                };
                look_into(value, &path, id, depth - 1, found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                look_into(item, &format!("{path}[{index}]"), id, depth - 1, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The text around an id; `None`: it is not mentioned, or only within a longer word.
fn around(text: &str, id: &str) -> Option<String> {
    let at = text.find(id)?;
    let (before, after) = (&text[..at], &text[at + id.len()..]);
    let is_word = |c: char| c.is_alphanumeric();
    if before.ends_with(is_word) || after.starts_with(is_word) {
        return None;
    }
    let is_short = before.len() + after.len() <= 64 && !text.contains("{}");
    is_short.then(|| format!("{before}{{}}{after}"))
}

#[cfg(test)]
mod tests {
    use sojourn_plan::Decoder;

    use super::*;
    use crate::decode;

    fn of(payload: &str, id: &str) -> Vec<(String, String)> {
        let message = RawMessage {
            stamp_ns: 0,
            topic: "t",
            key: Some(b"pay:7"),
            headers: vec![("x-id", b"7"), ("other", b"77")],
            payload: payload.as_bytes(),
            position: None,
        };
        let decoded = decode(&Decoder::Auto, &message).unwrap();
        mentions(&message, &decoded, id)
            .into_iter()
            .map(|mention| (mention.place, mention.around))
            .collect()
    }

    #[test]
    fn an_id_is_found_wherever_it_stands_as_a_word() {
        let found = of(r#"{"a":{"b c":["x","pay:7"]},"n":7,"no":"17","deep":"7/9"}"#, "7");
        let expected = [
            (r#"$.a["b c"][1]"#, "pay:{}"),
            ("$.deep", "{}/9"),
            ("$.n", "{}"),
            ("key", "pay:{}"),
            ("header.x-id", "{}"),
        ];
        let mut found: Vec<_> =
            found.iter().map(|(place, around)| (place.as_str(), around.as_str())).collect();
        found[..3].sort_unstable();
        assert_eq!(found, expected);
        assert!(of(r#"{"n":8}"#, "").is_empty());
    }
}
