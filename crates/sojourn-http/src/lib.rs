//! HTTP client for load.
//!
//! Sans-IO codecs of HTTP/1.1 and HTTP/2 over pre-rendered requests, connections as state machines
//! in a table, one event loop ([`Client::wait_until`]) that owns waiting. One client belongs to one
//! thread; nothing in it locks, and a request in steady state allocates nothing but a kept answer.
//!
//! A request is an HTTP/1.1 message whatever is spoken: which protocol that is may be known only
//! after the TLS handshake, and a request sent again may meet the other one. Over HTTP/2 its head
//! becomes a header block when it is sent, once per distinct head.
//!
//! It knows nothing of schedules, journeys or reports.
//!
//! Words: an *exchange* is a request and its answer; an *origin* is scheme, host and port and has a
//! *pool* of connections; a request is *in flight* from [`Client::send`] to its [`Completion`], and
//! every one has exactly one.
//!
//! Inside: `codec` parses answers, `connection` is what a connection does with bytes, `client`
//! opens and closes connections and ends requests, `driver` makes every system call. HTTP/1.1 has
//! one request at a time on a connection; where HTTP/2 is spoken, `connection::http2` and
//! `client::streams` carry many. `route` is the way to an origin, past `proxy` and `connect_to`;
//! `resolver` finds the addresses of names.

mod amendment;
mod capacity;
mod cause;
mod client;
mod codec;
mod completion;
mod connect_to;
mod connection;
mod deadlines;
mod dialling;
mod driver;
mod error;
#[doc(hidden)]
pub mod foreign;
mod in_flight;
mod local_addresses;
mod origin;
mod peer;
mod pipeline;
mod pool;
mod prefetch;
mod proxy;
mod redirect;
mod render;
mod request;
mod requests;
mod resolver;
mod route;
mod spares;
mod table;
mod tls;

pub use capacity::{ConnectionCapacity, ConnectionLimits, PlannedConnections, Shortage};
pub use client::{AddressRule, Client, ClientConfig, ClientCounters, Ends, Greeting, Http2};
pub use codec::{Chunked, ChunkedPiece, CodecError};
pub use completion::{Completion, Response, Timings};
pub use connect_to::{ConnectTo, HostPort, HostPortError};
pub use driver::{Io, Waker};
pub use error::{Circumstances, Failure, FailureKind, FarEnd, NoSuchHost};
pub use origin::{Origin, OriginError, origin_host_header};
pub use peer::{Peer, PeerId, TlsAgreed};
pub use proxy::{NoProxy, Proxies, Proxy, ProxyError, ProxyKind, Tunnel};
pub use redirect::{RedirectError, next_location, redirected_method};
pub use render::{RequestError, write_request};
pub use request::{BodyPolicy, Exchange, OriginId};
pub use resolver::{
    DnsCache, DnsFamilies, DnsOptions, DnsSelect, DnsServerError, parse_dns_server,
};
pub use table::Table;
pub use tls::{
    ClientCertificate, HostCertificate, TlsFault, TlsOptions, TlsVersion, tls_settings,
    tls_settings_for,
};
