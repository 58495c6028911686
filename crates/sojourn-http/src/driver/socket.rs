//! A TCP socket as both drivers have it.

use std::net::SocketAddr;

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, ipproto, sockopt};

/// An open socket. It goes back to its driver by [`super::Driver::close`].
#[derive(Debug)]
pub(crate) struct Socket {
    pub(super) descriptor: OwnedFd,
    /// The connection's slot.
    pub(super) slot: u32,
}

impl Socket {
    /// Opens a socket and begins to connect it.
    pub(super) fn connect(slot: u32, address: SocketAddr) -> Result<Self, Errno> {
        let family = match address {
            SocketAddr::V4(_) => AddressFamily::INET,
            SocketAddr::V6(_) => AddressFamily::INET6,
        };
        let descriptor = rustix::net::socket_with(
            family,
            SocketType::STREAM,
            SocketFlags::NONBLOCK | SocketFlags::CLOEXEC,
            Some(ipproto::TCP),
        )?;
        sockopt::set_tcp_nodelay(&descriptor, true)?;
        match rustix::net::connect(&descriptor, &address) {
            Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(Self { descriptor, slot }),
            Err(errno) => Err(errno),
        }
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
