//! A TCP connection that never blocks, with or without TLS.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, BytesMut};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};
use sojourn_clock::now_ns;

/// Most bytes taken from the kernel at once.
const READ_BYTES: usize = 64 * 1024;

/// See the module.
pub(crate) struct Socket {
    tcp: TcpStream,
    tls: Option<Box<ClientConnection>>,
    scratch: Box<[u8]>,
}

impl Socket {
    /// Connects to the first address of the host that answers, until `deadline_ns`.
    pub(crate) fn connect(host: &str, port: u16, deadline_ns: u64) -> io::Result<Self> {
        let mut failed = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for address in (host, port).to_socket_addrs()? {
            let left = Duration::from_nanos(deadline_ns.saturating_sub(now_ns()));
            if left.is_zero() {
                break;
            }
            match TcpStream::connect_timeout(&address, left) {
                Ok(tcp) => {
                    tcp.set_nodelay(true)?;
                    tcp.set_nonblocking(true)?;
                    let scratch = vec![0; READ_BYTES].into_boxed_slice();
                    return Ok(Self { tcp, tls: None, scratch });
                }
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// Shakes hands for TLS; what is read and written from then on is enciphered.
    pub(crate) fn secure(
        &mut self,
        config: Arc<ClientConfig>,
        name: ServerName<'static>,
        deadline_ns: u64,
    ) -> io::Result<()> {
        let session = ClientConnection::new(config, name).map_err(io::Error::other)?;
        self.tls = Some(Box::new(session));
        let mut nothing = BytesMut::new();
        while self.tls.as_ref().is_some_and(|tls| tls.is_handshaking()) {
            self.write(&mut nothing)?;
            let mut none = BytesMut::new();
            self.read(&mut none)?;
            let tls = self.tls.as_ref();
            if tls.is_some_and(|tls| tls.is_handshaking() && !tls.wants_write()) {
                self.wait(false, deadline_ns, None)?;
            }
            if now_ns() >= deadline_ns {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "no answer to TLS in time"));
            }
        }
        self.write(&mut nothing)
    }

    /// Appends what is there, without waiting; zero when there is nothing. A connection that the
    /// server closed is an error.
    pub(crate) fn read(&mut self, into: &mut BytesMut) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            let count = read_once(&mut self.tcp, &mut self.scratch)?;
            into.extend_from_slice(&self.scratch[..count.unwrap_or(0)]);
            return match count {
                Some(0) => Err(closed()),
                count => Ok(count.unwrap_or(0)),
            };
        };
        let mut ended = false;
        match tls.read_tls(&mut self.tcp) {
            Ok(0) => ended = true,
            Ok(_) => {
                tls.process_new_packets()
                    .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            }
            Err(error) if is_later(&error) => {}
            Err(error) => return Err(error),
        }
        let before = into.len();
        while let Some(count) = read_once(&mut tls.reader(), &mut self.scratch)? {
            if count == 0 {
                ended = true;
                break;
            }
            into.extend_from_slice(&self.scratch[..count]);
        }
        match into.len() - before {
            0 if ended => Err(closed()),
            count => Ok(count),
        }
    }

    /// Sends as much as goes without waiting and takes it from the front.
    pub(crate) fn write(&mut self, from: &mut BytesMut) -> io::Result<()> {
        let Some(tls) = &mut self.tls else {
            while !from.is_empty() {
                match self.tcp.write(from) {
                    Ok(0) => return Err(closed()),
                    Ok(count) => from.advance(count),
                    Err(error) if is_later(&error) => return Ok(()),
                    Err(error) => return Err(error),
                }
            }
            return Ok(());
        };
        loop {
            while tls.wants_write() {
                match tls.write_tls(&mut self.tcp) {
                    Ok(_) => {}
                    Err(error) if is_later(&error) => return Ok(()),
                    Err(error) => return Err(error),
                }
            }
            if from.is_empty() {
                return Ok(());
            }
            let count = tls.writer().write(from)?;
            from.advance(count);
        }
    }

    /// Waits until there is something to read, or room to write where that is wanted, or `wake`
    /// can be read, until `deadline_ns`.
    pub(crate) fn wait(
        &self,
        to_write: bool,
        deadline_ns: u64,
        wake: Option<BorrowedFd<'_>>,
    ) -> io::Result<()> {
        let held_back = self.tls.as_ref().is_some_and(|tls| tls.wants_write());
        let mut flags = PollFlags::IN;
        if to_write || held_back {
            flags |= PollFlags::OUT;
        }
        let mut sockets = [
            PollFd::from_borrowed_fd(self.tcp.as_fd(), flags),
            PollFd::from_borrowed_fd(wake.unwrap_or_else(|| self.tcp.as_fd()), PollFlags::IN),
        ];
        let left = Duration::from_nanos(deadline_ns.saturating_sub(now_ns()));
        // Never more than some seconds.
        let timeout = Timespec::try_from(left).unwrap_or_default();
        match poll(&mut sockets, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// `None`: nothing there yet.
fn read_once(from: &mut impl Read, scratch: &mut [u8]) -> io::Result<Option<usize>> {
    match from.read(scratch) {
        Ok(count) => Ok(Some(count)),
        Err(error) if is_later(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the server closed the connection")
}
