//! An answer as bytes: what can be prepared once stands ready, what depends on the instant (date,
//! hold, whether the connection is kept) is added when it leaves.

use std::sync::Arc;

use crate::reason::reason;

/// A response in HTTP/1.1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    status: u16,
    /// Status line and headers, without the empty line.
    head: Vec<u8>,
    body: Body,
}

/// A response's body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// These bytes.
    Bytes(Arc<[u8]>),
    /// One block over and over, `length` bytes in all: any size without the memory.
    Repeated {
        /// The block; empty: no body at all.
        block: Arc<[u8]>,
        /// Bytes of the body.
        length: u64,
    },
}

/// What an answer says of its own timing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How long the request was to be held, nanoseconds.
    pub intended_ns: u64,
    /// How long it really was, to just before the answer was handed to the kernel, nanoseconds.
    pub real_ns: u64,
}

/// What the connection adds to a head.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending<'a> {
    /// `Date`.
    pub(crate) date: &'a [u8],
    pub(crate) timing: Timing,
    /// `Connection`, where it has to be said.
    pub(crate) connection: Option<&'static str>,
}

impl Message {
    /// A response with these headers, a `content-length` and a body. A status that has no body
    /// (1xx, 204, 304) gets none.
    ///
    /// Names and values must not hold line ends; those that do are left out.
    pub fn new<'a>(
        status: u16,
        headers: impl IntoIterator<Item = (&'a str, &'a [u8])>,
        body: Body,
    ) -> Self {
        let mut head = Vec::with_capacity(128);
        head.extend_from_slice(b"HTTP/1.1 ");
        decimal(u64::from(status), &mut head);
        head.push(b' ');
        head.extend_from_slice(reason(status).as_bytes());
        head.extend_from_slice(b"\r\n");
        let breaks_line = |bytes: &[u8]| bytes.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0));
        for (name, value) in headers {
            if breaks_line(name.as_bytes()) || breaks_line(value) {
                continue;
            }
            head.extend_from_slice(name.as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value);
            head.extend_from_slice(b"\r\n");
        }
        let body = match status {
            100..=199 | 204 | 304 => Body::empty(),
            _ => {
                head.extend_from_slice(b"content-length: ");
                decimal(body.length(), &mut head);
                head.extend_from_slice(b"\r\n");
                body
            }
        };
        Self { status, head, body }
    }

    /// A small text.
    pub fn text(status: u16, content_type: &str, body: &[u8]) -> Self {
        let headers = [("content-type", content_type.as_bytes())];
        Self::new(status, headers, Body::Bytes(body.into()))
    }

    /// The status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The body.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The headers, in order.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let lines = self.head.split(|byte| *byte == b'\n').skip(1);
        lines.filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            let name = std::str::from_utf8(&line[..colon]).ok()?;
            Some((name, line[colon + 1..].trim_ascii()))
        })
    }

    /// The same headers with another status and body.
    #[must_use]
    pub fn with(&self, status: u16, body: Body) -> Self {
        let headers = self.headers().filter(|(name, _)| *name != "content-length");
        Self::new(status, headers, body)
    }

    /// The whole message as it stands, without date and timing; a repeated body is written out.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.head.clone();
        bytes.extend_from_slice(b"\r\n");
        let mut offset = 0;
        loop {
            let piece = self.body.piece(offset);
            if piece.is_empty() {
                return bytes;
            }
            bytes.extend_from_slice(piece);
            offset += piece.len() as u64;
        }
    }

    /// Appends the whole head.
    pub(crate) fn write_head(&self, ending: &Ending<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.head);
        out.extend_from_slice(b"date: ");
        out.extend_from_slice(ending.date);
        out.extend_from_slice(b"\r\nserver-timing: ");
        ending.timing.write(out);
        if let Some(connection) = ending.connection {
            out.extend_from_slice(b"\r\nconnection: ");
            out.extend_from_slice(connection.as_bytes());
        }
        out.extend_from_slice(b"\r\n\r\n");
    }
}

impl Body {
    /// No bytes.
    pub fn empty() -> Self {
        Self::Bytes(Arc::default())
    }

    /// How many bytes.
    pub fn length(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Repeated { block, .. } if block.is_empty() => 0,
            Self::Repeated { length, .. } => *length,
        }
    }

    /// Bytes from `offset` on, as many as lie together; empty at the end.
    pub fn piece(&self, offset: u64) -> &[u8] {
        let left = self.length().saturating_sub(offset);
        let (bytes, at) = match self {
            Self::Bytes(bytes) => (bytes, offset),
            // An empty block has length 0, so nothing is left.
            Self::Repeated { block, .. } => (block, offset % (block.len() as u64).max(1)),
        };
        // Within memory that exists, so within `usize`.
        let at = (at as usize).min(bytes.len());
        let together = (bytes.len() - at).min(usize::try_from(left).unwrap_or(usize::MAX));
        &bytes[at..at + together]
    }
}

impl Timing {
    /// `Server-Timing` (W3C) in milliseconds: `hold;dur=700, real;dur=700.312, over;dur=0.312`.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"hold;dur=");
        milliseconds(self.intended_ns, out);
        out.extend_from_slice(b", real;dur=");
        milliseconds(self.real_ns, out);
        out.extend_from_slice(b", over;dur=");
        milliseconds(self.real_ns.saturating_sub(self.intended_ns), out);
    }
}

/// Milliseconds to the microsecond.
fn milliseconds(ns: u64, out: &mut Vec<u8>) {
    let us = ns / 1000;
    decimal(us / 1000, out);
    let fraction = us % 1000;
    if fraction > 0 {
        let digit = |value: u64| b'0' + (value % 10) as u8;
        out.extend_from_slice(&[
            b'.',
            digit(fraction / 100),
            digit(fraction / 10),
            digit(fraction),
        ]);
    }
}

/// A whole number in decimal digits.
pub(crate) fn decimal(mut value: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(message: &Message, connection: Option<&'static str>) -> String {
        let mut out = Vec::new();
        let timing = Timing { intended_ns: 700_000_000, real_ns: 700_312_999 };
        message.write_head(&Ending { date: b"D", timing, connection }, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_head_states_length_date_and_timing() {
        assert_eq!(
            head(&Message::text(503, "text/plain", b"later"), Some("close")),
            "HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\ncontent-length: 5\r\n\
             date: D\r\nserver-timing: hold;dur=700, real;dur=700.312, over;dur=0.312\r\n\
             connection: close\r\n\r\n"
        );
        let none = Message::text(204, "text/plain", b"ignored");
        assert!(!head(&none, None).contains("content-length"));
        assert_eq!(none.body().length(), 0);
        let odd = Message::new(299, [("a", b"b\r\nc: d".as_slice())], Body::empty());
        assert!(head(&odd, None).starts_with("HTTP/1.1 299 \r\ncontent-length: 0\r\n"));
    }

    #[test]
    fn pieces_join_to_the_body() {
        let check = |body: Body, expected: &[u8]| {
            let mut joined = Vec::new();
            while !body.piece(joined.len() as u64).is_empty() {
                let piece = body.piece(joined.len() as u64);
                joined.extend_from_slice(piece);
            }
            assert_eq!(joined, expected);
            assert_eq!(body.length(), expected.len() as u64);
        };
        let block = || Arc::<[u8]>::from(b"abc".as_slice());
        check(Body::Bytes(block()), b"abc");
        check(Body::Repeated { block: block(), length: 8 }, b"abcabcab");
        check(Body::Repeated { block: block(), length: 2 }, b"ab");
        check(Body::Repeated { block: Arc::default(), length: 5 }, b"");
        check(Body::empty(), b"");
    }
}
