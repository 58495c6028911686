//! Waking a waiting client from other threads.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};

/// Wakes a client that waits, from any thread.
#[derive(Clone, Debug)]
pub struct Waker {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    eventfd: OwnedFd,
    /// Somebody woke the client and it has not yet noticed: more wakers need not write again.
    woken: AtomicBool,
}

impl Waker {
    pub(crate) fn new() -> io::Result<Self> {
        let eventfd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { shared: Arc::new(Shared { eventfd, woken: AtomicBool::new(false) }) })
    }

    /// Makes a present or the next `wait_until` return at once. Calls that come before it has
    /// returned are one.
    pub fn wake(&self) {
        // Whoever turns it on writes; the client reads the descriptor before it turns it off, so a
        // waker that finds it on is still seen.
        if !self.shared.woken.swap(true, Ordering::AcqRel) {
            self.call();
        }
    }

    /// Ends the kernel's wait without making `wait_until` return to its caller.
    pub(crate) fn call(&self) {
        // Fails only when the counter is full, and then the wait ends anyway.
        rustix::io::write(&self.shared.eventfd, &1_u64.to_ne_bytes()).ok();
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.shared.eventfd.as_fd()
    }

    /// Takes the call off and says whether it was a [`Self::wake`].
    pub(crate) fn take(&self) -> bool {
        let mut count = [0; 8];
        // Nothing to read means that an earlier take has read it.
        rustix::io::read(&self.shared.eventfd, &mut count).ok();
        self.shared.woken.swap(false, Ordering::AcqRel)
    }
}
