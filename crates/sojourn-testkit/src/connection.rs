//! One client of a fake peer: reads requests, carries out the steps of the answers.
//!
//! A connection is either idle (reads until a request is whole) or answering (reads nothing, so
//! that pipelined requests wait their turn in the kernel or in `received`).

use std::io::{self, Read, Write};
use std::net::TcpStream;

use rustix::event::epoll::EventFlags;

use crate::reply::{Reply, Step};
use crate::server::Request;

/// A request head longer than this is refused.
pub(crate) const HEAD_MAX: usize = 64 * 1024;
const CHUNK: usize = 64 * 1024;
const HEADERS_MAX: usize = 64;

pub(crate) struct Connection {
    pub(crate) id: u64,
    pub(crate) socket: TcpStream,
    /// What epoll is asked to report.
    pub(crate) interest: EventFlags,
    /// Nothing more will come from the client: close after the answer.
    pub(crate) peer_closed: bool,
    received: Vec<u8>,
    /// A request whose body has not wholly arrived, and how much is missing.
    unfinished: Option<(Request, u64)>,
    answer: Option<Reply>,
    close_after: bool,
    out: Vec<u8>,
    out_sent: usize,
}

/// Where the steps of an answer stand.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The socket takes no more for now.
    Blocked,
    /// The connection is to be closed.
    Close,
    /// All steps are done.
    Done { tag: u64, close: bool },
    /// No answer is under way.
    Idle,
    /// The connection is to be broken off.
    Reset,
    /// It waits for the client to leave.
    Silent,
    /// Goes on at this instant.
    Until(u64),
}

/// What reading brought.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Incoming {
    /// Not HTTP that a peer understands; answer with this status and close.
    Bad(u16),
    /// The client is gone.
    Gone,
    /// The rest is still to come.
    Partial,
    /// A whole request; its arrival is not stamped yet.
    Whole(Request),
}

