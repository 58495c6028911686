//! NATS subjects.

use std::path::PathBuf;

use super::Server;

/// NATS subjects: a core subscription, or an ordered consumer of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NatsChannel {
    /// Where: `nats://` or `tls://`.
    pub server: Server,
    /// Subjects, with NATS's wildcards.
    pub subjects: Vec<String>,
    /// The JetStream stream to read by an ordered ephemeral consumer, and to have publishing
    /// acknowledged by; `None`: core NATS.
    pub stream: Option<String>,
    /// File of credentials (a user's JWT and seed, or the seed alone).
    pub credentials: Option<PathBuf>,
    /// JetStream's domain, where it is not the server's own.
    pub domain: Option<String>,
    /// What subjects for answers begin with; `None`: `_INBOX`.
    pub inbox: Option<String>,
    /// Whether TLS comes before the server's greeting.
    pub tls_first: bool,
}
