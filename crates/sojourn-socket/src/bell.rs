//! Waking a thread that waits for its socket.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{read, write};

/// Rung by any thread, heard by the one that waits in [`crate::Socket::wait`].
#[derive(Debug)]
pub struct Bell(OwnedFd);

impl Bell {
    /// A bell that has not been rung.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?))
    }

    /// Ends the wait that goes on or comes next.
    pub fn ring(&self) {
        // It only fails when it has been rung 2^64 times and not been heard: it is rung then.
        let _rung = write(&self.0, &1_u64.to_ne_bytes());
    }

    /// Forgets that it was rung.
    pub fn hush(&self) {
        let _heard = read(&self.0, &mut [0; 8]);
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
