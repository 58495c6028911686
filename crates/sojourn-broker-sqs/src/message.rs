//! A message to be published, checked before it is taken.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sojourn_aws::sha256;

use crate::received::KEY;

/// Most attributes of a message: the service's bound.
const ATTRIBUTES_MAX: usize = 10;
/// The longest message with its attributes, bytes: the service's bound.
const BYTES_MAX: usize = 1 << 20;

/// A message on its way to one queue or topic.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub(crate) payload: String,
    pub(crate) key: Option<String>,
    /// Name, and text or bytes.
    attributes: Vec<(String, Result<String, Vec<u8>>)>,
    /// As the service counts it.
    pub(crate) bytes: usize,
}

impl Outgoing {
    /// Errs in words when the service cannot carry the message.
    pub(crate) fn new(
        key: Option<&[u8]>,
        headers: &[(&str, &[u8])],
        payload: &[u8],
    ) -> Result<Self, String> {
        let text = std::str::from_utf8(payload)
            .map_err(|_| "SQS carries text only: the payload is not UTF-8".to_owned())?;
        if text.is_empty() {
            return Err("SQS carries no empty messages".to_owned());
        }
        let is_carried = |c: char| match c {
            '\t' | '\n' | '\r' => true,
            c => c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}'),
        };
        if !text.chars().all(is_carried) {
            return Err("SQS carries no control characters but tab and line ends".to_owned());
        }
        let key = key.map(|key| String::from_utf8_lossy(key).into_owned());
        let key = key.filter(|key| !key.is_empty());
        if headers.len() + usize::from(key.is_some()) > ATTRIBUTES_MAX {
            return Err(format!("SQS carries {ATTRIBUTES_MAX} headers at most, the key included"));
        }
        let mut attributes = Vec::with_capacity(headers.len());
        let mut bytes = text.len() + key.as_ref().map_or(0, |key| key.len() + KEY.len() + 6);
        for (name, value) in headers {
            if value.is_empty() {
                return Err(format!("SQS carries no empty headers, as `{name}` is"));
            }
            bytes += name.len() + value.len() + 6;
            let text = std::str::from_utf8(value).map(str::to_owned);
            attributes.push(((*name).to_owned(), text.map_err(|_| value.to_vec())));
        }
        if bytes > BYTES_MAX {
            return Err(format!("SQS carries {BYTES_MAX} bytes at most, headers included"));
        }
        Ok(Self { payload: text.to_owned(), key, attributes, bytes })
    }

    /// The id that a queue with groups knows repeated messages by: the message's own, else one that
    /// no other has.
    pub(crate) fn deduplication_id(&self) -> String {
        let own = self.attributes.iter().find(|(name, _)| name.eq_ignore_ascii_case("message-id"));
        match own {
            Some((_, Ok(id))) if id.len() <= 128 && id.is_ascii() => id.clone(),
            _ => uuid::Uuid::new_v4().to_string(),
        }
    }

    /// The group of a message without a key: each its own, so that nothing waits for another.
    pub(crate) fn group(&self) -> String {
        match &self.key {
            Some(key) if key.len() <= 128 => key.clone(),
            Some(key) => sha256(key),
            None => uuid::Uuid::new_v4().to_string(),
        }
    }

    /// Attributes as SQS takes them; where there are no groups, the key is one of them.
    pub(crate) fn attributes(&self, fifo: bool) -> Value {
        let own = self.attributes.iter().map(|(name, value)| {
            let value = match value {
                Ok(text) => json!({ "DataType": "String", "StringValue": text }),
                Err(bytes) => {
                    json!({ "DataType": "Binary", "BinaryValue": STANDARD.encode(bytes) })
                }
            };
            (name.clone(), value)
        });
        let key = self
            .key
            .iter()
            .filter(|_| !fifo)
            .map(|key| (KEY.to_owned(), json!({ "DataType": "String", "StringValue": key })));
        Value::Object(own.chain(key).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_carried_is_said() {
        let words = |headers: &[(&str, &[u8])], payload: &[u8]| {
            Outgoing::new(Some(b"k"), headers, payload).unwrap_err()
        };
        assert!(words(&[], b"").contains("empty"));
        assert!(words(&[], b"\xff").contains("UTF-8"));
        assert!(words(&[], b"a\x01").contains("control"));
        assert!(words(&[("h", b"")], b"a").contains("`h`"));
        assert!(words(&[("h", b"v".as_slice()); 10], b"a").contains("10"));
        assert!(words(&[], &vec![b'a'; BYTES_MAX + 1]).contains("1048576"));
    }

    #[test]
    fn keys_are_groups_or_attributes() {
        let headers: &[(&str, &[u8])] = &[("message-id", b"7"), ("b", b"\xff")];
        let message = Outgoing::new(Some(b"k"), headers, b"{}").unwrap();
        assert_eq!((message.group().as_str(), message.deduplication_id().as_str()), ("k", "7"));
        assert_eq!(message.attributes(false)[KEY]["StringValue"], "k");
        assert_eq!(message.attributes(true).get(KEY), None);
        assert_eq!(message.attributes(true)["b"]["BinaryValue"], "/w==");
        let bare = Outgoing::new(None, &[], b"{}").unwrap();
        assert_ne!(bare.group(), bare.group());
        assert_ne!(bare.deduplication_id(), bare.deduplication_id());
        let long = Outgoing::new(Some(&[b'k'; 200]), &[], b"{}").unwrap();
        assert!(long.group() == long.group() && long.group().len() <= 128);
    }
}
