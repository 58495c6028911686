//! Messages by number, so that each can be accounted for.

use serde_json::json;
use sojourn_broker::RawMessage;

/// How many keys the messages have: those of one key stay in their order.
const KEYS: u64 = 7;

/// A message to be published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Which one.
    pub number: u64,
    /// The key.
    pub key: String,
    /// Headers.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The payload: a JSON object with the number as `n`, unless a promise wants other bytes.
    pub payload: Vec<u8>,
}

impl Message {
    /// The message of this number.
    pub fn numbered(number: u64) -> Self {
        Self::padded(number, 0)
    }

    /// The same with a payload made longer by this many bytes.
    pub fn padded(number: u64, bytes: usize) -> Self {
        let mut payload = json!({ "n": number, "type": "numbered" });
        if bytes > 0 {
            payload["pad"] = "x".repeat(bytes).into();
        }
        Self::with_payload(number, payload.to_string().into_bytes())
    }

    /// The same with another payload.
    pub fn with_payload(number: u64, payload: Vec<u8>) -> Self {
        let headers = vec![
            ("sojourn-run".to_owned(), b"conformance".to_vec()),
            ("number".to_owned(), number.to_string().into_bytes()),
        ];
        Self { number, key: format!("key-{}", number % KEYS), headers, payload }
    }
}

/// A message that came.
#[derive(Clone, Debug)]
pub struct Seen {
    /// As stamped.
    pub stamp_ns: u64,
    /// Name within the channel.
    pub topic: String,
    /// The key, where the broker has one.
    pub key: Option<Vec<u8>>,
    /// Headers.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The payload.
    pub payload: Vec<u8>,
    /// Partition and offset, where there are any.
    pub position: Option<(u64, u64)>,
}

impl Seen {
    pub(crate) fn of(message: &RawMessage<'_>) -> Self {
        let header = |(name, value): &(&str, &[u8])| ((*name).to_owned(), value.to_vec());
        Self {
            stamp_ns: message.stamp_ns,
            topic: message.topic.to_owned(),
            key: message.key.map(<[u8]>::to_vec),
            headers: message.headers.iter().map(header).collect(),
            payload: message.payload.to_vec(),
            position: message.position.map(|place| (place.partition, place.offset)),
        }
    }

    /// The number in a payload that is a JSON object with one.
    pub fn number(&self) -> Option<u64> {
        let payload: serde_json::Value = serde_json::from_slice(&self.payload).ok()?;
        payload.get("n")?.as_u64()
    }

    /// The first header of this name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_slice())
    }
}
