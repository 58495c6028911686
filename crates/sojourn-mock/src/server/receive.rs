//! Reading requests off a connection, and what happens to those that cannot be read.

use std::rc::Rc;

use rustix::event::epoll;
use rustix::io::Errno;
use rustix::net::{RecvFlags, Shutdown, recv, shutdown};
use sojourn_clock::{SECOND_NS, now_ns};

use super::Responder;
use super::connection::{Alarm, Connection};
use super::outgoing::Sent;
use super::reactor::{RECEIVE_BYTES, Reactor};
use crate::http1::intake::Taken;
use crate::message::{Ending, Message, Timing};
use crate::reason::reason;

/// How long a refused client may take to read why.
const LINGER_NS: u64 = SECOND_NS;
/// Most receives from one connection in one turn, so that others are not kept waiting.
const TURN_READS_MAX: usize = 64;
/// Most receives of what a refused client still sends, in one go.
const LINGER_READS_MAX: usize = 64;
/// What HTTP/2 begins with (RFC 9113, section 3.4).
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// As much of it as no HTTP/1 request begins with.
const HTTP2_SIGN: usize = 4;
/// The first byte of every TLS record that opens a connection.
const TLS_HANDSHAKE: u8 = 0x16;

/// What reading brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Incoming {
    /// Refused with this status.
    Bad(u16),
    /// Somebody else serves it now.
    Elsewhere,
    /// The client is gone.
    Gone,
    /// Nothing whole.
    Nothing,
    /// A request, and its answer to give.
    Request,
    /// It has had its share of the thread; there is more to read at its next turn.
    Yield,
}

impl Reactor {
    /// The next request, from what is here already or from the socket.
    pub(super) fn next_request<R: Responder>(
        &mut self,
        slot: usize,
        responder: &mut R,
    ) -> Incoming {
        let Self { connections, scratch, counters, others, wheel, assembly, .. } = self;
        let Some(connection) = connections.get_mut(slot) else {
            return Incoming::Gone;
        };
        let mut reads = 0;
        let taken = loop {
            if connection.intake.has_waiting() {
                let Connection { intake, id, .. } = connection;
                match intake.take_waiting(*id, responder, &mut now_ns) {
                    Taken::More { say_continue } => assembly.interim(say_continue),
                    taken => break taken,
                }
            }
            if !connection.is_readable {
                return Incoming::Nothing;
            }
            reads += 1;
            if reads > TURN_READS_MAX {
                return Incoming::Yield;
            }
            let length = match recv(&connection.socket, &mut **scratch, RecvFlags::empty()) {
                Ok((0, _)) => return Incoming::Gone,
                Ok((length, _)) => length,
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => {
                    connection.is_readable = false;
                    return Incoming::Nothing;
                }
                Err(_) => return Incoming::Gone,
            };
            counters.bytes_in.add(length as u64);
            // A short read has drained the socket; after the client's FIN the end is still to read.
            connection.is_readable = length == RECEIVE_BYTES || connection.peer_closed;
            let bytes = &scratch[..length];
            if connection.is_fresh {
                match connection.opening(bytes) {
                    Opening::Http1 => connection.is_fresh = false,
                    Opening::Unclear => {}
                    Opening::Other if others.as_ref().is_some_and(|it| it.speaks(bytes)) => {
                        let mut first = std::mem::take(&mut connection.intake.partial);
                        first.extend_from_slice(bytes);
                        return self.hand_over(slot, first);
                    }
                    Opening::Other => connection.is_fresh = false,
                }
            }
            connection.has_progressed = true;
            let Connection { intake, id, .. } = connection;
            match intake.take_received(bytes, *id, responder, &mut now_ns) {
                Taken::More { say_continue } => assembly.interim(say_continue),
                taken => break taken,
            }
        };
        if let Some((timer, _)) = connection.timer.take() {
            wheel.cancel(timer);
        }
        if matches!(taken, Taken::Request { .. }) {
            counters.requests.add(1);
        }
        connection.begin(taken)
    }

    /// Gives a connection to whoever speaks its language.
    fn hand_over(&mut self, slot: usize, first: Vec<u8>) -> Incoming {
        let connection = self.connections.remove(slot);
        if let Some((timer, _)) = connection.timer {
            self.wheel.cancel(timer);
        }
        // Fails only for descriptors that are not registered.
        let _deleted = epoll::delete(&self.epoll, &connection.socket);
        let taken = self.others.as_ref().is_some_and(|it| it.take(connection.socket, first));
        if !taken {
            self.counters.connections_refused.add(1);
        }
        Incoming::Elsewhere
    }

