//! One connection: frames over TLS over TCP, never blocking unasked.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustls::Connection;
use sojourn_clock::machine_ns;

use crate::{Decoder, FleetError, Frame};

/// What is written at most before it has gone out, bytes: heartbeats wait behind it.
const OUT_MAX: usize = 256 << 10;

/// One connection.
pub(crate) struct Channel {
    tcp: TcpStream,
    tls: Connection,
    decoder: Decoder,
    out: Vec<u8>,
    out_from: usize,
    has_ended: bool,
}

impl Channel {
    pub(crate) fn new(tcp: TcpStream, tls: Connection) -> io::Result<Self> {
        tcp.set_nonblocking(true)?;
        tcp.set_nodelay(true)?;
        let decoder = Decoder::default();
        Ok(Self { tcp, tls, decoder, out: Vec::new(), out_from: 0, has_ended: false })
    }

    pub(crate) fn peer(&self) -> Option<SocketAddr> {
        self.tcp.peer_addr().ok()
    }

    /// Puts a frame in line.
    pub(crate) fn send(&mut self, frame: &Frame) {
        frame.encode(&mut self.out);
    }

    /// Whether there is room for data.
    pub(crate) fn has_room(&self) -> bool {
        self.out.len() - self.out_from < OUT_MAX
    }

    /// Whether something waits to go out.
    pub(crate) fn has_more(&self) -> bool {
        self.out_from < self.out.len() || self.tls.wants_write()
    }

    /// Writes what the socket takes.
    pub(crate) fn write(&mut self) -> io::Result<()> {
        loop {
            if !self.tls.is_handshaking() && self.out_from < self.out.len() {
                self.out_from += self.tls.writer().write(&self.out[self.out_from..])?;
                if self.out_from == self.out.len() {
                    self.out.clear();
                    self.out_from = 0;
                }
            }
            if !self.tls.wants_write() {
                return Ok(());
            }
            match self.tls.write_tls(&mut self.tcp) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads what is there. False: the other side has ended the connection.
    pub(crate) fn read(&mut self) -> Result<bool, FleetError> {
        let mut bytes = [0; 16 << 10];
        // So much at a time: others are to be served, too.
        for _ in 0..16 {
            match self.tls.read_tls(&mut self.tcp) {
                Ok(0) => self.has_ended = true,
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            }
            self.tls.process_new_packets().map_err(|error| {
                // The other side should know, if it can.
                let _ignored = self.tls.write_tls(&mut self.tcp);
                of_tls(&error, &self.tcp)
            })?;
            loop {
                match self.tls.reader().read(&mut bytes) {
                    Ok(0) => break,
                    Ok(count) => self.decoder.push(&bytes[..count]),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    // An end without a word is an end.
                    Err(error) if error.kind() == ErrorKind::UnexpectedEof => break,
                    Err(error) => return Err(error.into()),
                }
            }
            if self.has_ended {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The next frame that has come.
    pub(crate) fn next_frame(&mut self) -> Result<Option<Frame>, FleetError> {
        self.decoder.next_frame().map_err(|error| FleetError::Protocol(error.to_string()))
    }

    /// Waits for a frame until an instant; what is in line goes out meanwhile.
    pub(crate) fn frame_until(&mut self, until_ns: u64) -> Result<Frame, FleetError> {
        loop {
            self.write()?;
            if let Some(frame) = self.next_frame()? {
                return Ok(frame);
            }
            if self.has_ended {
                return Err(io::Error::from(ErrorKind::UnexpectedEof).into());
            }
            self.wait(until_ns)?;
            self.read()?;
        }
    }

    /// Sends what is in line, until an instant.
    pub(crate) fn flush_until(&mut self, until_ns: u64) -> Result<(), FleetError> {
        loop {
            self.write()?;
            if !self.has_more() {
                return Ok(());
            }
            self.wait(until_ns)?;
        }
    }

    /// Says that nothing follows, and waits until the other side has closed: a socket that is
    /// closed with something unread in it takes back what it had sent last.
    pub(crate) fn finish(&mut self, until_ns: u64) -> Result<(), FleetError> {
        self.tls.send_close_notify();
        self.flush_until(until_ns)?;
        self.tcp.shutdown(Shutdown::Write)?;
        while self.read()? {
            self.wait(until_ns)?;
        }
        Ok(())
    }

    fn wait(&self, until_ns: u64) -> Result<(), FleetError> {
        let now = machine_ns();
        if now >= until_ns {
            return Err(io::Error::new(ErrorKind::TimedOut, "no answer in time").into());
        }
        let flags = match self.has_more() {
            true => PollFlags::IN | PollFlags::OUT,
            false => PollFlags::IN,
        };
        wait_for(&mut [PollFd::new(&self.tcp, flags)], until_ns - now)?;
        Ok(())
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tcp.as_fd()
    }
}

/// Waits until something is ready, at most so long.
pub(crate) fn wait_for(fds: &mut [PollFd<'_>], wait_ns: u64) -> io::Result<()> {
    // A wait of an hour is as good as any longer one.
    let wait_ns = wait_ns.min(3_600_000_000_000);
    let timeout = Timespec {
        tv_sec: (wait_ns / 1_000_000_000) as i64,
        tv_nsec: (wait_ns % 1_000_000_000) as _,
    };
    match poll(fds, Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// What TLS says, in words for who holds a key.
fn of_tls(error: &rustls::Error, tcp: &TcpStream) -> FleetError {
    let address = tcp.peer_addr().map_or_else(|_| "the address".to_owned(), |it| it.to_string());
    match error {
        rustls::Error::InvalidCertificate(_) => FleetError::Stranger(address),
        other => FleetError::Io(io::Error::other(format!("{address}: {other}"))),
    }
}
