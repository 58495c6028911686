//! How a request can fail.

/// A failed request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Failure {
    /// What kind, for counting.
    pub kind: FailureKind,
    /// In words, with address and figures; never a secret.
    pub detail: String,
}

/// Kinds of failure: what error tables count by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FailureKind {
    /// The body is longer than may be kept.
    BodyTooLarge,
    /// The connection ended before the answer did.
    Closed,
    /// Could not connect: refused, unreachable.
    Connect,
    /// The name could not be resolved.
    Dns,
    /// The body could not be decoded.
    Encoding,
    /// Out of descriptors or ports on this machine: generator health.
    Local,
    /// The answer is not HTTP.
    Protocol,
    /// The connection was reset.
    Reset,
    /// The server has closed this request's HTTP/2 stream.
    StreamReset,
    /// Not complete in time.
    Timeout,
    /// TLS failed: certificate, version, alert.
    Tls,
}

impl FailureKind {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::BodyTooLarge => "body too large",
            Self::Closed => "connection closed",
            Self::Connect => "connect",
            Self::Dns => "dns",
            Self::Encoding => "encoding",
            Self::Local => "local limit",
            Self::Protocol => "protocol",
            Self::Reset => "connection reset",
            Self::StreamReset => "stream reset",
            Self::Timeout => "timeout",
            Self::Tls => "tls",
        }
    }
}
