//! The server: an address, threads with an event loop each, and a [`Responder`] that decides every
//! answer.

mod connection;
mod counters;
mod drive;
mod listener;
mod outgoing;
mod reactor;
mod receive;
mod request;
mod waiting;

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::JoinHandle;

use rustix::event::{EventfdFlags, eventfd};
use sojourn_clock::SECOND_NS;

pub(crate) use counters::Counters;
pub use counters::{Figures, HoldTimes};
pub use request::{Header, Request, TlsFacts};
pub use waiting::Waiting;

use crate::reply::Reply;
use reactor::{Reactor, Seat};

/// Where and how a server serves.
#[derive(Clone)]
pub struct ServerConfig {
    /// Address; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Most connections of a thread; more are closed at once, and counted.
    pub connections_max: usize,
    /// A request's head must arrive within this time, and its body may not pause for as long,
    /// nanoseconds; else 408.
    pub request_timeout_ns: u64,
    /// Takes connections that do not begin with HTTP/1: TLS and HTTP/2.
    pub others: Option<Arc<dyn Takeover>>,
    /// How its threads wait.
    pub waiting: Waiting,
}

/// Serves connections that speak something else.
pub trait Takeover: Send + Sync {
    /// Whether it can serve a connection that begins like this.
    fn speaks(&self, first: &[u8]) -> bool;

    /// Takes a connection whose first bytes are these; false when it cannot.
    fn take(&self, socket: OwnedFd, first: Vec<u8>) -> bool;
}

/// The behaviour of a server: one for each of its threads, called on that thread only, so it must
/// not block.
pub trait Responder: 'static {
    /// How much of this request's body it wants to see; a longer one is answered 413. The body is
    /// read and thrown away when it wants none. Called before the body is known, perhaps twice.
    fn body_max(&mut self, request: &Request<'_>) -> usize {
        let _unused = request;
        0
    }

    /// Decides the answer to a request; called in order of arrival.
    fn respond(&mut self, request: &Request<'_>) -> Reply;

    /// The last byte of the reply with this tag was handed to the kernel.
    fn sent(&mut self, tag: u64, sent_ns: u64) {
        let _unused = (tag, sent_ns);
    }

    /// The client left before the reply with this tag.
    fn abandoned(&mut self, tag: u64) {
        let _unused = tag;
    }

    /// When frozen at `now_ns`: the instant at which it thaws. Meanwhile the server accepts, reads
    /// and sends nothing (the kernel still completes handshakes, as for any stalled process).
    fn frozen_until(&self, now_ns: u64) -> Option<u64> {
        let _unused = now_ns;
        None
    }

    /// Called once for each wake-up of the thread, after everything else.
    fn after_batch(&mut self) {}

    /// When [`Self::after_batch`] is to be called at the latest; `None`: with the next wake-up.
    fn wanted_ns(&self) -> Option<u64> {
        None
    }
}

/// A server at work; dropped, it stops at once and its threads are joined.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    counters: Vec<Arc<Counters>>,
    threads: Vec<JoinHandle<()>>,
}

/// What a server's threads are told.
#[derive(Debug)]
struct Shared {
    stage: AtomicU8,
    wakes: Vec<OwnedFd>,
}

const SERVING: u8 = 0;
/// No new connections; what is held is still answered.
const DRAINING: u8 = 1;
const STOPPED: u8 = 2;

impl Default for ServerConfig {
    /// A free port of 127.0.0.1, 100,000 connections, 30 s for a request.
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            connections_max: 100_000,
            request_timeout_ns: 30 * SECOND_NS,
            others: None,
            waiting: Waiting::Asleep,
        }
    }
}

impl Server {
    /// Starts one thread for each of `makers`, which makes the thread's responder there. Each has
    /// an event loop and a listener of its own.
    ///
    /// # Errors
    /// The address is taken or not ours; no maker; no descriptor or thread to be had.
    pub fn start<R: Responder, M: FnOnce() -> R + Send + 'static>(
        config: &ServerConfig,
        makers: Vec<M>,
    ) -> io::Result<Self> {
        let threads = NonZeroUsize::new(makers.len()).ok_or(io::ErrorKind::InvalidInput)?;
        let listeners = listener::open(config.listen, threads)?;
        let address = listener::address_of(&listeners)?;
        let wake = |_| eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let shared = Arc::new(Shared {
            stage: AtomicU8::new(SERVING),
            wakes: (0..threads.get()).map(wake).collect::<Result<_, _>>()?,
        });
        let mut server = Self { address, shared, counters: Vec::new(), threads: Vec::new() };
        for (number, (listener, make)) in listeners.into_iter().zip(makers).enumerate() {
            let counters = Arc::new(Counters::default());
            server.counters.push(counters.clone());
            let seat = Seat::new(listener, number, server.shared.clone(), counters)?;
            let config = config.clone();
            let thread = std::thread::Builder::new()
                .name(format!("mock-{}", address.port()))
                .spawn(move || Reactor::new(seat, &config).run(make()))?;
            server.threads.push(thread);
        }
        Ok(server)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of a path (which starts with `/`) on this server.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What its threads have counted so far, added up.
    pub fn figures(&self) -> Figures {
        let mut figures = Figures::default();
        for counters in &self.counters {
            counters.add_to(&mut figures);
        }
        figures
    }

    /// A handle that others may read the figures from.
    pub fn meter(&self) -> Meter {
        Meter { counters: self.counters.clone() }
    }

    /// Stops accepting, closes idle connections, and answers what is held; each connection ends
    /// with its answer.
    pub fn drain(&self) {
        self.tell(DRAINING);
    }

    /// Whether every thread has ended: after a drain, everything was answered.
    pub fn has_ended(&self) -> bool {
        self.threads.iter().all(JoinHandle::is_finished)
    }

    fn tell(&self, stage: u8) {
        self.shared.stage.fetch_max(stage, Ordering::SeqCst);
        for wake in &self.shared.wakes {
            // Fails only at 2^64 - 2, and then the thread wakes anyway.
            let _written = rustix::io::write(wake, &1_u64.to_ne_bytes());
        }
    }
}

/// Reads a server's figures from elsewhere.
#[derive(Clone)]
pub struct Meter {
    counters: Vec<Arc<Counters>>,
}

impl Meter {
    /// The same with those of somebody who serves connections for the server. Connections are
    /// counted where they were accepted.
    pub(crate) fn with(mut self, counters: Arc<Counters>) -> Self {
        self.counters.push(counters);
        self
    }

    /// What the server's threads have counted so far, added up.
    pub fn figures(&self) -> Figures {
        let mut figures = Figures::default();
        for counters in &self.counters {
            counters.add_to(&mut figures);
        }
        figures
    }
}

impl Shared {
    fn stage(&self) -> u8 {
        self.stage.load(Ordering::Relaxed)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.tell(STOPPED);
        for thread in self.threads.drain(..) {
            // A responder that panicked has already shown its message on its own thread.
            let _joined = thread.join();
        }
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Server")
            .field("address", &self.address)
            .field("threads", &self.threads.len())
            .finish_non_exhaustive()
    }
}
