//! One connection: never blocks but in [`Connection::wait`], stamps what it reads.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustls::ClientConnection;
use sojourn_clock::now_ns;

use crate::config::Target;
use crate::failure::{Failure, accepted};
use crate::resp::{Cursor, Scanner, write_argument, write_begin, write_command};
use crate::tls::explain;

/// Largest answer, bytes. Redis itself lets no text be longer than this.
const ANSWER_BYTES_MAX: usize = 512 << 20;
/// How much is read at once, bytes; also what an idle connection keeps.
const READ_BYTES: usize = 256 << 10;
/// Longest wait for one address, so that a poll stays short.
const DIAL_MAX: Duration = Duration::from_millis(1_000);

/// A connection that has logged in.
pub(crate) struct Connection {
    socket: TcpStream,
    tls: Option<Box<ClientConnection>>,
    host: String,
    name: String,
    /// Received: from `begin` to `end`.
    input: Vec<u8>,
    begin: usize,
    end: usize,
    scanner: Scanner,
    /// Where the answer lies that was handed out last.
    latest: std::ops::Range<usize>,
    /// To be sent: from `sent` on.
    pub(crate) output: Vec<u8>,
    sent: usize,
    /// When bytes came last, CLOCK_MONOTONIC nanoseconds.
    received_ns: u64,
}

impl Connection {
    /// Connects, logs in and chooses the database, until `deadline_ns`.
    pub(crate) fn open(target: &Target, deadline_ns: u64) -> Result<Self, Failure> {
        let socket = dial(target, deadline_ns)?;
        let prepared = socket.set_nodelay(true).and_then(|()| socket.set_nonblocking(true));
        prepared.map_err(|error| Failure::Lost(words(&error)))?;
        let tls = match &target.tls {
            None => None,
            Some((config, name)) => {
                let session = ClientConnection::new(config.clone(), name.clone());
                let mut session =
                    session.map_err(|error| Failure::Fatal(target.error(error.to_string())))?;
                session.set_buffer_limit(None);
                Some(Box::new(session))
            }
        };
        let mut this = Self {
            socket,
            tls,
            host: target.server.trust.name.clone().unwrap_or_else(|| target.server.host.clone()),
            name: target.name(),
            input: vec![0; READ_BYTES],
            begin: 0,
            end: 0,
            scanner: Scanner::new(ANSWER_BYTES_MAX),
            latest: 0..0,
            output: Vec::new(),
            sent: 0,
            received_ns: now_ns(),
        };
        this.log_in(target, deadline_ns)?;
        Ok(this)
    }

    fn log_in(&mut self, target: &Target, deadline_ns: u64) -> Result<(), Failure> {
        let mut answers = 1;
        if let Some(password) = &target.server.password {
            let password = password.reveal().as_bytes();
            match &target.server.user {
                Some(user) => self.queue(&[b"AUTH", user.as_bytes(), password]),
                None => self.queue(&[b"AUTH", password]),
            }
            answers += 1;
        }
        if target.database != 0 {
            self.queue(&[b"SELECT", target.database.to_string().as_bytes()]);
            answers += 1;
        }
        // Where a password is missing, this says so.
        self.queue(&[b"PING"]);
        for _ in 0..answers {
            let answer = self.answer(deadline_ns)?;
            accepted(target, Cursor::new(answer).token()?)?;
        }
        Ok(())
    }

    /// When bytes came last, CLOCK_MONOTONIC nanoseconds.
    pub(crate) fn received_ns(&self) -> u64 {
        self.received_ns
    }

    /// Writes a command into the output; [`Self::flush`] sends it.
    pub(crate) fn queue(&mut self, arguments: &[&[u8]]) {
        write_command(&mut self.output, arguments);
    }

    /// The same for arguments that have been gathered.
    pub(crate) fn queue_all<A: AsRef<[u8]>>(&mut self, arguments: &[A]) {
        write_begin(&mut self.output, arguments.len());
        for argument in arguments {
            write_argument(&mut self.output, argument.as_ref());
        }
    }

    /// Bytes that are to be sent.
    pub(crate) fn unsent(&self) -> usize {
        self.output.len() - self.sent
    }

