//! A fake HTTP/1.1 peer: an address, a thread, and a [`Responder`] that decides every answer.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use rustix::event::{EventfdFlags, eventfd};

use crate::reactor::Reactor;
use crate::reply::Reply;

/// A request that has wholly arrived, body included (which is read and thrown away).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `POST` …
    pub method: String,
    /// The target as sent: path and query.
    pub path: String,
    /// When its last byte was read, `sojourn_clock` nanoseconds; never decreases from one request
    /// to the next. A pipelined request arrives when its predecessor is answered.
    pub arrival_ns: u64,
    /// The connection, counted from 0 in order of acceptance.
    pub connection: u64,
    pub(crate) close: bool,
}

/// The behaviour of a peer. Called on the peer's only thread, so it must not block.
pub trait Responder: Send + 'static {
    /// Decides the answer to a request; called in order of arrival.
    fn respond(&mut self, request: &Request) -> Reply;

    /// The last byte of the reply with this tag was handed to the kernel.
    fn sent(&mut self, tag: u64, sent_ns: u64) {
        let _unused = (tag, sent_ns);
    }

    /// When frozen at `now_ns`: the instant at which it thaws. Meanwhile the peer accepts, reads
    /// and sends nothing (the kernel still completes handshakes, as for any stalled process).
    fn frozen_until(&self, now_ns: u64) -> Option<u64> {
        let _unused = now_ns;
        None
    }
}

/// A peer at work; dropped, it stops and its thread is joined.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    counters: Arc<Counters>,
    wake: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

/// What the loop counts.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) accepted: AtomicU64,
    pub(crate) connections_refused: AtomicU64,
    pub(crate) requests: AtomicU64,
    pub(crate) requests_bad: AtomicU64,
}

impl Server {
    /// Starts on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// No port, descriptor or thread to be had.
    pub fn start(responder: impl Responder) -> io::Result<Self> {
        Self::start_at(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), responder)
    }

    /// Starts at this address; port 0 takes a free one.
    ///
    /// # Errors
    /// The address is taken or not ours; no descriptor or thread to be had.
    pub fn start_at(address: SocketAddr, responder: impl Responder) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let counters = Arc::new(Counters::default());
        let reactor = Reactor::new(listener, wake.clone(), counters.clone(), responder)?;
        let thread = std::thread::Builder::new()
            .name(format!("peer-{}", address.port()))
            .spawn(move || reactor.run())?;
        Ok(Self { address, counters, wake, thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of a path (which starts with `/`) on this peer.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Connections accepted so far.
    pub fn connections(&self) -> u64 {
        self.counters.accepted.load(Ordering::Relaxed)
    }

    /// Connections closed at once because too many were open, or no descriptor was left.
    pub fn connections_refused(&self) -> u64 {
        self.counters.connections_refused.load(Ordering::Relaxed)
    }

    /// Whole, well-formed requests read so far.
    pub fn requests(&self) -> u64 {
        self.counters.requests.load(Ordering::Relaxed)
    }

    /// Requests that were not HTTP/1.1, too long, or sent with a chunked body: answered 4xx or 501
    /// and closed, never shown to the responder.
    pub fn requests_bad(&self) -> u64 {
        self.counters.requests_bad.load(Ordering::Relaxed)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An eventfd write fails only at 2^64 - 2, and a responder that panicked has already shown
        // its message on its own thread.
        let _written = rustix::io::write(&*self.wake, &1_u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _joined = thread.join();
        }
    }
}
