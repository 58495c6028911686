//! A server that fails in every way a client must survive.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use sojourn_clock::now_ns;
use sojourn_mock::{Body, Message, Reply, Request, Responder, Step};

use crate::server::{Server, response};

/// Of what large bodies are made.
const BLOCK_BYTES: usize = 64 * 1024;

/// One way to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misbehaviour {
    /// Closes without a byte.
    Close,
    /// A good answer with `bytes` of body, the head at once, then one byte of body every
    /// `every_ns`.
    Dribble {
        /// Length of the body.
        bytes: u32,
        /// Between one byte and the next, nanoseconds.
        every_ns: u64,
    },
    /// A good answer with a body of this many bytes `x`.
    Huge(u64),
    /// A good head whose body is chunked, and a chunk length that is no number.
    MalformedChunk,
    /// Bytes that are not HTTP, then closes.
    MalformedHead,
    /// 200 `application/json` with a body that is not JSON.
    NotJson,
    /// Exactly these bytes; the connection stays open.
    Raw(Vec<u8>),
    /// Breaks off with RST, without a byte.
    Reset,
    /// Never answers, and keeps the connection.
    Silence,
    /// Answers with this status and a small JSON body; `Status(200)` behaves.
    Status(u16),
    /// Promises `promised` bytes of body, sends `sent`, closes.
    Truncate {
        /// The content length in the head.
        promised: u64,
        /// What really comes.
        sent: u64,
    },
}

/// Misbehaves by path, in sequence or by the clock.
#[derive(Debug)]
pub struct MisbehavingServer {
    server: Server,
    start_ns: u64,
}

impl MisbehavingServer {
    /// Each path (without its query) has its own behaviour; others are answered 404.
    ///
    /// # Errors
    /// No port, descriptor or thread to be had.
    pub fn by_path(paths: &[(&str, Misbehaviour)]) -> io::Result<Self> {
        let paths =
            paths.iter().map(|(path, behaviour)| ((*path).to_owned(), behaviour.clone())).collect();
        Self::start(Choice::ByPath(paths))
    }

    /// The n-th request gets the n-th behaviour, and after the last the first again. None at all
    /// means 200 always.
    ///
    /// # Errors
    /// No port, descriptor or thread to be had.
    pub fn in_sequence(behaviours: &[Misbehaviour]) -> io::Result<Self> {
        Self::start(Choice::InSequence { behaviours: behaviours.to_vec(), next: 0 })
    }

    /// From each instant on (nanoseconds after the start, in increasing order) its behaviour;
    /// before the first, 200.
    ///
    /// # Errors
    /// No port, descriptor or thread to be had.
    pub fn by_schedule(schedule: &[(u64, Misbehaviour)]) -> io::Result<Self> {
        Self::start(Choice::BySchedule(schedule.to_vec()))
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// The URL of a path (which starts with `/`).
    pub fn url(&self, path: &str) -> String {
        self.server.url(path)
    }

    /// The counters of the connections and requests beneath.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// The instant that a schedule counts from, `sojourn_clock` nanoseconds.
    pub fn start_ns(&self) -> u64 {
        self.start_ns
    }

    fn start(choice: Choice) -> io::Result<Self> {
        let start_ns = now_ns();
        let server = Server::start(Misbehaving { choice, start_ns })?;
        Ok(Self { server, start_ns })
    }
}

impl Misbehaviour {
    /// The steps of this behaviour, beginning at `now_ns`.
    fn reply(&self, now_ns: u64) -> Reply {
        match self {
            Self::Close => Reply::steps([Step::Close]),
            Self::Dribble { bytes, every_ns } => dribble(*bytes, *every_ns, now_ns),
            Self::Huge(bytes) => Reply::message(filled(*bytes)),
            Self::MalformedChunk => Reply::steps([
                Step::Send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec()),
                Step::Send(b"5\r\nhello\r\nno number\r\nhello\r\n".to_vec()),
                Step::Close,
            ]),
            Self::MalformedHead => Reply::steps([
                Step::Send(b"\x00\x01 this is no HTTP \xff\r\n\r\n".to_vec()),
                Step::Close,
            ]),
            Self::NotJson => Reply::now(response(200, "application/json", b"{\"id\": oops")),
            Self::Raw(bytes) => Reply::now(bytes.clone()),
            Self::Reset => Reply::steps([Step::Reset]),
            Self::Silence => Reply::steps([Step::Silence]),
            Self::Status(status) => {
                let body = format!("{{\"status\":{status}}}\n");
                Reply::now(response(*status, "application/json", body.as_bytes()))
            }
            Self::Truncate { promised, sent } => {
                let message = filled(*promised);
                let body = Step::Body { message: message.clone(), from: 0, to: *sent };
                Reply::steps([Step::Head(message), body, Step::Close])
            }
        }
    }
}