    /// Sends what the socket takes.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        while self.sent < self.output.len() {
            let wrote = match &mut self.tls {
                None => self.socket.write(&self.output[self.sent..]),
                Some(tls) => tls.writer().write(&self.output[self.sent..]),
            };
            match wrote {
                Ok(0) => return Err(Failure::Lost("the connection was closed".to_owned())),
                Ok(wrote) => self.sent += wrote,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::Lost(words(&error))),
            }
        }
        if self.sent == self.output.len() {
            self.output.clear();
            self.sent = 0;
            self.output.shrink_to(READ_BYTES);
        }
        self.flush_tls()
    }

    fn flush_tls(&mut self) -> Result<(), Failure> {
        let Some(tls) = &mut self.tls else { return Ok(()) };
        while tls.wants_write() {
            match tls.write_tls(&mut self.socket) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::Lost(words(&error))),
            }
        }
        Ok(())
    }

    /// Reads what there is, up to a bound; says whether there was anything. What came before the
    /// connection ended is handed out first.
    pub(crate) fn fill(&mut self) -> Result<bool, Failure> {
        self.latest = 0..0;
        if self.begin == self.end {
            (self.begin, self.end) = (0, 0);
            if self.input.len() > 4 * READ_BYTES {
                self.input = vec![0; READ_BYTES];
            }
        } else if self.input.len() - self.end < READ_BYTES / 4 {
            self.input.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
            if self.input.len() - self.end < READ_BYTES / 4 {
                let grown = (self.input.len() * 2).min(ANSWER_BYTES_MAX + READ_BYTES);
                self.input.resize(grown, 0);
            }
        }
        let read = match &mut self.tls {
            None => self.socket.read(&mut self.input[self.end..]),
            Some(tls) => match read_tls(tls, &mut self.socket, &mut self.input[self.end..]) {
                Ok(read) => read,
                Err(error) => {
                    // The alert that says why goes out, if it can.
                    drop(self.flush_tls());
                    let (what, hint) = explain(&error, &self.host);
                    let error = sojourn_broker::BrokerError::new(format!("{}: {what}", self.name));
                    return Err(Failure::Fatal(error.with_hint(hint)));
                }
            },
        };
        match read {
            Ok(0) => Err(Failure::Lost("the server closed the connection".to_owned())),
            Ok(read) => {
                self.end += read;
                self.received_ns = now_ns();
                Ok(true)
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                Ok(false)
            }
            Err(error) => Err(Failure::Lost(words(&error))),
        }
    }

    /// The next whole answer that has been received.
    pub(crate) fn next_answer(&mut self) -> Result<Option<&[u8]>, Failure> {
        let Some(length) = self.scanner.end(&self.input[self.begin..self.end])? else {
            return Ok(None);
        };
        self.latest = self.begin..self.begin + length;
        self.begin += length;
        self.scanner = Scanner::new(ANSWER_BYTES_MAX);
        Ok(Some(self.latest()))
    }

    /// The answer that was handed out last; until [`Self::fill`] is called again.
    pub(crate) fn latest(&self) -> &[u8] {
        self.input.get(self.latest.clone()).unwrap_or_default()
    }

    /// Sends what there is and waits for the next answer.
    pub(crate) fn answer(&mut self, deadline_ns: u64) -> Result<&[u8], Failure> {
        // The borrow of an answer that is returned would last through the loop: found by length.
        loop {
            self.flush()?;
            if self.scanner.end(&self.input[self.begin..self.end])?.is_some() {
                break;
            }
            if self.fill()? {
                continue;
            }
            let now_ns = now_ns();
            if now_ns >= deadline_ns {
                return Err(Failure::Lost("it does not answer".to_owned()));
            }
            self.wait(Duration::from_nanos(deadline_ns - now_ns), None)?;
        }
        match self.next_answer()? {
            Some(answer) => Ok(answer),
            None => Err(Failure::Lost("it does not answer".to_owned())),
        }
    }

    /// Waits until there is something to read, room for what is unsent, or `other` is readable.
    pub(crate) fn wait(
        &self,
        timeout: Duration,
        other: Option<BorrowedFd<'_>>,
    ) -> Result<(), Failure> {
        let mut flags = PollFlags::IN;
        let tls_wants_write = self.tls.as_ref().is_some_and(|tls| tls.wants_write());
        if self.unsent() > 0 || tls_wants_write {
            flags |= PollFlags::OUT;
        }
        let mut fds = vec![PollFd::from_borrowed_fd(self.socket.as_fd(), flags)];
        fds.extend(other.map(|other| PollFd::from_borrowed_fd(other, PollFlags::IN)));
        wait_for(&mut fds, timeout).map_err(|error| Failure::Lost(words(&error)))
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Waits for one of these, or for time to pass.
pub(crate) fn wait_for(fds: &mut [PollFd<'_>], timeout: Duration) -> io::Result<()> {
    let timeout = Timespec {
        tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: timeout.subsec_nanos().into(),
    };
    match poll(fds, Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Reads ciphertext where no plaintext is left. The outer error is of TLS, the inner of the socket.
fn read_tls(
    tls: &mut ClientConnection,
    socket: &mut TcpStream,
    into: &mut [u8],
) -> Result<io::Result<usize>, rustls::Error> {
    loop {
        match tls.reader().read(into) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            read => return Ok(read),
        }
        match tls.read_tls(socket) {
            // What the end of the connection means, the reader says; it needs to be told of it.
            Ok(0) => {
                tls.process_new_packets()?;
                return Ok(tls.reader().read(into).or(Ok(0)));
            }
            Ok(_) => {
                tls.process_new_packets()?;
            }
            Err(error) => return Ok(Err(error)),
        }
    }
}

/// Tries the host's addresses one after the other.
fn dial(target: &Target, deadline_ns: u64) -> Result<TcpStream, Failure> {
    let server = &target.server;
    let addresses = (server.host.as_str(), server.port).to_socket_addrs();
    let addresses = addresses
        .map_err(|error| Failure::Lost(format!("no address for `{}`: {error}", server.host)))?;
    let mut last = Failure::Lost(format!("no address for `{}`", server.host));
    for address in addresses {
        let left = Duration::from_nanos(deadline_ns.saturating_sub(now_ns()));
        let timeout = left.clamp(Duration::from_millis(1), DIAL_MAX);
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = Failure::Lost(words(&error)),
        }
    }
    Err(last)
}

/// An error of the system without its number.
fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        io::ErrorKind::ConnectionReset => "the connection was reset".to_owned(),
        io::ErrorKind::TimedOut => "no answer".to_owned(),
        _ => error.to_string(),
    }
}
