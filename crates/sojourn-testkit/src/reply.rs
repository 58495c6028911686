//! What a fake peer does after a request: bytes, pauses and insults, in order.

use std::collections::VecDeque;
use std::fmt::Write as _;

/// One thing a peer does on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Closes the connection in order (FIN).
    Close,
    /// Sends `count` times the same byte, without ever holding them in memory.
    Repeat {
        /// The byte.
        byte: u8,
        /// How many of it.
        count: u64,
    },
    /// Breaks the connection off (RST).
    Reset,
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Says nothing more and keeps the connection open until the client leaves.
    Silence,
    /// Goes on no earlier than this instant, nanoseconds of `sojourn_clock`.
    WaitUntil(u64),
}

/// The whole answer to one request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    pub(crate) steps: VecDeque<Step>,
    pub(crate) tag: u64,
}

impl Reply {
    /// These steps, one after the other.
    pub fn steps(steps: impl IntoIterator<Item = Step>) -> Self {
        Self { steps: steps.into_iter().collect(), tag: 0 }
    }

    /// These bytes at once.
    pub fn now(bytes: Vec<u8>) -> Self {
        Self::steps([Step::Send(bytes)])
    }

    /// These bytes at `instant_ns`.
    pub fn at(instant_ns: u64, bytes: Vec<u8>) -> Self {
        Self::steps([Step::WaitUntil(instant_ns), Step::Send(bytes)])
    }

    /// A number that [`Responder::sent`](crate::Responder::sent) gets back when this reply has
    /// left.
    pub fn tagged(mut self, tag: u64) -> Self {
        self.tag = tag;
        self
    }
}

/// A whole HTTP/1.1 response with its length.
pub fn response(status: u16, content_type: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = head(status, content_type, body.len() as u64).into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// The head of a response that promises `length` bytes of body.
pub(crate) fn head(status: u16, content_type: &str, length: u64) -> String {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        // A reason may be empty (RFC 9112, section 4).
        _ => "",
    };
    let mut head = String::with_capacity(128);
    // Writing to a string cannot fail.
    let _ok = write!(
        head,
        "HTTP/1.1 {status} {reason}\r\ncontent-type: {content_type}\r\n\
         content-length: {length}\r\n\r\n"
    );
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_states_its_length() {
        assert_eq!(
            response(503, "text/plain", b"later"),
            b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\n\
              content-length: 5\r\n\r\nlater"
        );
    }
}
