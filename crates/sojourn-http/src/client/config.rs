//! What a client is made with, and what it counts.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use crate::{ConnectTo, DnsOptions, Io, Proxies, TlsOptions};

/// When to speak HTTP/2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Http2 {
    /// Over TLS where the server agrees to it in the handshake (ALPN), else HTTP/1.1.
    Alpn,
    /// Never.
    #[default]
    Off,
    /// Always: without TLS by prior knowledge; over TLS the server must agree to it. Only what a
    /// proxy itself sends on (plain HTTP through an HTTP proxy) stays HTTP/1.1.
    PriorKnowledge,
}

/// Ends of an origin's connections, where they are not what they would be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// Where they come from, instead of [`ClientConfig::local_addresses`].
    pub local: Option<IpAddr>,
    /// Where they go, instead of the origin's host and port; requests stay as they are. A proxy
    /// stays where it is.
    pub to: Option<SocketAddr>,
}

/// Why an address may not be dialled, in words; `None` if it may.
#[derive(Clone)]
pub struct AddressRule(pub Arc<dyn Fn(IpAddr) -> Option<String> + Send + Sync>);

impl fmt::Debug for AddressRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("AddressRule")
    }
}

/// What a client is made with.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// Most connections per origin; a request beyond it waits, which shows as blocked. 0: no limit.
    pub connections_max: usize,
    /// When to speak HTTP/2.
    pub http2: Http2,
    /// Most requests at a time on one connection that speaks HTTP/2; fewer where the server says
    /// so. A request beyond it opens another connection. Zero counts as one.
    pub http2_streams_max: u32,
    /// How long answers may be left where they are so that several are looked at together,
    /// nanoseconds: on epoll, while many requests are under way, and for no more than a small part
    /// of what the last one took. It shows in what they take. 0: never.
    pub gather_ns: u64,
    /// Most kept-alive connections of HTTP/1.1 per origin that wait for a request; one more is
    /// closed.
    pub idle_max: usize,
    /// Connections carry one request after the other. Without it each request has its own, and says
    /// `Connection: close` unless it has that header.
    pub keep_alive: bool,
    /// A request goes once more on a fresh connection when the one used again was closed before any
    /// byte of the answer. Off where a server may have taken it and must not take it twice.
    pub resend: bool,
    /// How long to try to get a connection up (name, TCP, proxy and TLS together), nanoseconds.
    /// Beyond it the request fails as [`crate::FailureKind::Connect`].
    pub connect_timeout_ns: u64,
    /// After how long a silence the kernel asks whether the other end of a TCP connection is still
    /// there, then every 15 s, nanoseconds, of which whole seconds count (1 to 32,767). 0: never.
    pub tcp_keep_alive_ns: u64,
    /// What it waits and moves its bytes with.
    pub io: Io,
    /// Waits end on time, at the price of looking out for the last microseconds instead of
    /// sleeping, as many as wake-ups here are usually late. Without it they end that much later.
    pub punctual: bool,
    /// Never sleeps in a wait: asks again and again until something has come or the instant has.
    /// Nothing is late by a wake-up then, and the thread takes a whole core.
    pub spin: bool,
    /// Whom to trust, who to be.
    pub tls: TlsOptions,
    /// How names are looked up.
    pub dns: DnsOptions,
    /// Where connections go instead.
    pub connect_to: Vec<ConnectTo>,
    /// Which addresses are never dialled, whatever name or replacement they come from. A name that
    /// has others too is reached by those; else the request fails as
    /// [`crate::FailureKind::Connect`], with the rule's words alone.
    pub refuse: Option<AddressRule>,
    /// Addresses of this machine that connections come from, in turn; empty: the kernel chooses.
    /// Each has a range of ports of its own, 28,232 by default, for each remote address and port.
    pub local_addresses: Vec<IpAddr>,
    /// Every connection goes to this socket; the origin only matters for Host header and TLS.
    /// Stands in for names, `connect_to`, `local_addresses` and proxies.
    pub unix_socket: Option<PathBuf>,
    /// Proxies on the way.
    pub proxies: Proxies,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            connections_max: 10_000,
            http2: Http2::Off,
            http2_streams_max: 100,
            gather_ns: 0,
            idle_max: 10_000,
            keep_alive: true,
            resend: true,
            connect_timeout_ns: 10 * sojourn_clock::SECOND_NS,
            tcp_keep_alive_ns: 0,
            io: Io::Auto,
            punctual: true,
            spin: false,
            tls: TlsOptions::default(),
            dns: DnsOptions::default(),
            connect_to: Vec::new(),
            refuse: None,
            local_addresses: Vec::new(),
            unix_socket: None,
            proxies: Proxies::default(),
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
    /// Name look-ups ended, of which the next failed.
    pub look_ups: u64,
    /// Name look-ups that found no address.
    pub look_ups_failed: u64,
}
