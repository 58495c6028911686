//! Fake peers with known truth, for tests.
//!
//! A load tool is tested against servers whose behaviour is known exactly, not against servers
//! that usually behave. Nearly every peer here is the server of `sojourn-mock` on one thread and a
//! free port of 127.0.0.1, stops and is joined when dropped, and keeps a book that
//! a test can compare with what was measured from outside:
//!
//! - [`QueueServer`]: answers in the order of a queue with c servers ([`QueueModel`]) and remembers
//!   the arrival, start and finish of each request; [`theory`] says what the averages must be, and
//!   within which interval a run of n requests finds them.
//! - [`FreezingServer`]: answers at once, but does nothing at all during given windows.
//! - [`MisbehavingServer`]: closes, resets, stays silent, truncates, dribbles, talks nonsense.
//! - [`StreamServer`]: WebSockets and server-sent events, to whoever is connected.
//! - [`TlsFront`]: TLS before a server that speaks none.
//! - [`Server`] with a [`Responder`]: what they are made of, for a peer that a test needs once.
//! - [`services`]: real brokers and databases, on free ports, and a proxy that cuts them off.
//! - [`sojourn`]: runs the real binary in a folder and hands back what it printed.
//!
//! Invariants: truth is decided when a request arrives and never corrected afterwards (what the
//! kernel or a busy machine adds is recorded apart, as `sent_ns`); no peer sleeps on its loop
//! except to be frozen; every buffer, queue and book has a bound and says what it refused.
//!
//! For tests only: no production crate depends on this one.

mod command;
mod freezing_server;
mod misbehaving_server;
mod place;
mod queue_server;
mod server;
#[cfg(test)]
mod simulated;
mod stream_server;
pub mod theory;
mod tls_front;

pub use command::{Output, Program, Running, sojourn, sojourn_path};
pub use freezing_server::{FreezingServer, Window};
pub use misbehaving_server::{MisbehavingServer, Misbehaviour};
pub use place::{TempDir, closed_port, free_port, temp_dir};
pub use queue_server::{QueueServer, QueueShape};
pub use server::{Server, response};
pub use sojourn_mock::{
    Draws, Latency, QueueModel, Reply, Request, Responder, Slot, Step, TruthRecord,
};
pub use sojourn_services as services;
pub use stream_server::{StreamMessage, StreamServer};
pub use tls_front::TlsFront;
