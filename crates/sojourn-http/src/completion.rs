//! What came of a request.

use crate::{Failure, PeerId};

/// A finished request: answered, failed or timed out. Every [`crate::Client::send`] yields one.
#[derive(Debug)]
pub struct Completion {
    /// The caller's.
    pub token: u64,
    /// t1: when the client took the request up, before any wait for a connection.
    pub began_ns: u64,
    /// t2: last body byte read, or the instant of giving up.
    pub ended_ns: u64,
    /// Where the time went.
    pub timings: Timings,
    /// Bytes written for this request (the message's own; under TLS before encryption), both times
    /// when it was sent again.
    pub bytes_out: u64,
    /// Bytes read for it: heads, body and framing before decoding; under TLS after decryption.
    pub bytes_in: u64,
    /// Whom it went to, for [`crate::Client::peer`].
    pub peer: PeerId,
    /// The answer or the failure.
    pub outcome: Result<Response, Failure>,
}

/// A request's phases, nanoseconds. Zero where a phase did not happen (a connection used again has
/// no dns, connect and tls). `blocked = wait for a connection + dns + connect + tls`, and `blocked
/// + send + wait + receive` is the whole, exactly. A failed request's last phase is the one it was
/// given up in. See [`crate::Client::wait_until`] for the error of the stamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// First byte sent − t1.
    pub blocked_ns: u64,
    /// Name look-up.
    pub dns_ns: u64,
    /// TCP connect.
    pub connect_ns: u64,
    /// TLS handshake.
    pub tls_ns: u64,
    /// First to last byte of the request written.
    pub send_ns: u64,
    /// Last byte written to first byte read.
    pub wait_ns: u64,
    /// First to last byte of the answer read.
    pub receive_ns: u64,
}

/// An answer.
#[derive(Clone, Debug, Default)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// The head's bytes, for [`Response::header`]; empty under [`crate::BodyPolicy::Discard`] and
    /// [`crate::BodyPolicy::Count`], but for a redirect's.
    pub head: Vec<u8>,
    /// The decoded body as far as the policy keeps it.
    pub body: Vec<u8>,
    /// How long the decoded body was, kept or not, bytes; zero under
    /// [`crate::BodyPolicy::Discard`], which decodes nothing.
    pub body_bytes: u64,
}

impl Response {
    /// The first header of this name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers()
            .find(|(known, _)| known.eq_ignore_ascii_case(name.as_bytes()))
            .map(|(_, value)| value)
    }

    /// Every header, (name as sent, value), in order.
    pub fn headers(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        // The head has been parsed as valid; its first line is the status.
        self.head.split(|byte| *byte == b'\n').skip(1).filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            Some((&line[..colon], line[colon + 1..].trim_ascii()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_found_whatever_their_case() {
        let response = Response {
            status: 200,
            head: b"HTTP/1.1 200 a: b\r\nX-Id:  7 \r\nx-id: 8\r\nEmpty:\r\n\r\n".to_vec(),
            ..Response::default()
        };
        assert_eq!(response.header("x-ID"), Some(b"7".as_slice()));
        assert_eq!(response.header("empty"), Some(b"".as_slice()));
        assert_eq!(response.header("id"), None);
        assert_eq!(response.header("HTTP/1.1 200 a"), None);
        assert_eq!(Response::default().header("x"), None);
    }
}
