//! The seam to the kernel: every system call of a client is made in here.
//!
//! A driver opens sockets, sends, receives and waits. The client above it owns connections and
//! decides; it never sees a descriptor. The contract, so that another driver (a ring) can stand in:
//!
//! - [`Driver::open`] begins to connect; a [`Ready`] with `writable` follows, then
//!   [`Driver::connected`] tells how it went.
//! - [`Driver::send`] takes as many bytes as it can now; when that is not all, a `writable`
//!   follows.
//! - [`Driver::receive`] lends what has come, from a buffer of the driver's own, so that idle
//!   connections hold none. After a `readable`, receive until a short read or
//!   [`Received::Nothing`].
//! - [`Driver::wait_until`] waits with nanosecond precision and reports what is ready.

mod epoll;
mod remote;
mod waker;

pub(crate) use epoll::{Driver, Socket};
pub(crate) use remote::{Remote, try_local};
pub use waker::Waker;

/// A connection as the driver names it: slot and generation, so that an event for a closed
/// connection never reaches the next one in its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionId {
    /// Slot in the client's slab.
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
        /// The bytes, until the next receive.
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
    /// [`Waker::wake`] was called.
    pub(crate) woken: bool,
    /// Something inside the client (the resolver) called.
    pub(crate) called: bool,
}
