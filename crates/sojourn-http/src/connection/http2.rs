//! What a connection that speaks HTTP/2 does with bytes.

use std::collections::VecDeque;

use rustix::io::Errno;

use super::Connection;
use crate::cause::{Cause, Http2Cause};
use crate::codec::h2::{
    ErrorCode, Event, Http2Error, Limits, NewStream, RequestBlock, RequestBlocks, Session,
    UnfitRequest,
};
use crate::driver::{Driver, Received};
use crate::in_flight::InFlight;
use crate::requests::Requests;
use crate::tls::{Plaintext, TlsSession};

/// How much of bodies to put into the buffer before it is sent.
const FILL_BYTES: usize = 64 * 1024;

/// How much may wait to be sent; beyond it no more requests are begun. A server that does not read
/// would let it grow with every request that is given up.
const BACKLOG_BYTES_MAX: usize = 256 * 1024;

/// A buffer grown above this is given back to the allocator when it is empty.
const SPARE_BYTES_MAX: usize = 256 * 1024;

/// How much of an answer a server may send before it hears of us again. Nothing is kept that the
/// caller did not ask for, so windows need not be small.
const STREAM_WINDOW: u32 = 16 << 20;
const CONNECTION_WINDOW: u32 = 1 << 30;

/// The state of a connection that speaks HTTP/2.
pub(crate) struct Http2State {
    session: Session,
    /// Of the session's buffer, handed to the kernel.
    written: usize,
    /// Handed to the kernel before the buffer's first byte.
    written_before: u64,
    /// Requests whose last byte is in the buffer.
    unsent: VecDeque<Unsent>,
    /// When something last came; zero if nothing has.
    pub(crate) last_read_ns: u64,
    /// The kernel took less than there was: there is no use in trying before it says so.
    pub(crate) is_blocked: bool,
    /// It stands in the client's list of those that have something to send.
    pub(crate) is_to_flush: bool,
    /// It stands in its pool's list of those with room.
    pub(crate) is_listed: bool,
}

/// A request whose last byte is not with the kernel.
struct Unsent {
    /// Just behind its last byte, counted from the connection's first.
    end: u64,
    exchange: u32,
    serial: u64,
}

/// How an exchange ended.
#[derive(Debug)]
pub(crate) enum Ending {
    /// The answer is whole.
    Answered,
    /// It came to nothing.
    Failed(Cause),
    /// The server has not touched it: it may be sent again.
    Untouched(Cause),
}

/// What one receive led to.
pub(crate) enum FrameStep {
    /// Nothing more until the driver says so.
    Blocked,
    /// The connection is of no use any more.
    Broken(Cause),
    /// There may be more.
    Received,
}

impl Http2State {
    pub(crate) fn new(streams_max: u32) -> Self {
        let limits = Limits {
            streams_max,
            stream_window: STREAM_WINDOW,
            connection_window: CONNECTION_WINDOW,
        };
        Self {
            session: Session::new(limits),
            written: 0,
            written_before: 0,
            unsent: VecDeque::new(),
            last_read_ns: 0,
            is_blocked: false,
            is_to_flush: false,
            is_listed: false,
        }
    }

    /// How many more requests it could carry now.
    pub(crate) fn room(&self) -> usize {
        let backlog_bytes = self.session.out.len() - self.written;
        if backlog_bytes > BACKLOG_BYTES_MAX { 0 } else { self.session.room() }
    }

    /// Most requests at a time.
    pub(crate) fn streams_max(&self) -> usize {
        self.session.streams_max()
    }

    /// Takes no more requests.
    pub(crate) fn drain(&mut self) {
        self.session.drain();
    }

    /// It carries nothing and will carry nothing more.
    pub(crate) fn is_finished(&self) -> bool {
        self.session.is_closing() && self.session.open_streams() == 0
    }

    pub(crate) fn has_to_send(&self) -> bool {
        !self.session.out.is_empty() || self.session.has_turns()
    }

    /// Begins a request at `now_ns`; it goes out with the next flush.
    pub(crate) fn open(
        &mut self,
        slot: u32,
        exchange: &mut InFlight,
        blocks: &mut RequestBlocks,
        is_tls: bool,
        now_ns: u64,
    ) -> Result<(), UnfitRequest> {
        let RequestBlock { block, mut head_length, is_chunked } =
            blocks.block(&exchange.bytes, is_tls)?;
        if is_chunked {
            exchange.unframe(head_length)?;
            head_length = exchange.bytes.len() - exchange.unframed;
        }
        let has_body = head_length < exchange.bytes.len();
        let new = NewStream {
            exchange: slot,
            block,
            has_body,
            head_only: exchange.head_only,
            keep_head: exchange.keeps_head(),
        };
        let (stream, wire_bytes) = self.session.open(new);
        exchange.stream = stream;
        exchange.first_sent_ns = now_ns;
        exchange.written = head_length;
        exchange.bytes_out += wire_bytes as u64;
        if !has_body {
            self.mark_end(slot, exchange.serial);
        }
        Ok(())
    }

