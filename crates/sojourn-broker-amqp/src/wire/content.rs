//! Putting messages together from their frames: method, header, bodies.

use super::Malformed;
use super::frame::{Frame, FrameKind};
use super::headers::Headers;
use super::method::Said;
use super::properties;

/// The longest message taken, bytes: RabbitMQ's own bound since 3.8.
pub(crate) const MESSAGE_BYTES_MAX: u64 = 512 << 20;
/// Memory that is given back after a message longer than this.
const KEPT_BYTES: usize = 1 << 20;

/// A message being put together on one channel; its memory is used again for the next.
#[derive(Debug, Default)]
pub(crate) struct Content {
    state: State,
    kind: Kind,
    exchange: String,
    routing_key: String,
    headers: Headers,
    body: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Between,
    Announced,
    Missing(u64),
}

/// Why a message came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A subscription's, with its tag.
    Delivered(u64),
    /// One of ours that no queue took, and the broker's code for it.
    #[default]
    Returned,
}

/// A whole message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message<'a> {
    pub(crate) kind: Kind,
    pub(crate) exchange: &'a str,
    pub(crate) routing_key: &'a str,
    pub(crate) headers: &'a Headers,
    pub(crate) body: &'a [u8],
}

impl Content {
    /// Begins a message, if the method begins one; says whether it did. A name that is not UTF-8 is
    /// read with U+FFFD for what is not.
    pub(crate) fn begin(&mut self, said: &Said<'_>) -> Result<bool, Malformed> {
        let (kind, exchange, routing_key): (_, &[u8], _) = match said {
            Said::Delivered { tag, exchange, routing_key } => {
                (Kind::Delivered(*tag), exchange, routing_key)
            }
            Said::Returned { routing_key, .. } => (Kind::Returned, b"", routing_key),
            _ => return Ok(false),
        };
        if self.state != State::Between {
            return Err(Malformed("a message begins within another"));
        }
        self.kind = kind;
        for (text, bytes) in [(&mut self.exchange, exchange), (&mut self.routing_key, *routing_key)]
        {
            text.clear();
            text.push_str(&String::from_utf8_lossy(bytes));
        }
        self.body.clear();
        self.body.shrink_to(KEPT_BYTES);
        self.state = State::Announced;
        Ok(true)
    }

    /// Takes a header or body frame; the message, when it is whole.
    pub(crate) fn add(&mut self, frame: &Frame<'_>) -> Result<Option<Message<'_>>, Malformed> {
        let missing = match (frame.kind, self.state) {
            (FrameKind::Header, State::Announced) => {
                let length = properties::read(frame.payload, &mut self.headers)?;
                if length > MESSAGE_BYTES_MAX {
                    return Err(Malformed("a message is longer than 512 MiB"));
                }
                length
            }
            (FrameKind::Body, State::Missing(missing)) => {
                let taken = frame.payload.len() as u64;
                let missing = missing
                    .checked_sub(taken)
                    .ok_or(Malformed("a message is longer than announced"))?;
                self.body.extend_from_slice(frame.payload);
                missing
            }
            _ => return Err(Malformed("a part of a message that was not announced")),
        };
        if missing > 0 {
            self.state = State::Missing(missing);
            return Ok(None);
        }
        self.state = State::Between;
        Ok(Some(Message {
            kind: self.kind,
            exchange: &self.exchange,
            routing_key: &self.routing_key,
            headers: &self.headers,
            body: &self.body,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::writer::Writer;
    use super::*;

    const DELIVERED: Said<'_> = Said::Delivered { tag: 3, exchange: b"ex", routing_key: b"a.b" };

    fn header(length: u64) -> Vec<u8> {
        let mut out = Writer::default();
        properties::write(&mut out, length, None, &[("type", b"Paid")]).unwrap();
        out.bytes
    }

    fn frame(kind: FrameKind, payload: &[u8]) -> Frame<'_> {
        Frame { kind, channel: 1, payload }
    }

    #[test]
    fn bodies_are_joined_and_an_empty_one_needs_no_frame() {
        let mut content = Content::default();
        assert_eq!(content.begin(&DELIVERED), Ok(true));
        assert!(content.add(&frame(FrameKind::Header, &header(5))).unwrap().is_none());
        assert!(content.add(&frame(FrameKind::Body, b"ab")).unwrap().is_none());
        let message = content.add(&frame(FrameKind::Body, b"cde")).unwrap().unwrap();
        assert_eq!((message.exchange, message.routing_key), ("ex", "a.b"));
        assert_eq!((message.kind, message.body), (Kind::Delivered(3), &b"abcde"[..]));
        assert_eq!(message.headers.get("type"), Some(&b"Paid"[..]));
        assert_eq!(content.begin(&DELIVERED), Ok(true));
        let message = content.add(&frame(FrameKind::Header, &header(0))).unwrap().unwrap();
        assert_eq!(message.body, b"");
        assert_eq!(content.begin(&Said::Unblocked), Ok(false));
    }

    #[test]
    fn frames_out_of_order_are_malformed() {
        let mut content = Content::default();
        assert!(content.add(&frame(FrameKind::Body, b"")).is_err());
        assert!(content.add(&frame(FrameKind::Header, &header(5))).is_err());
        content.begin(&DELIVERED).unwrap();
        assert!(content.begin(&DELIVERED).is_err());
        assert!(content.add(&frame(FrameKind::Body, b"a")).is_err());
        assert!(content.add(&frame(FrameKind::Header, &header(u64::MAX))).is_err());
        content.add(&frame(FrameKind::Header, &header(1))).unwrap();
        assert!(content.add(&frame(FrameKind::Body, b"ab")).is_err());
    }
}
