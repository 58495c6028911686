//! Where a test may put things: a free port, a folder of its own.

use std::io;
use std::net::{Ipv4Addr, TcpListener};

pub use tempfile::TempDir;

/// A port of 127.0.0.1 that nothing listens on at the moment.
///
/// Another process can take it before the caller does, so prefer port 0 wherever the listener can
/// say which one it got. Good for an address that must refuse connections.
///
/// # Errors
/// No port is free.
pub fn free_port() -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

/// An empty folder that is deleted when dropped.
///
/// # Errors
/// The system's folder for temporary files cannot be written.
pub fn temp_dir() -> io::Result<TempDir> {
    tempfile::Builder::new().prefix("sojourn-test-").tempdir()
}
