//! Waking a thread that waits for sockets.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};

/// Rung by others, heard in a `poll`. A clone is the same bell.
#[derive(Clone, Debug)]
pub(crate) struct Bell(Arc<OwnedFd>);

impl Bell {
    pub(crate) fn new() -> std::io::Result<Self> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        Ok(Self(Arc::new(eventfd(0, flags)?)))
    }

    /// Rings; ringing twice is ringing once.
    pub(crate) fn ring(&self) {
        // Full: it has been ringing 2^64 times and is still heard.
        let _ignored = rustix::io::write(&*self.0, &1u64.to_ne_bytes());
    }

    /// Ends the ringing.
    pub(crate) fn hush(&self) {
        // Nothing to read: it did not ring.
        let _ignored = rustix::io::read(&*self.0, &mut [0; 8]);
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
