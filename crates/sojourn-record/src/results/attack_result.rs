//! One request of an attack and what became of it.

use super::{Headers, Timestamp};

/// What an attack knows of one request, borrowed.
///
/// Texts are bytes, since a server may send anything; in practice they are UTF-8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttackResult<'a> {
    /// The attack's name, `""` without one.
    pub attack: &'a [u8],
    /// 0, 1, 2… in order of start.
    pub seq: u64,
    /// HTTP status; 0 without a complete response.
    pub code: u16,
    /// When the request began.
    pub timestamp: Timestamp,
    /// Until the response was read or the error known, nanoseconds.
    pub latency_ns: i64,
    /// Bytes of the request's body.
    pub bytes_out: u64,
    /// Bytes of the response's body.
    pub bytes_in: u64,
    /// `""` on success, else what went wrong.
    pub error: &'a [u8],
    /// The response's body where it was kept.
    pub body: Option<&'a [u8]>,
    /// Method of the request.
    pub method: &'a [u8],
    /// URL of the request.
    pub url: &'a [u8],
    /// The response's headers where there was one.
    pub headers: Option<&'a Headers>,
}

impl AttackResult<'_> {
    /// Whether the request succeeded: a status from 200 to 399.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..400).contains(&self.code)
    }
}
