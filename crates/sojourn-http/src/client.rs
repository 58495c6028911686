//! The client: pools, connections, the event loop.

use std::io;

use crate::{Completion, Exchange, Origin, OriginId};

/// What a client is made with.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// Most connections per origin; a request beyond it waits, which shows as blocked.
    pub connections_max: usize,
    /// How long to try to connect, nanoseconds.
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
            connect_timeout_ns: 10 * sojourn_clock::SECOND_NS,
            ca_file: None,
            insecure: false,
        }
    }
}

/// A client; see the crate's page. Not `Sync`: one thread's own.
#[derive(Debug)]
pub struct Client {}

/// Wakes a client that waits, from any thread.
#[derive(Clone, Debug)]
pub struct Waker {}

impl Waker {
    /// Makes a present or the next `wait_until` return at once.
    pub fn wake(&self) {}
}

impl Client {
    /// A client with its own event loop.
    pub fn new(_config: ClientConfig) -> io::Result<Self> {
        Ok(Self {})
    }

    /// Registers an origin; the same origin gets the same number.
    pub fn origin(&mut self, _origin: &Origin) -> OriginId {
        OriginId(0)
    }

    /// Takes a request up at `now_ns` (its t1): writes it at once on a free connection, else opens
    /// one, else queues it. Never blocks. Its completion comes out of [`Self::wait_until`].
    pub fn send(&mut self, _now_ns: u64, _exchange: Exchange<'_>) {}

    /// Works until `deadline_ns` or until there is at least one completion or a wake-up, whichever
    /// is first; appends completions. A deadline in the past polls once without waiting.
    pub fn wait_until(
        &mut self,
        _deadline_ns: u64,
        _completions: &mut Vec<Completion>,
    ) -> io::Result<()> {
        Ok(())
    }

    /// A handle that wakes this client from other threads.
    pub fn waker(&self) -> Waker {
        Waker {}
    }

    /// Requests taken up and not completed.
    pub fn in_flight(&self) -> usize {
        0
    }

    /// Connections open now.
    pub fn connections(&self) -> usize {
        0
    }
}
