//! A message, as it is printed.

use serde_json::{Map, Value, json};
use sojourn_broker::RawMessage;

/// Longest text of a message in words, bytes.
const WORDS_MAX: usize = 160;

/// A message kept to be printed.
pub struct Message {
    channel: String,
    event_type: Option<String>,
    topic: String,
    key: Option<String>,
    headers: Vec<(String, String)>,
    /// The payload, whole or cut for words.
    payload: String,
    bytes: usize,
    stamp_ns: u64,
}

impl Message {
    /// Of a message as it came; `whole`: all of its payload.
    pub(super) fn of(
        channel: &str,
        event_type: Option<String>,
        message: &RawMessage<'_>,
        whole: bool,
    ) -> Self {
        let length = message.payload.len();
        let kept = if whole { length } else { length.min(WORDS_MAX) };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            channel: channel.to_owned(),
            event_type,
            topic: message.topic.to_owned(),
            key: message.key.map(text),
            headers: message
                .headers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), text(value)))
                .collect(),
            payload: text(&message.payload[..kept]),
            bytes: length,
            stamp_ns: message.stamp_ns,
        }
    }

    /// A line for people; nothing in it can move the cursor.
    pub fn in_words(&self) -> String {
        let key = self.key.as_deref().map_or_else(String::new, |key| format!(" key {key}"));
        let event_type =
            self.event_type.as_deref().map_or_else(String::new, |name| format!(" {name}"));
        let cut = if self.bytes > self.payload.len() { "…" } else { "" };
        let line =
            format!("{} {}{event_type}{key}: {}{cut}", self.channel, self.topic, self.payload);
        line.replace(char::is_control, " ")
    }

    /// A line of JSON: `channel`, `topic`, `type`, `key`, `headers`, `payload` (JSON where it is
    /// that, else text), `bytes`, `stamp_ns` (this machine's monotonic clock).
    pub fn json(&self) -> String {
        let payload = serde_json::from_str::<Value>(&self.payload)
            .unwrap_or_else(|_| Value::from(self.payload.clone()));
        let headers: Map<String, Value> =
            self.headers.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
        json!({
            "channel": self.channel,
            "topic": self.topic,
            "type": self.event_type,
            "key": self.key,
            "headers": headers,
            "payload": payload,
            "bytes": self.bytes,
            "stamp_ns": self.stamp_ns,
        })
        .to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_and_harmless_and_json_is_whole() {
        let payload = format!("{{\"text\":\"{}\"}}", "x".repeat(300));
        let raw = RawMessage {
            stamp_ns: 5,
            topic: "orders\u{1b}[2J",
            key: Some(b"k"),
            headers: vec![("type", b"Paid")],
            payload: payload.as_bytes(),
            position: None,
        };
        let words = Message::of("c", Some("Paid".to_owned()), &raw, false).in_words();
        assert!(words.starts_with("c orders [2J Paid key k: {\"text\""), "{words}");
        assert!(words.ends_with('…') && !words.contains('\u{1b}'));
        let json = Message::of("c", None, &raw, true).json();
        let value: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["payload"]["text"].as_str().unwrap().len(), 300);
        assert_eq!((&value["headers"]["type"], &value["bytes"]), (&json!("Paid"), &json!(311)));
    }
}
