//! What a client is made with, and what it counts.

/// When to speak HTTP/2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Http2 {
    /// Over TLS where the server agrees to it in the handshake (ALPN), else HTTP/1.1.
    Alpn,
    /// Never.
    #[default]
    Off,
    /// Always: without TLS by prior knowledge; over TLS the server must agree to it.
    PriorKnowledge,
}

/// What a client is made with.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// Most connections per origin; a request beyond it waits, which shows as blocked.
    pub connections_max: usize,
    /// When to speak HTTP/2.
    pub http2: Http2,
    /// Most requests at a time on one connection that speaks HTTP/2; fewer where the server says
    /// so. A request beyond it opens another connection. Zero counts as one.
    pub http2_streams_max: u32,
    /// How long to try to get a connection up (name, TCP and TLS together), nanoseconds. Beyond it
    /// the request fails as [`crate::FailureKind::Connect`].
    pub connect_timeout_ns: u64,
    /// PEM file of certificates trusted besides the system's.
    pub ca_file: Option<std::path::PathBuf>,
    /// Do not verify the server's certificate; said loudly in reports.
    pub insecure: bool,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            connections_max: 10_000,
            http2: Http2::Off,
            http2_streams_max: 100,
            connect_timeout_ns: 10 * sojourn_clock::SECOND_NS,
            ca_file: None,
            insecure: false,
        }
    }
}

/// What a client has counted since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCounters {
    /// Connections begun: sockets opened, whether or not they came up.
    pub connections_opened: u64,
    /// Idle connections closed by the other end, or by us because bytes came that nobody asked for.
    pub idle_closed: u64,
    /// Requests refused because too many already waited for a connection.
    pub refused: u64,
    /// Requests sent once more on a fresh connection, because the one used again was closed before
    /// any byte of the answer.
    pub stale_retries: u64,
    /// Requests sent once more because the server said that it had not touched them: HTTP/2 streams
    /// that it refused, or that a GOAWAY left out.
    pub untouched_retries: u64,
}
