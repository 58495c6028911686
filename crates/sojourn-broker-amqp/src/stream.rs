//! A socket that never blocks, with or without TLS.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustls::ClientConnection;

use crate::tls::ServerTls;

/// A connection's bytes. Reads and writes do what is possible at once; the handshake of TLS goes on
/// within them.
pub(crate) struct Stream {
    socket: TcpStream,
    tls: Option<Box<ClientConnection>>,
}

impl Stream {
    /// Connects, trying each address of the host for at most `timeout` all together.
    pub(crate) fn connect(
        host: &str,
        port: u16,
        tls: &ServerTls,
        timeout: Duration,
    ) -> io::Result<Self> {
        let addresses: Vec<_> = (host, port).to_socket_addrs()?.collect();
        let each = timeout / u32::try_from(addresses.len().max(1)).unwrap_or(u32::MAX);
        let mut outcome = Err(io::Error::other("its host has no address"));
        for address in &addresses {
            outcome = TcpStream::connect_timeout(address, each);
            if outcome.is_ok() {
                break;
            }
        }
        let socket = outcome?;
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        let tls = match tls {
            Some((config, name)) => Some(Box::new(
                ClientConnection::new(config.clone(), name.clone()).map_err(io::Error::other)?,
            )),
            None => None,
        };
        Ok(Self { socket, tls })
    }

    /// Reads what is there. Errs with `WouldBlock` when that is nothing; zero is the end.
    pub(crate) fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            return self.socket.read(bytes);
        };
        loop {
            match tls.reader().read(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // Cut off without a goodbye.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                outcome => return outcome,
            }
            if tls.read_tls(&mut self.socket)? == 0 {
                return Ok(0);
            }
            let taken = tls.process_new_packets();
            // An alert of ours, or the handshake's next message. Where what came is wrong, that is
            // the error, whether or not the other side still takes our alert.
            let sent = send(tls, &mut self.socket);
            taken.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
            sent?;
        }
    }

    /// Whether the other side has not agreed on TLS yet.
    pub(crate) fn is_handshaking(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_handshaking())
    }

    /// Writes what it can. Errs with `WouldBlock` when that is nothing.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            return self.socket.write(bytes);
        };
        let taken = tls.writer().write(bytes)?;
        send(tls, &mut self.socket)?;
        match taken {
            0 if !bytes.is_empty() => Err(ErrorKind::WouldBlock.into()),
            taken => Ok(taken),
        }
    }

    /// Waits until there is something to read, until something can be written if `writing`, until
    /// `waker` is readable, or until the time is over.
    pub(crate) fn wait(
        &self,
        writing: bool,
        waker: Option<BorrowedFd<'_>>,
        timeout: Duration,
    ) -> io::Result<()> {
        let writing = writing || self.tls.as_ref().is_some_and(|tls| tls.wants_write());
        let flags = if writing { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let socket = PollFd::new(&self.socket, flags);
        let timeout = Timespec::try_from(timeout).map_err(io::Error::other)?;
        let polled = match waker {
            Some(waker) => {
                let waker = PollFd::from_borrowed_fd(waker, PollFlags::IN);
                poll(&mut [socket, waker], Some(&timeout))
            }
            None => poll(&mut [socket], Some(&timeout)),
        };
        match polled {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Hands records over to the socket until it takes no more.
fn send(tls: &mut ClientConnection, socket: &mut TcpStream) -> io::Result<()> {
    while tls.wants_write() {
        match tls.write_tls(socket) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