    /// Nothing more can be done until the client sends something.
    pub(super) fn rest<R: Responder>(&mut self, slot: usize, responder: &mut R) {
        let sent = self.flush(slot, responder);
        let Some(connection) = self.connections.get_mut(slot) else {
            return;
        };
        if sent == Sent::Failed || (self.is_draining && connection.is_idle()) {
            self.close(slot, responder);
        } else if connection.intake.is_midway() && connection.timer.is_none() {
            let at_ns = now_ns().saturating_add(self.request_timeout_ns);
            connection.timer = Some((self.wheel.insert(at_ns, slot as u32), Alarm::Request));
            connection.has_progressed = false;
        }
    }

    /// A request took too long; a body that still comes may go on.
    pub(super) fn overdue<R: Responder>(&mut self, slot: usize, responder: &mut R) {
        let Some(connection) = self.connections.get(slot) else {
            return;
        };
        if connection.has_progressed && connection.intake.is_in_body() {
            self.rest(slot, responder);
        } else {
            self.refuse(slot, 408, responder);
        }
    }

    /// Says why a request is not understood, and ends the connection in a way that lets the client
    /// read it: closing while bytes arrive would break the connection off.
    pub(super) fn refuse<R: Responder>(&mut self, slot: usize, status: u16, responder: &mut R) {
        self.counters.requests_bad.add(1);
        self.counters.statuses.add(status);
        let text = format!("{status} {}\n", reason(status));
        let message = Rc::new(Message::text(status, "text/plain", text.as_bytes()));
        let timing = Timing { intended_ns: 0, real_ns: 0 };
        let date = self.date.at(now_ns());
        let ending = Ending { date, timing, connection: Some("close") };
        message.write_head(&ending, &mut self.assembly.bytes);
        self.assembly.copy(&message, 0, message.body().length());
        let sent = self.flush(slot, responder);
        let Some(connection) = self.connections.get_mut(slot) else {
            return;
        };
        if sent != Sent::All || shutdown(&connection.socket, Shutdown::Write).is_err() {
            self.close(slot, responder);
            return;
        }
        if let Some((timer, _)) = connection.timer.take() {
            self.wheel.cancel(timer);
        }
        connection.is_lingering = true;
        connection.is_readable = true;
        let timer = self.wheel.insert(now_ns() + LINGER_NS, slot as u32);
        connection.timer = Some((timer, Alarm::Linger));
        self.linger(slot, responder);
    }

    /// Throws away what a refused client still sends.
    pub(super) fn linger<R: Responder>(&mut self, slot: usize, responder: &mut R) {
        let Some(connection) = self.connections.get(slot) else {
            return;
        };
        for _ in 0..LINGER_READS_MAX {
            match recv(&connection.socket, &mut *self.scratch, RecvFlags::empty()) {
                Ok((0, _)) => break,
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => break,
            }
        }
        self.close(slot, responder);
    }
}

/// What a client's first bytes tell of its language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    Http1,
    Other,
    Unclear,
}

impl Connection {
    fn opening(&self, bytes: &[u8]) -> Opening {
        let at = |place: usize| match self.intake.partial.get(place) {
            Some(byte) => Some(byte),
            None => bytes.get(place - self.intake.partial.len()),
        };
        if at(0) == Some(&TLS_HANDSHAKE) {
            return Opening::Other;
        }
        for (place, expected) in HTTP2_PREFACE[..HTTP2_SIGN].iter().enumerate() {
            match at(place) {
                None => return Opening::Unclear,
                Some(byte) if byte != expected => return Opening::Http1,
                Some(_) => {}
            }
        }
        Opening::Other
    }

    /// Takes up what has come.
    fn begin(&mut self, taken: Taken) -> Incoming {
        match taken {
            Taken::Request { reply, terms } => {
                self.reply = Some(reply);
                self.terms = terms;
                self.timing = None;
                Incoming::Request
            }
            Taken::Bad(status) => Incoming::Bad(status),
            Taken::More { .. } => Incoming::Nothing,
        }
    }
}