/// A good answer with so many bytes `x`.
fn filled(length: u64) -> Rc<Message> {
    let headers = [("content-type", b"application/octet-stream".as_slice())];
    let block = Arc::from(vec![b'x'; BLOCK_BYTES]);
    Rc::new(Message::new(200, headers, Body::Repeated { block, length }))
}

fn dribble(bytes: u32, every_ns: u64, now_ns: u64) -> Reply {
    let message = filled(u64::from(bytes));
    let head = Step::Head(message.clone());
    let drops = (0..u64::from(bytes)).flat_map(|drop| {
        let at_ns = now_ns.saturating_add((drop + 1).saturating_mul(every_ns));
        let body = Step::Body { message: message.clone(), from: drop, to: drop + 1 };
        [Step::WaitUntil(at_ns), body]
    });
    Reply::steps(std::iter::once(head).chain(drops))
}

struct Misbehaving {
    choice: Choice,
    start_ns: u64,
}

enum Choice {
    ByPath(Vec<(String, Misbehaviour)>),
    BySchedule(Vec<(u64, Misbehaviour)>),
    InSequence { behaviours: Vec<Misbehaviour>, next: usize },
}

impl Responder for Misbehaving {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let now_ns = request.arrival_ns;
        let fallback = Misbehaviour::Status(200);
        let behaviour = match &mut self.choice {
            Choice::ByPath(paths) => {
                match paths.iter().find(|(known, _)| known == request.route()) {
                    Some((_, behaviour)) => behaviour,
                    None => &Misbehaviour::Status(404),
                }
            }
            Choice::BySchedule(schedule) => {
                let elapsed_ns = now_ns.saturating_sub(self.start_ns);
                let begun = schedule.iter().rev().find(|(from_ns, _)| *from_ns <= elapsed_ns);
                begun.map_or(&fallback, |(_, behaviour)| behaviour)
            }
            Choice::InSequence { behaviours, next } => {
                let at = *next;
                *next = (at + 1) % behaviours.len().max(1);
                behaviours.get(at).unwrap_or(&fallback)
            }
        };
        behaviour.reply(now_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(arrival_ns: u64) -> Request<'static> {
        Request {
            method: "GET",
            path: "/",
            headers: &[],
            body: &[],
            arrival_ns,
            connection: 0,
            version: 11,
            tls: None,
        }
    }

    #[test]
    fn a_schedule_changes_at_its_instants() {
        let schedule = vec![(10, Misbehaviour::Status(503)), (20, Misbehaviour::Silence)];
        let mut peer = Misbehaving { choice: Choice::BySchedule(schedule), start_ns: 1000 };
        let mut at = |arrival_ns| peer.respond(&request(arrival_ns));
        assert_eq!(at(1009), Misbehaviour::Status(200).reply(0));
        assert_eq!(at(1010), Misbehaviour::Status(503).reply(0));
        assert_eq!(at(1019), Misbehaviour::Status(503).reply(0));
        assert_eq!(at(1020), Misbehaviour::Silence.reply(0));
    }

    #[test]
    fn a_dribble_sends_its_bytes_one_interval_apart() {
        let message = filled(2);
        let body = |from| Step::Body { message: message.clone(), from, to: from + 1 };
        let expected = Reply::steps([
            Step::Head(message.clone()),
            Step::WaitUntil(105),
            body(0),
            Step::WaitUntil(110),
            body(1),
        ]);
        assert_eq!(dribble(2, 5, 100), expected);
    }
}
