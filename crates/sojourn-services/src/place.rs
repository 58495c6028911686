//! Where a server may put things: free ports and a folder of its own.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener};
use std::os::unix::fs::chown;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with};
use tempfile::TempDir;

/// Below this, well-known services have their ports.
const PORT_MIN: u32 = 12_000;

/// A port of 127.0.0.1 that nothing listens on.
///
/// It lies below those which the kernel gives to outgoing connections, so that none of these can
/// take it while a server is down between two starts.
///
/// # Errors
/// No port is free.
pub fn free_port() -> io::Result<u16> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let end = first_outgoing_port();
    if end <= PORT_MIN + 1000 {
        return Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port());
    }
    let span = end - PORT_MIN;
    // Test binaries that run side by side begin in different places.
    let begin = std::process::id().wrapping_mul(7919);
    for _ in 0..span {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let candidate = PORT_MIN + begin.wrapping_add(step) % span;
        let Ok(port) = u16::try_from(candidate) else { continue };
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    Err(io::Error::new(io::ErrorKind::AddrInUse, "no port of 127.0.0.1 is free"))
}

/// A port of 127.0.0.1 that refuses connections until this process ends: it is taken, so that
/// nobody else gets it, and not listened on.
///
/// # Errors
/// No descriptor or no port is free.
pub fn closed_port() -> io::Result<u16> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
    let address = SocketAddr::try_from(getsockname(&socket)?)?;
    // Never closed, which would give the port away.
    std::mem::forget(socket);
    Ok(address.port())
}

fn first_outgoing_port() -> u32 {
    std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range")
        .ok()
        .and_then(|range| range.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

/// An empty folder for a server, deleted when dropped.
pub(crate) fn folder(name: &str) -> io::Result<TempDir> {
    tempfile::Builder::new().prefix(&format!("sojourn-{name}-")).tempdir()
}

/// Makes the folder and all in it another user's.
pub(crate) fn give_away(path: &Path, user: u32) -> io::Result<()> {
    chown(path, Some(user), Some(user))?;
    if path.is_dir() {
        for entry in std::fs::read_dir(path)? {
            give_away(&entry?.path(), user)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn ports_are_free_and_never_given_twice_in_a_row() {
        let ports: Vec<u16> = (0..50).map(|_| free_port().unwrap()).collect();
        let mut distinct = ports.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), ports.len());
        TcpListener::bind((Ipv4Addr::LOCALHOST, ports[0])).unwrap();
    }
    #[test]
    fn a_closed_port_refuses_connections_and_is_nobodys() {
        let address = (Ipv4Addr::LOCALHOST, closed_port().unwrap());
        let refused = TcpStream::connect(address).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        let taken = TcpListener::bind(address).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
    }
}
