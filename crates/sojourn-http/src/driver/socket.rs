//! A socket as both drivers have it.

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{SendFlags, sockopt};

use super::ConnectionId;

/// An open socket. It goes back to its driver by [`super::Driver::close`].
#[derive(Debug)]
pub(crate) struct Socket {
    pub(super) descriptor: OwnedFd,
    /// The connection's slot.
    pub(super) slot: u32,
}

impl Socket {
    pub(super) fn new(id: ConnectionId, descriptor: OwnedFd) -> Self {
        Self { descriptor, slot: id.slot }
    }

    /// The error that waits on the socket, taken off it.
    pub(super) fn error(&self) -> Result<(), Errno> {
        sockopt::socket_error(&self.descriptor)?
    }

    /// Sends as much as goes now.
    pub(super) fn send(&self, bytes: &[u8]) -> Result<usize, Errno> {
        loop {
            match rustix::net::send(&self.descriptor, bytes, SendFlags::NOSIGNAL) {
                Err(Errno::INTR) => {}
                sent => return sent,
            }
        }
    }
}
