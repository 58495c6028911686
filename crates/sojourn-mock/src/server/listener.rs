//! Listening sockets: one per thread, between which the kernel shares connections out.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;

use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

/// Handshakes that the kernel may complete before a thread accepts them.
const BACKLOG: i32 = 8192;

/// Opens `count` listeners on one address.
pub(super) fn open(address: SocketAddr, count: NonZeroUsize) -> io::Result<Vec<TcpListener>> {
    let one = |address, shared| -> io::Result<TcpListener> {
        let family = match address {
            SocketAddr::V4(_) => AddressFamily::INET,
            SocketAddr::V6(_) => AddressFamily::INET6,
        };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        if shared {
            sockopt::set_socket_reuseport(&socket, true)?;
        }
        rustix::net::bind(&socket, &address)?;
        rustix::net::listen(&socket, BACKLOG)?;
        Ok(socket.into())
    };
    // Alone first: sockets that share a port would join those of another server silently.
    let alone = one(address, false)?;
    if count.get() == 1 {
        return Ok(vec![alone]);
    }
    let address = alone.local_addr()?;
    drop(alone);
    (0..count.get()).map(|_| one(address, true)).collect()
}

/// The address that all of them have.
pub(super) fn address_of(listeners: &[TcpListener]) -> io::Result<SocketAddr> {
    let first = listeners.first().ok_or(io::ErrorKind::InvalidInput)?;
    first.local_addr()
}