    /// Gives an exchange up and tells the server. If nothing has come since it was sent, the
    /// connection may be dead, and carries nothing more.
    pub(crate) fn give_up(&mut self, exchange: &InFlight) {
        self.session.cancel(exchange.stream);
        if self.last_read_ns < exchange.first_sent_ns {
            self.session.drain();
        }
    }

    /// Every exchange that it carries.
    pub(crate) fn exchanges(&mut self) -> Vec<u32> {
        self.session.exchanges()
    }

    pub(crate) fn going_away(&self) -> Option<ErrorCode> {
        self.session.going_away()
    }

    /// Reads frames; appends what ended. `now_ns` is when they came.
    pub(crate) fn absorb(
        &mut self,
        bytes: &[u8],
        exchanges: &mut Requests,
        now_ns: u64,
        ended: &mut Vec<(u32, Ending)>,
    ) -> Result<(), Http2Error> {
        self.last_read_ns = now_ns;
        let mut input = bytes;
        loop {
            let (slot, ending) = match self.session.next(&mut input)? {
                Event::More => return Ok(()),
                Event::Head { exchange, head, wire_bytes, ends } => {
                    let Some(request) = exchanges.get_mut(exchange as usize) else { continue };
                    request.take_head(head.status, head.coding, self.session.head_text());
                    request.received(wire_bytes, now_ns);
                    if !ends {
                        continue;
                    }
                    (exchange, Ending::Answered)
                }
                Event::Body { exchange, bytes, wire_bytes, ends } => {
                    let Some(request) = exchanges.get_mut(exchange as usize) else { continue };
                    request.received(wire_bytes, now_ns);
                    match request.take_body(bytes) {
                        Ok(()) if !ends => continue,
                        Ok(()) => (exchange, Ending::Answered),
                        Err(cause) => {
                            self.session.cancel(request.stream);
                            (exchange, Ending::Failed(cause))
                        }
                    }
                }
                Event::End { exchange, wire_bytes } => {
                    let Some(request) = exchanges.get_mut(exchange as usize) else { continue };
                    request.received(wire_bytes, now_ns);
                    (exchange, Ending::Answered)
                }
                Event::Malformed { exchange, what } => {
                    let error = Http2Error { code: ErrorCode::PROTOCOL_ERROR, what };
                    (exchange, Ending::Failed(error.into()))
                }
                Event::Refused { exchange } => {
                    let cause = match self.session.going_away() {
                        Some(code) => Http2Cause::GoneAway(code),
                        None => Http2Cause::StreamReset(ErrorCode::REFUSED_STREAM),
                    };
                    (exchange, Ending::Untouched(Cause::Http2(cause)))
                }
                Event::Reset { exchange, code } => {
                    (exchange, Ending::Failed(Cause::Http2(Http2Cause::StreamReset(code))))
                }
            };
            ended.push((slot, ending));
        }
    }

    /// Puts bodies into the buffer, in turn.
    fn fill(&mut self, exchanges: &mut Requests) {
        while self.session.out.len() - self.written < FILL_BYTES {
            let Some(turn) = self.session.turn() else {
                return;
            };
            let Some(exchange) = exchanges.get_mut(turn.exchange as usize) else {
                return;
            };
            let rest = &exchange.bytes[exchange.written..];
            let here = rest.len().min(turn.bytes_max);
            let is_last = here == rest.len();
            let wire_bytes = self.session.send_body(turn, &rest[..here], is_last);
            exchange.written += here;
            exchange.bytes_out += wire_bytes as u64;
            if is_last {
                let serial = exchange.serial;
                self.mark_end(turn.exchange, serial);
            }
        }
    }

    /// The last byte of this exchange is the last in the buffer now.
    fn mark_end(&mut self, exchange: u32, serial: u64) {
        let end = self.written_before + self.session.out.len() as u64;
        self.unsent.push_back(Unsent { end, exchange, serial });
    }

