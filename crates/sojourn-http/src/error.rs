//! How a request can fail.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use crate::TlsFault;

/// A failed request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Failure {
    /// What kind, for counting.
    pub kind: FailureKind,
    /// In words, with address and figures; never a secret.
    pub detail: String,
    /// In parts, as far as they are known: for whoever has words of its own for it.
    pub circumstances: Option<Box<Circumstances>>,
}

impl Failure {
    /// A failure of which nothing is known but its words.
    pub fn new(kind: FailureKind, detail: String) -> Self {
        Self { kind, detail, circumstances: None }
    }
}

/// What a failure is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Circumstances {
    /// The end that was dialled or spoken to.
    pub far_end: Option<FarEnd>,
    /// Our address, where it was chosen.
    pub local: Option<IpAddr>,
    /// The far end, or the name that was looked up, is a proxy's.
    pub is_proxy: bool,
    /// What the kernel said.
    pub errno: Option<i32>,
    /// The name that has no addresses.
    pub no_such_host: Option<NoSuchHost>,
    /// What the TLS handshake failed by.
    pub tls: Option<TlsFault>,
    /// The answer's head had come.
    pub has_head: bool,
}

/// The other end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FarEnd {
    /// Address and port.
    Tcp(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

/// A name without addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchHost {
    /// The name.
    pub host: String,
    /// It is known to have none; else that could not be found out.
    pub is_known: bool,
    /// In words.
    pub why: String,
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
