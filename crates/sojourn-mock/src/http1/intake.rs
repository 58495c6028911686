//! Bytes in, requests out: heads and bodies however the network cuts them. Sans-IO.

use sojourn_http::{Chunked, ChunkedPiece};

use super::head::{self, Framing, HEAD_BYTES_MAX, Head};
use crate::reply::Reply;
use crate::server::{Request, Responder};

/// What a connection is in the middle of receiving.
#[derive(Debug, Default)]
pub(crate) struct Intake {
    /// The beginning of a head, or requests that wait for their predecessor's answer.
    pub(crate) partial: Vec<u8>,
    /// A request whose head is known and whose body is still coming.
    unfinished: Option<Box<Unfinished>>,
    /// `partial` has been looked at, and more must come before it is worth another look.
    is_starved: bool,
}

#[derive(Debug)]
struct Unfinished {
    head: Vec<u8>,
    left: Left,
    /// What is kept of the body: nothing unless the responder wants it.
    body: Vec<u8>,
    kept_max: usize,
}

#[derive(Debug)]
enum Left {
    Chunks(Chunked),
    Length(u64),
}

/// What a request asks of its connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) keep_alive: bool,
    pub(crate) is_http10: bool,
    /// No body in the answer (HEAD).
    pub(crate) is_head: bool,
    pub(crate) arrival_ns: u64,
}

/// What bytes came to.
#[derive(Debug)]
pub(crate) enum Taken {
    /// Not HTTP that this server understands; answer with this status and close.
    Bad(u16),
    /// Used up; more is to come. The client may wait to be told to go on.
    More { say_continue: bool },
    /// A whole request, answered.
    Request { reply: Reply, terms: Terms },
}

impl Intake {
    /// Whether a request has begun and not ended.
    pub(crate) fn is_midway(&self) -> bool {
        self.unfinished.is_some() || !self.partial.is_empty()
    }

    /// Whether a body is still to come.
    pub(crate) fn is_in_body(&self) -> bool {
        self.unfinished.is_some()
    }

    /// Whether what was received earlier may hold a request.
    pub(crate) fn has_waiting(&self) -> bool {
        !self.partial.is_empty() && !self.is_starved
    }

    /// Takes a request out of what was received earlier.
    pub(crate) fn take_waiting<R: Responder + ?Sized>(
        &mut self,
        connection: u64,
        responder: &mut R,
        now_ns: &mut dyn FnMut() -> u64,
    ) -> Taken {
        let mut waiting = std::mem::take(&mut self.partial);
        let (used, taken) = self.take(&waiting, connection, responder, now_ns);
        waiting.drain(..used);
        self.keep(waiting, &taken);
        taken
    }

    /// Takes a request out of what has just been received; keeps the rest.
    pub(crate) fn take_received<R: Responder + ?Sized>(
        &mut self,
        bytes: &[u8],
        connection: u64,
        responder: &mut R,
        now_ns: &mut dyn FnMut() -> u64,
    ) -> Taken {
        if !self.partial.is_empty() {
            self.append(bytes);
            return Taken::More { say_continue: false };
        }
        let (used, taken) = self.take(bytes, connection, responder, now_ns);
        self.keep(bytes[used..].to_vec(), &taken);
        taken
    }

    /// Puts newly received bytes behind those that wait. A head ends with a line feed, so only one
    /// is worth another look, or a head that is too long.
    fn append(&mut self, bytes: &[u8]) {
        self.partial.extend_from_slice(bytes);
        if bytes.contains(&b'\n') || self.partial.len() > HEAD_BYTES_MAX {
            self.is_starved = false;
        }
    }

    /// Keeps what [`Self::take`] has left over.
    fn keep(&mut self, rest: Vec<u8>, taken: &Taken) {
        self.is_starved = matches!(taken, Taken::More { .. });
        // An empty one gives its memory back: most connections are idle most of the time.
        self.partial = if rest.is_empty() { Vec::new() } else { rest };
    }

    /// Takes at most one request off the front of `bytes`: how many were used, and what came of
    /// them. Bytes of an incomplete head are not used: the caller brings them again with more.
    ///
    /// `now_ns` stamps the arrival.
    fn take<R: Responder + ?Sized>(
        &mut self,
        bytes: &[u8],
        connection: u64,
        responder: &mut R,
        now_ns: &mut dyn FnMut() -> u64,
    ) -> (usize, Taken) {
        if self.unfinished.is_some() {
            return self.go_on(bytes, connection, responder, now_ns);
        }
        let mut room = head::header_room();
        let head = match head::parse(bytes, &mut room) {
            Ok(Some(head)) => head,
            Ok(None) => return (0, Taken::More { say_continue: false }),
            Err(status) => return (bytes.len(), Taken::Bad(status)),
        };
        if let Framing::Length(length) = head.framing {
            let here = &bytes[head.length..];
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            if length <= here.len() {
                let taken = answer(&head, &here[..length], now_ns(), connection, responder);
                return (head.length + length, taken);
            }
        }
        if let Err(status) = self.begin(&head, bytes, connection, responder) {
            return (bytes.len(), Taken::Bad(status));
        }
        let used = head.length;
        let expects_continue = head.expects_continue && bytes.len() == used;
        let (more, taken) = self.go_on(&bytes[used..], connection, responder, now_ns);
        match taken {
            Taken::More { .. } => (used + more, Taken::More { say_continue: expects_continue }),
            taken => (used + more, taken),
        }
    }

