//! The seam to the kernel: every system call of a client is made in here.
//!
//! A driver opens sockets, sends, receives and waits. The client above it owns connections and
//! decides; it never sees a descriptor. There are two drivers, [`epoll`] and [`ring`] (io_uring),
//! and [`Io`] chooses between them when a client is made. The contract that both keep:
//!
//! - [`Driver::open`] begins to connect; a [`Ready`] with `writable` follows, then
//!   [`Driver::connected`] tells how it went.
//! - [`Driver::send`] takes as many bytes as it can now; when that is not all, a `writable`
//!   follows. What it has taken it sends by itself, at the latest with the next wait; should that
//!   fail, a `hangup` follows and [`Driver::receive`] tells the error after all that has come.
//! - [`Driver::receive`] lends what has come, from a buffer of the driver's own, so that idle
//!   connections hold none. After a `readable`, receive until `drained` or [`Received::Nothing`].
//! - [`Driver::close`] ends a connection at once; nothing of it is reported afterwards.
//! - [`Driver::wait_until`] waits with nanosecond precision and reports what is ready.

mod epoll;
mod punctual;
mod remote;
mod ring;
mod socket;
mod timing;
mod waker;

use std::io;

use rustix::io::Errno;

pub(crate) use punctual::{Punctual, look_out};
pub(crate) use remote::{OurEnd, Remote, try_local};
pub(crate) use socket::Socket;
pub use waker::Waker;

/// What a client waits and moves its bytes with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Io {
    /// The ring where the kernel allows it, else epoll.
    #[default]
    Auto,
    /// epoll: a send and a receive per request are system calls (Linux 5.11 or later).
    Epoll,
    /// io_uring: one system call submits and waits for a whole batch (Linux 6.0 or later, and
    /// forbidden in many sandboxes and containers).
    Ring,
}

impl Io {
    /// The name in reports and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Epoll => "epoll",
            Self::Ring => "ring",
        }
    }
}

/// A driver; see the [contract](self). The ring's is boxed: it is the larger by far.
pub(crate) enum Driver {
    Epoll(epoll::Driver),
    Ring(Box<ring::Driver>),
}

impl Driver {
    /// The driver that `io` asks for; `Auto` takes epoll when the ring is refused.
    pub(crate) fn new(io: Io) -> io::Result<Self> {
        let ring = || ring::Driver::new().map(|driver| Self::Ring(Box::new(driver)));
        let epoll = || epoll::Driver::new().map(Self::Epoll);
        match io {
            Io::Auto => ring().or_else(|_refused| epoll()),
            Io::Epoll => epoll(),
            Io::Ring => ring(),
        }
    }

    /// Which one it is; never [`Io::Auto`].
    pub(crate) fn io(&self) -> Io {
        match self {
            Self::Epoll(_) => Io::Epoll,
            Self::Ring(_) => Io::Ring,
        }
    }

    pub(crate) fn waker(&self) -> Waker {
        match self {
            Self::Epoll(driver) => driver.waker(),
            Self::Ring(driver) => driver.waker(),
        }
    }

    /// Opens a socket and begins to connect it.
    pub(crate) fn open(
        &mut self,
        id: ConnectionId,
        remote: &Remote,
        our_end: OurEnd,
    ) -> Result<Socket, Errno> {
        match self {
            Self::Epoll(driver) => driver.open(id, remote, our_end),
            Self::Ring(driver) => driver.open(id, remote, our_end),
        }
    }

    /// How connecting went, once the socket is writable.
    pub(crate) fn connected(&mut self, socket: &Socket) -> Result<(), Errno> {
        match self {
            Self::Epoll(_) => socket.error(),
            Self::Ring(driver) => driver.connected(socket),
        }
    }

    /// Sends as much as goes now.
    #[inline]
    pub(crate) fn send(&mut self, socket: &Socket, bytes: &[u8]) -> Result<usize, Errno> {
        match self {
            Self::Epoll(_) => socket.send(bytes),
            Self::Ring(driver) => driver.send(socket, bytes),
        }
    }

    /// Whether a message of this length is only copied by [`Self::send`], which then takes no time
    /// worth a look at the clock.
    #[inline]
    pub(crate) fn is_batched(&self, length: usize) -> bool {
        matches!(self, Self::Ring(_)) && length <= ring::MESSAGE_BYTES
    }

    /// Receives once.
    #[inline]
    pub(crate) fn receive(&mut self, socket: &Socket) -> Result<Received<'_>, Errno> {
        match self {
            Self::Epoll(driver) => driver.receive(socket),
            Self::Ring(driver) => driver.receive(socket),
        }
    }

    /// Ends a connection.
    pub(crate) fn close(&mut self, socket: Socket) {
        match self {
            Self::Epoll(_) => drop(socket),
            Self::Ring(driver) => driver.close(socket),
        }
    }

    /// Waits until something is ready or the instant has come, and appends what is ready. Returns
    /// early when interrupted by a signal.
    #[inline]
    pub(crate) fn wait_until(
        &mut self,
        deadline_ns: u64,
        ready: &mut Vec<Ready>,
    ) -> io::Result<Waited> {
        match self {
            Self::Epoll(driver) => driver.wait_until(deadline_ns, ready),
            Self::Ring(driver) => driver.wait_until(deadline_ns, ready),
        }
    }
}

/// A connection as the driver names it: slot and generation, so that an event for a closed
/// connection never reaches the next one in its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionId {
    /// Slot in the client's table.
    pub(crate) slot: u32,
    /// How many connections the client had opened before it, wrapping.
    pub(crate) generation: u32,
}

/// A connection that can go on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    /// Which.
    pub(crate) id: ConnectionId,
    /// Bytes or the end have come.
    pub(crate) readable: bool,
    /// There is room to send, or connecting has ended.
    pub(crate) writable: bool,
    /// The other end sends no more, or the connection is broken: receive until the end.
    pub(crate) hangup: bool,
}

/// What one receive brought.
#[derive(Debug)]
pub(crate) enum Received<'a> {
    /// Bytes; `drained` when nothing else waits (a short read).
    Bytes {
        /// The bytes, until the next call of the driver.
        bytes: &'a [u8],
        /// Nothing else waits now.
        drained: bool,
    },
    /// The other end has closed its direction.
    End,
    /// Nothing now.
    Nothing,
}

/// Why [`Driver::wait_until`] returned, besides readiness.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waited {
    /// The instant after the wait.
    pub(crate) now_ns: u64,
    /// The kernel was asked to wait, not only to look.
    pub(crate) slept: bool,
    /// [`Waker::wake`] was called.
    pub(crate) woken: bool,
    /// Something inside the client (the resolver) called.
    pub(crate) called: bool,
}

impl Waited {
    /// There was no need to.
    pub(crate) fn not() -> Self {
        let now_ns = sojourn_clock::now_ns();
        Self { now_ns, slept: false, woken: false, called: false }
    }
}
