//! One connection, over TCP or TLS.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustls::ClientConnection;
use sojourn_clock::now_ns;

use crate::Bell;

/// A connection whose reads and writes never wait (they err with `WouldBlock`), and [`Self::wait`],
/// which does.
#[derive(Debug)]
pub struct Socket {
    stream: TcpStream,
    tls: Option<Box<ClientConnection>>,
    /// A read filled all the room it was given: TLS may hold more that no descriptor tells of.
    may_hold: bool,
}

impl Socket {
    /// The stream does not block.
    pub(crate) fn plain(stream: TcpStream) -> Self {
        Self { stream, tls: None, may_hold: false }
    }

    /// The stream does not block, and nothing has been said yet.
    pub(crate) fn secured(stream: TcpStream, session: ClientConnection) -> Self {
        Self { stream, tls: Some(Box::new(session)), may_hold: false }
    }

    /// Whether it speaks TLS. A read of less than there was room for says then nothing of what the
    /// system still holds: TLS reads on only when what it had is used up.
    pub fn is_secured(&self) -> bool {
        self.tls.is_some()
    }

    pub(crate) fn finish_handshake(&mut self, deadline_ns: u64) -> io::Result<()> {
        while self.tls.as_ref().is_some_and(|tls| tls.is_handshaking()) {
            let progress = self.shake();
            match progress {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let left_ns = deadline_ns.saturating_sub(now_ns());
                    if left_ns == 0 {
                        return Err(ErrorKind::TimedOut.into());
                    }
                    let wants_write = self.tls.as_ref().is_some_and(|tls| tls.wants_write());
                    self.wait(wants_write, Duration::from_nanos(left_ns), None)?;
                }
                outcome => outcome?,
            }
        }
        // The server's first words may have come along.
        self.may_hold = true;
        match self.push_tls() {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error),
            _ => Ok(()),
        }
    }

    fn shake(&mut self) -> io::Result<()> {
        self.push_tls()?;
        match self.tls.as_ref().is_some_and(|tls| tls.is_handshaking()) {
            true => self.pull_tls().and_then(|more| match more {
                true => Ok(()),
                false => Err(ErrorKind::UnexpectedEof.into()),
            }),
            false => Ok(()),
        }
    }

    /// Sends what TLS has ready.
    fn push_tls(&mut self) -> io::Result<()> {
        let Some(tls) = &mut self.tls else { return Ok(()) };
        while tls.wants_write() {
            tls.write_tls(&mut self.stream)?;
        }
        Ok(())
    }

    /// Takes in what has come; `false` at the end of the stream.
    fn pull_tls(&mut self) -> io::Result<bool> {
        let Some(tls) = &mut self.tls else { return Ok(true) };
        let count = tls.read_tls(&mut self.stream)?;
        let state = tls.process_new_packets();
        if let Err(error) = state {
            // The other side is told why, if it can be.
            let _told = self.push_tls();
            return Err(io::Error::new(ErrorKind::InvalidData, error));
        }
        Ok(count > 0)
    }

    /// Waits until something can be read (or, with `to_write`, written), the bell rings or the time
    /// is over.
    ///
    /// # Errors
    /// The system's, which there should be none of.
    pub fn wait(&self, to_write: bool, timeout: Duration, bell: Option<&Bell>) -> io::Result<()> {
        if self.may_hold {
            return Ok(());
        }
        let mut flags = PollFlags::IN;
        let tls_writes = self.tls.as_ref().is_some_and(|tls| tls.wants_write());
        if to_write || tls_writes {
            flags |= PollFlags::OUT;
        }
        let timeout = Timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        };
        let own = PollFd::new(&self.stream, flags);
        let polled = match bell {
            Some(bell) => {
                let bell = bell.as_fd();
                poll(&mut [own, PollFd::from_borrowed_fd(bell, PollFlags::IN)], Some(&timeout))
            }
            None => poll(&mut [own], Some(&timeout)),
        };
        match polled {
            Err(rustix::io::Errno::INTR) | Ok(_) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes everything, waiting until `deadline_ns` (CLOCK_MONOTONIC) at most.
    ///
    /// # Errors
    /// The connection's, or that the time was over.
    pub fn write_all_until(&mut self, mut bytes: &[u8], deadline_ns: u64) -> io::Result<()> {
        loop {
            let step = match bytes.is_empty() {
                true => self.flush().map(|()| 0),
                false => self.write(bytes),
            };
            match step {
                Ok(_) if bytes.is_empty() => return Ok(()),
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let left_ns = deadline_ns.saturating_sub(now_ns());
                    if left_ns == 0 {
                        return Err(ErrorKind::TimedOut.into());
                    }
                    self.wait(true, Duration::from_nanos(left_ns), None)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Read for Socket {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let outcome = loop {
            let Some(tls) = &mut self.tls else { break self.stream.read(into) };
            match tls.reader().read(into) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => match self.pull_tls() {
                    // Answers of TLS's own, such as of a key update.
                    Ok(true) => match self.push_tls() {
                        Err(error) if error.kind() != ErrorKind::WouldBlock => break Err(error),
                        _ => {}
                    },
                    // An end without TLS's own word for it.
                    Ok(false) => break Ok(0),
                    Err(error) => break Err(error),
                },
                outcome => break outcome,
            }
        };
        self.may_hold = self.tls.is_some() && matches!(outcome, Ok(count) if count == into.len());
        outcome
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.tls.is_none() {
            return self.stream.write(bytes);
        }
        self.push_tls()?;
        let count = match &mut self.tls {
            Some(tls) => tls.writer().write(bytes)?,
            None => 0,
        };
        match self.push_tls() {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error),
            _ => Ok(count),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.push_tls()
    }
}