    /// Takes a head up whose body is still coming. Err: the status of a body that says itself that
    /// it is too long, before the client sends it.
    fn begin<R: Responder + ?Sized>(
        &mut self,
        head: &Head<'_>,
        bytes: &[u8],
        connection: u64,
        responder: &mut R,
    ) -> Result<(), u16> {
        let kept_max = responder.body_max(&request(head, &[], 0, connection));
        if matches!(head.framing, Framing::Length(it) if kept_max > 0 && it > kept_max as u64) {
            return Err(413);
        }
        self.unfinished = Some(Box::new(Unfinished {
            head: bytes[..head.length].to_vec(),
            left: match head.framing {
                Framing::Chunked => Left::Chunks(Chunked::default()),
                Framing::Length(length) => Left::Length(length),
            },
            body: Vec::new(),
            kept_max,
        }));
        Ok(())
    }

    /// Goes on with a body.
    fn go_on<R: Responder + ?Sized>(
        &mut self,
        bytes: &[u8],
        connection: u64,
        responder: &mut R,
        now_ns: &mut dyn FnMut() -> u64,
    ) -> (usize, Taken) {
        let more = Taken::More { say_continue: false };
        let Some(unfinished) = &mut self.unfinished else {
            return (0, more);
        };
        let mut input = bytes;
        let ended = unfinished.swallow(&mut input);
        let used = bytes.len() - input.len();
        match ended {
            Ok(false) => return (used, more),
            Ok(true) => {}
            Err(status) => return (bytes.len(), Taken::Bad(status)),
        }
        let Some(done) = self.unfinished.take() else {
            return (used, more);
        };
        let mut room = head::header_room();
        // It has been parsed before, from the same bytes.
        let taken = match head::parse(&done.head, &mut room) {
            Ok(Some(head)) => answer(&head, &done.body, now_ns(), connection, responder),
            _ => Taken::Bad(400),
        };
        (used, taken)
    }
}

impl Unfinished {
    /// Takes body bytes off the input; true at the body's end. An error is a status.
    fn swallow(&mut self, input: &mut &[u8]) -> Result<bool, u16> {
        loop {
            let (piece, is_end) = match &mut self.left {
                Left::Length(left) => {
                    let here = usize::try_from(*left).map_or(input.len(), |l| l.min(input.len()));
                    let (piece, rest) = input.split_at(here);
                    *input = rest;
                    *left -= here as u64;
                    (piece, *left == 0)
                }
                Left::Chunks(chunked) => match chunked.next(input) {
                    Ok(ChunkedPiece::Body(piece)) => (piece, false),
                    Ok(ChunkedPiece::Done) => return Ok(true),
                    Ok(ChunkedPiece::More) => return Ok(false),
                    Err(_) => return Err(400),
                },
            };
            if self.kept_max > 0 {
                if self.body.len() + piece.len() > self.kept_max {
                    return Err(413);
                }
                self.body.extend_from_slice(piece);
            }
            if is_end || input.is_empty() && matches!(self.left, Left::Length(_)) {
                return Ok(is_end);
            }
        }
    }
}

fn request<'a>(head: &Head<'a>, body: &'a [u8], arrival_ns: u64, connection: u64) -> Request<'a> {
    Request {
        method: head.method,
        path: head.target,
        headers: head.headers,
        body,
        arrival_ns,
        connection,
        version: if head.is_http10 { 10 } else { 11 },
        tls: None,
    }
}

fn answer<R: Responder + ?Sized>(
    head: &Head<'_>,
    body: &[u8],
    arrival_ns: u64,
    connection: u64,
    responder: &mut R,
) -> Taken {
    let mut request = request(head, body, arrival_ns, connection);
    // A body that came at once was not judged yet.
    if !body.is_empty() {
        let kept_max = responder.body_max(&request);
        if kept_max == 0 {
            request.body = &[];
        } else if body.len() > kept_max {
            return Taken::Bad(413);
        }
    }
    let terms = Terms {
        keep_alive: head.keep_alive,
        is_http10: head.is_http10,
        is_head: head.method == "HEAD",
        arrival_ns,
    };
    Taken::Request { reply: responder.respond(&request), terms }
}
