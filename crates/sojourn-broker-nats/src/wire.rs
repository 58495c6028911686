//! Bytes to and from a server, with or without TLS. Nothing here waits.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};

use rustls::{ClientConnection, StreamOwned};

/// A socket that does not block.
pub(crate) enum Wire {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Wire {
    /// Reads what is there: `None` nothing now, `Some(0)` the end.
    pub(crate) fn read(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        let read = match self {
            Self::Plain(stream) => stream.read(into),
            Self::Tls(stream) => stream.read(into),
        };
        unless_blocked(read)
    }

    /// Writes what can be taken; `None` nothing now.
    pub(crate) fn write(&mut self, from: &[u8]) -> io::Result<Option<usize>> {
        let written = match self {
            Self::Plain(stream) => stream.write(from),
            Self::Tls(stream) => stream.write(from),
        };
        unless_blocked(written)
    }

    /// Whether TLS still holds bytes that the socket did not take.
    pub(crate) fn holds_back(&self) -> bool {
        matches!(self, Self::Tls(stream) if stream.conn.wants_write())
    }

    /// Sends what TLS holds, as far as the socket takes it.
    pub(crate) fn push(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Tls(stream) => unless_blocked(stream.flush()).map(drop),
        }
    }
}

impl AsFd for Wire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Plain(stream) => stream.as_fd(),
            Self::Tls(stream) => stream.sock.as_fd(),
        }
    }
}

fn unless_blocked<T>(outcome: io::Result<T>) -> io::Result<Option<T>> {
    match outcome {
        Ok(done) => Ok(Some(done)),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