impl Connection {
    pub(crate) fn new(id: u64, socket: TcpStream, interest: EventFlags) -> Self {
        Self {
            id,
            socket,
            interest,
            peer_closed: false,
            received: Vec::new(),
            unfinished: None,
            answer: None,
            close_after: false,
            out: Vec::new(),
            out_sent: 0,
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.answer.is_none()
    }

    /// Whether it waits for nothing but the client's leaving.
    pub(crate) fn is_silent(&self) -> bool {
        let next = self.answer.as_ref().and_then(|answer| answer.steps.front());
        next == Some(&Step::Silence) && self.out_sent == self.out.len()
    }

    /// Begins the answer to the request just read.
    pub(crate) fn begin(&mut self, answer: Reply, close_after: bool) {
        self.answer = Some(answer);
        self.close_after = close_after;
    }

    /// Carries out as many steps as can be carried out at `now_ns`.
    pub(crate) fn perform(&mut self, now_ns: u64) -> Progress {
        loop {
            match self.flush() {
                Ok(true) => {}
                Ok(false) => return Progress::Blocked,
                Err(_) => return Progress::Close,
            }
            let Some(answer) = &mut self.answer else {
                return Progress::Idle;
            };
            match answer.steps.pop_front() {
                None => {
                    let tag = answer.tag;
                    self.answer = None;
                    let close = self.close_after || self.peer_closed;
                    return Progress::Done { tag, close };
                }
                Some(Step::Close) => return Progress::Close,
                Some(Step::Repeat { byte, count }) => {
                    let now = count.min(CHUNK as u64);
                    self.out.resize(now as usize, byte);
                    if count > now {
                        let count = count - now;
                        answer.steps.push_front(Step::Repeat { byte, count });
                    }
                }
                Some(Step::Reset) => return Progress::Reset,
                Some(Step::Send(bytes)) => self.out = bytes,
                Some(Step::Silence) => {
                    answer.steps.push_front(Step::Silence);
                    return Progress::Silent;
                }
                Some(Step::WaitUntil(at_ns)) if at_ns > now_ns => {
                    answer.steps.push_front(Step::WaitUntil(at_ns));
                    return Progress::Until(at_ns);
                }
                Some(Step::WaitUntil(_)) => {}
            }
        }
    }

    /// The next whole request, from what is here already or from the socket.
    pub(crate) fn next_request(&mut self, scratch: &mut [u8]) -> Incoming {
        loop {
            match self.parse() {
                Incoming::Partial => {}
                settled => return settled,
            }
            match self.socket.read(scratch) {
                Ok(0) => return Incoming::Gone,
                Ok(length) => self.received.extend_from_slice(&scratch[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Incoming::Partial;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Incoming::Gone,
            }
        }
    }

    /// Takes one request out of `received`.
    fn parse(&mut self) -> Incoming {
        let (request, missing) = match self.unfinished.take() {
            Some(unfinished) => unfinished,
            None => match parse_head(&self.received) {
                Ok(None) if self.received.len() > HEAD_MAX => return Incoming::Bad(431),
                Ok(None) => return Incoming::Partial,
                Ok(Some((head_length, request, body_length))) => {
                    self.received.drain(..head_length);
                    (request, body_length)
                }
                Err(status) => return Incoming::Bad(status),
            },
        };
        let here = missing.min(self.received.len() as u64);
        self.received.drain(..here as usize);
        if here < missing {
            self.unfinished = Some((request, missing - here));
            return Incoming::Partial;
        }
        Incoming::Whole(request)
    }

    /// Writes what is waiting; true when nothing is left.
    fn flush(&mut self) -> io::Result<bool> {
        while self.out_sent < self.out.len() {
            match self.socket.write(&self.out[self.out_sent..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(length) => self.out_sent += length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.out.clear();
        self.out_sent = 0;
        Ok(true)
    }
}

/// The head's length, the request and its body's length; `None` while the head is incomplete;
/// otherwise the status to refuse with.
fn parse_head(bytes: &[u8]) -> Result<Option<(usize, Request, u64)>, u16> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut head = httparse::Request::new(&mut headers);
    let length = match head.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(431),
        Err(_) => return Err(400),
    };
    let mut close = head.version == Some(0);
    let mut body_length = 0;
    for header in head.headers.iter() {
        if header.name.eq_ignore_ascii_case("content-length") {
            let text = std::str::from_utf8(header.value).map_err(|_| 400_u16)?;
            body_length = text.trim().parse().map_err(|_| 400_u16)?;
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(501);
        } else if header.name.eq_ignore_ascii_case("connection") {
            close |= header.value.eq_ignore_ascii_case(b"close");
        }
    }
    let request = Request {
        method: head.method.unwrap_or_default().to_owned(),
        path: head.path.unwrap_or_default().to_owned(),
        arrival_ns: 0,
        connection: 0,
        close,
    };
    Ok(Some((length, request, body_length)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn heads_are_told_from_nonsense() {
        let check = |bytes: &[u8], expected: Result<Option<u64>, u16>| {
            let found = parse_head(bytes).map(|head| head.map(|(_, _, length)| length));
            assert_eq!(found, expected, "{}", String::from_utf8_lossy(bytes));
        };
        check(b"", Ok(None));
        check(b"GET / HT", Ok(None));
        check(b"GET / HTTP/1.1\r\n\r\n", Ok(Some(0)));
        check(b"POST / HTTP/1.1\r\nContent-Length: 12\r\n\r\n", Ok(Some(12)));
        check(b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", Err(400));
        check(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", Err(501));
        check(b"\x16\x03\x01\x02", Err(400));
    }

    #[test]
    fn close_is_asked_for_by_header_or_by_version() {
        for (text, expected) in [
            ("GET /a?b=1 HTTP/1.1\r\n\r\n", false),
            ("GET /a?b=1 HTTP/1.1\r\nConnection: Close\r\n\r\n", true),
            ("GET /a?b=1 HTTP/1.0\r\n\r\n", true),
        ] {
            let (length, request, _) = parse_head(text.as_bytes()).unwrap().unwrap();
            assert_eq!((length, request.close), (text.len(), expected));
            assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/a?b=1"));
        }
    }

    proptest! {
        #[test]
        fn nothing_panics_on_foreign_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _outcome = parse_head(&bytes);
        }
    }
}