    /// Takes off the buffer what was handed over.
    fn handed_over(&mut self, bytes: usize) {
        self.written += bytes;
        if self.written < self.session.out.len() {
            if self.written >= FILL_BYTES {
                self.session.out.drain(..self.written);
                self.written_before += self.written as u64;
                self.written = 0;
            }
            return;
        }
        self.written_before += self.written as u64;
        self.written = 0;
        self.session.out.clear();
        if self.session.out.capacity() > SPARE_BYTES_MAX {
            self.session.out = Vec::new();
        }
        self.session.all_sent();
    }

    /// Stamps the requests that are wholly sent.
    fn stamp_sent(&mut self, exchanges: &mut Requests) {
        let sent = self.written_before + self.written as u64;
        if self.unsent.front().is_none_or(|first| first.end > sent) {
            return;
        }
        let now_ns = sojourn_clock::now_ns();
        while let Some(unsent) = self.unsent.pop_front_if(|first| first.end <= sent) {
            if let Some(exchange) = exchanges.get_mut(unsent.exchange as usize)
                && exchange.serial == unsent.serial
            {
                exchange.sent_ns = now_ns;
            }
        }
    }
}

impl Connection {
    /// Sends what waits, and as much of the bodies as goes now.
    pub(crate) fn flush_frames(
        &mut self,
        exchanges: &mut Requests,
        driver: &mut Driver,
    ) -> Result<(), Errno> {
        let (Some(http2), Some(socket)) = (&mut self.http2, &self.socket) else {
            return Err(Errno::NOTCONN);
        };
        loop {
            http2.fill(exchanges);
            let rest = &http2.session.out[http2.written..];
            let (taken, flushed) = match &mut self.tls {
                Some(tls) => (tls.write(rest), tls.flush(driver, socket)?),
                None if rest.is_empty() => (0, true),
                None => match driver.send(socket, rest) {
                    Ok(taken) => (taken, taken == rest.len()),
                    Err(Errno::AGAIN) => (0, false),
                    Err(errno) => return Err(errno),
                },
            };
            http2.handed_over(taken);
            http2.is_blocked = !flushed;
            if http2.is_blocked {
                return Ok(());
            }
            http2.stamp_sent(exchanges);
            if !http2.has_to_send() {
                return Ok(());
            }
        }
    }

    /// Receives once, and appends what ended.
    pub(crate) fn receive_frames(
        &mut self,
        exchanges: &mut Requests,
        driver: &mut Driver,
        now_ns: u64,
        hangup: bool,
        ended: &mut Vec<(u32, Ending)>,
    ) -> FrameStep {
        let (Some(http2), Some(socket)) = (&mut self.http2, &self.socket) else {
            return FrameStep::Blocked;
        };
        if let Some(likely) = http2.session.likely_next() {
            exchanges.prefetch(likely);
        }
        let (bytes, drained) = match driver.receive(socket) {
            Ok(Received::Bytes { bytes, drained }) => (bytes, drained),
            Ok(Received::Nothing) => return FrameStep::Blocked,
            Ok(Received::End) => return FrameStep::Broken(Cause::Closed),
            Err(errno) => return FrameStep::Broken(Cause::Os(errno)),
        };
        let absorbed = match &mut self.tls {
            None => http2.absorb(bytes, exchanges, now_ns, ended).map_err(Cause::from),
            Some(tls) => absorb_tls(http2, tls, bytes, exchanges, now_ns, ended),
        };
        match absorbed {
            Ok(()) if drained && !hangup => FrameStep::Blocked,
            Ok(()) => FrameStep::Received,
            Err(cause) => {
                if let Cause::Http2(Http2Cause::Broken(error)) = &cause {
                    http2.session.say_goodbye(error.code);
                }
                // What the server did wrong, or the alert, if it goes at once.
                self.flush_frames(exchanges, driver).ok();
                FrameStep::Broken(cause)
            }
        }
    }
}

fn absorb_tls(
    http2: &mut Http2State,
    tls: &mut TlsSession,
    ciphertext: &[u8],
    exchanges: &mut Requests,
    now_ns: u64,
    ended: &mut Vec<(u32, Ending)>,
) -> Result<(), Cause> {
    let mut ciphertext = ciphertext;
    while !ciphertext.is_empty() {
        tls.feed(&mut ciphertext)?;
        loop {
            let length = match tls.plaintext() {
                Plaintext::Bytes(bytes) => {
                    http2.absorb(bytes, exchanges, now_ns, ended).map_err(Cause::from)?;
                    bytes.len()
                }
                Plaintext::End => return Err(Cause::Closed),
                Plaintext::Nothing => break,
            };
            tls.consume(length);
        }
    }
    Ok(())
}
