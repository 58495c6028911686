//! From NATS's messages to those of every broker.

use sojourn_broker::{Position, RawMessage};

use crate::connection::Message;
use crate::headers::{KEY, MESSAGE_ID, fields};

/// A message as taps and consumers hand it over. NATS has no keys: a header carries them. Its own
/// message id is added under the name that decoders look for, behind the headers that were sent.
pub(crate) fn raw<'m>(
    message: &Message<'m>,
    stamp_ns: u64,
    position: Option<Position>,
) -> RawMessage<'m> {
    let mut headers: Vec<(&str, &[u8])> = Vec::new();
    let (mut key, mut id) = (None, None);
    if !message.headers.is_empty() {
        for (name, value) in fields(message.headers) {
            if key.is_none() && name.eq_ignore_ascii_case(KEY) {
                key = Some(value);
            } else {
                if id.is_none() && name.eq_ignore_ascii_case(MESSAGE_ID) {
                    id = Some(value);
                }
                headers.push((name, value));
            }
        }
        headers.extend(id.map(|id| ("message-id", id)));
    }
    RawMessage {
        stamp_ns,
        topic: message.subject,
        key,
        headers,
        payload: message.payload,
        position,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_and_id_are_found_in_headers() {
        let message = Message {
            sid: 2,
            subject: "a",
            reply: None,
            headers: b"NATS/1.0\r\nA: 1\r\nSojourn-Key: k\r\nnats-msg-id: m\r\n\r\n",
            payload: b"p",
        };
        let raw = raw(&message, 7, None);
        assert_eq!(raw.key, Some(&b"k"[..]));
        let expect: [(&str, &[u8]); 3] = [("A", b"1"), ("nats-msg-id", b"m"), ("message-id", b"m")];
        assert_eq!(raw.headers, expect);
        assert_eq!((raw.stamp_ns, raw.topic, raw.payload), (7, "a", &b"p"[..]));
    }
}
