//! What can go wrong before a link stands, and what ends one.

/// Why there is no link.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// The join key cannot be read or is none.
    #[error("{0}")]
    Key(String),
    /// No certificate could be made, or TLS cannot be used.
    #[error("cannot prepare TLS: {0}")]
    Tls(String),
    /// Nobody can be listened to.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// Where.
        address: String,
        /// The system's word.
        error: std::io::Error,
    },
    /// The coordinator did not answer in time.
    #[error("no coordinator at {address} within {seconds} s: {last}")]
    Unreachable {
        /// Where.
        address: String,
        /// How long was tried.
        seconds: f64,
        /// What the last try met.
        last: String,
    },
    /// Whoever dialled does not want to any more.
    #[error("interrupted before the coordinator at {0} had let it in")]
    Interrupted(String),
    /// The coordinator, or who poses as it, is not the one of the key.
    #[error(
        "who answers at {0} is not the coordinator of this key (the key is of another run, or \
         somebody stands in between)"
    )]
    Stranger(String),
    /// The coordinator said no.
    #[error("the coordinator refuses this generator: {0}")]
    Refused(String),
    /// The other side did not keep to the protocol.
    #[error("the other side broke the protocol: {0}")]
    Protocol(String),
    /// The connection ended.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}
