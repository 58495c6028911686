//! One connection as a state machine: what it does with bytes; opening and closing is the client's.

mod http2;

use rustix::io::Errno;

use crate::PeerId;
use crate::cause::Cause;
use crate::codec::KnownHeads;
use crate::dialling::Dialling;
use crate::driver::{Driver, Received, Socket};
use crate::in_flight::InFlight;
use crate::tls::{Plaintext, TlsFault, TlsSession};

pub(crate) use http2::{Ending, FrameStep, Http2State};

/// Most receives in one go (of 64 KB each), so that one fast answer does not starve the others.
pub(crate) const RECEIVES_MAX: usize = 16;

/// A connection. Small: ten thousand of them idle.
pub(crate) struct Connection {
    /// Tells events of an earlier connection in this slot apart.
    pub(crate) generation: u32,
    pub(crate) origin: u32,
    pub(crate) phase: Phase,
    /// It has answered a request before.
    pub(crate) reused: bool,
    /// The other end; once it is up, what was agreed upon with it too.
    pub(crate) peer: PeerId,
    /// When it was begun to be opened; once it is up, when it last answered.
    pub(crate) since_ns: u64,
    /// It is an attempt of the connection in that slot, at another address.
    pub(crate) leader: Option<u32>,
    /// While it is being made.
    pub(crate) dialling: Option<Box<Dialling>>,
    /// The request it serves or is being opened for. One that speaks HTTP/2 has its own list.
    pub(crate) exchange: Option<u32>,
    pub(crate) socket: Option<Socket>,
    pub(crate) tls: Option<Box<TlsSession>>,
    /// It is up and speaks HTTP/2.
    pub(crate) http2: Option<Box<Http2State>>,
}

/// What a connection is at. A closed one leaves its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Waiting for the name.
    Resolving,
    /// TCP handshake.
    Connecting,
    /// The proxy makes a tunnel.
    Tunnelling,
    /// TLS handshake.
    Handshaking,
    /// Free.
    Idle,
    /// The request is not wholly sent.
    Sending,
    /// Sent, nothing of the answer yet.
    Waiting,
    /// Some of the answer is here.
    Receiving,
    /// Speaks HTTP/2: carries any number of requests.
    Shared,
}

impl Phase {
    /// It is not up.
    pub(crate) fn is_dialling(self) -> bool {
        matches!(self, Self::Resolving | Self::Connecting | Self::Tunnelling | Self::Handshaking)
    }
}

/// What receiving led to.
#[derive(Debug)]
pub(crate) enum Step {
    /// The answer is whole.
    Answered {
        /// The connection may carry another request.
        reusable: bool,
    },
    /// Nothing more until the driver says so.
    Blocked,
    /// The connection is of no use any more.
    Broken(Cause),
    /// TLS is up.
    Established,
    /// There is more; others come first.
    Unfinished,
}

/// What a portion of bytes led to.
enum Portion {
    /// The answer is whole, so many bytes did not belong to it.
    Whole { excess: usize },
    /// More is to come.
    Partial,
}

impl Connection {
    pub(crate) fn new(generation: u32, origin: u32, exchange: Option<u32>, now_ns: u64) -> Self {
        Self {
            generation,
            origin,
            phase: Phase::Resolving,
            reused: false,
            peer: PeerId::default(),
            since_ns: now_ns,
            leader: None,
            dialling: None,
            exchange,
            socket: None,
            tls: None,
            http2: None,
        }
    }

    /// Sends as much of the request as goes now; the first part at `now_ns`.
    pub(crate) fn transmit(
        &mut self,
        exchange: &mut InFlight,
        driver: &mut Driver,
        now_ns: u64,
    ) -> Result<(), Errno> {
        let Some(socket) = &self.socket else {
            return Err(Errno::NOTCONN);
        };
        if exchange.first_sent_ns == 0 {
            exchange.first_sent_ns = now_ns;
        }
        loop {
            let rest = &exchange.bytes[exchange.written..];
            let (taken, flushed) = match &mut self.tls {
                Some(tls) => (tls.write(rest), tls.flush(driver, socket)?),
                None if rest.is_empty() => (0, true),
                None => match driver.send(socket, rest) {
                    Ok(taken) => (taken, taken == rest.len()),
                    Err(Errno::AGAIN) => (0, false),
                    Err(errno) => return Err(errno),
                },
            };
            exchange.written += taken;
            exchange.bytes_out += taken as u64;
            if !flushed {
                return Ok(());
            }
            if exchange.written == exchange.bytes.len() {
                break;
            }
        }
        let is_copied = self.tls.is_none() && driver.is_batched(exchange.bytes.len());
        exchange.sent_ns = match is_copied && exchange.first_sent_ns == now_ns {
            true => now_ns,
            false => sojourn_clock::now_ns(),
        };
        if self.phase == Phase::Sending {
            self.phase = Phase::Waiting;
        }
        Ok(())
    }

    /// Receives until nothing is left, the answer is whole or others should come first. `hangup`:
    /// the other end sends no more, so read to its end. `now_ns` is brought up to date by each
    /// further read: an answer must not end before its last byte was there.
    pub(crate) fn receive(
        &mut self,
        mut exchange: Option<&mut InFlight>,
        driver: &mut Driver,
        known: &mut KnownHeads,
        now_ns: &mut u64,
        hangup: bool,
    ) -> Step {
        for round in 0..RECEIVES_MAX {
            let Some(socket) = &self.socket else {
                return Step::Blocked;
            };
            if round > 0 {
                *now_ns = sojourn_clock::now_ns();
            }
            let (bytes, drained) = match driver.receive(socket) {
                Ok(Received::Bytes { bytes, drained }) => (bytes, drained),
                Ok(Received::Nothing) => return Step::Blocked,
                Ok(Received::End) => return self.ended(exchange),
                Err(errno) => return Step::Broken(Cause::Os(errno)),
            };
            let portion = match &mut self.tls {
                None => absorb_plain(&mut exchange, bytes, known, *now_ns),
                Some(tls) => absorb_tls(tls, &mut exchange, bytes, known, *now_ns),
            };
            match portion {
                Ok(Portion::Whole { excess }) => {
                    let alone = excess == 0 && !hangup && (drained || self.is_drained(driver));
                    let sent = exchange
                        .is_some_and(|exchange| exchange.sent_ns != 0 && exchange.keep_alive);
                    return Step::Answered { reusable: alone && sent };
                }
                Ok(Portion::Partial) => {}
                Err(cause) => return self.broken(driver, cause),
            }
            if let Err(errno) = self.after_portion(exchange.as_deref(), driver) {
                return Step::Broken(Cause::Os(errno));
            }
            if self.is_established() {
                return Step::Established;
            }
            if drained && !hangup {
                return Step::Blocked;
            }
        }
        Step::Unfinished
    }

    /// Nothing more has come after the answer.
    fn is_drained(&self, driver: &mut Driver) -> bool {
        let received = self.socket.as_ref().map(|socket| driver.receive(socket));
        matches!(received, Some(Ok(Received::Nothing)))
    }

    fn is_established(&self) -> bool {
        self.phase == Phase::Handshaking
            && self.tls.as_ref().is_some_and(|tls| !tls.is_handshaking())
    }

    /// Moves the phase on, and sends what TLS has to say of its own (handshake, key updates).
    fn after_portion(
        &mut self,
        exchange: Option<&InFlight>,
        driver: &mut Driver,
    ) -> Result<(), Errno> {
        let has_answer = exchange.is_some_and(|exchange| exchange.first_read_ns != 0);
        if has_answer && self.phase == Phase::Waiting {
            self.phase = Phase::Receiving;
        }
        if let (Some(tls), Some(socket)) = (&mut self.tls, &self.socket) {
            tls.flush(driver, socket)?;
        }
        Ok(())
    }

    fn ended(&self, exchange: Option<&mut InFlight>) -> Step {
        if self.phase == Phase::Handshaking {
            return Step::Broken(Cause::Tls {
                why: "closed during the handshake".to_owned(),
                fault: Some(TlsFault::Closed),
            });
        }
        match exchange.map(InFlight::end) {
            Some(Ok(())) => Step::Answered { reusable: false },
            Some(Err(cause)) => Step::Broken(cause),
            None => Step::Broken(Cause::Closed),
        }
    }

    fn broken(&mut self, driver: &mut Driver, cause: Cause) -> Step {
        // The alert that says why, if it goes at once.
        if let (Some(tls), Some(socket)) = (&mut self.tls, &self.socket) {
            tls.flush(driver, socket).ok();
        }
        Step::Broken(cause)
    }
}

fn absorb_plain(
    exchange: &mut Option<&mut InFlight>,
    bytes: &[u8],
    known: &mut KnownHeads,
    now_ns: u64,
) -> Result<Portion, Cause> {
    let Some(exchange) = exchange.as_deref_mut() else {
        // Bytes that nobody asked for end an idle connection.
        return Err(Cause::Closed);
    };
    Ok(match exchange.absorb(bytes, known, now_ns)? {
        Some(excess) => Portion::Whole { excess },
        None => Portion::Partial,
    })
}

fn absorb_tls(
    tls: &mut TlsSession,
    exchange: &mut Option<&mut InFlight>,
    ciphertext: &[u8],
    known: &mut KnownHeads,
    now_ns: u64,
) -> Result<Portion, Cause> {
    let mut ciphertext = ciphertext;
    let mut whole = None;
    while !ciphertext.is_empty() {
        tls.feed(&mut ciphertext)?;
        if tls.speaks_http2() {
            // Frames that came with the end of the handshake.
            tls.keep_early();
            continue;
        }
        loop {
            let length = match tls.plaintext() {
                Plaintext::Bytes(bytes) if whole.is_some() => {
                    whole = whole.map(|excess| excess + bytes.len());
                    bytes.len()
                }
                Plaintext::Bytes(bytes) => {
                    match absorb_plain(exchange, bytes, known, now_ns)? {
                        Portion::Whole { excess } => whole = Some(excess),
                        Portion::Partial => {}
                    }
                    bytes.len()
                }
                Plaintext::End if whole.is_some() => {
                    // Said goodbye after the answer: not to be used again.
                    whole = Some(1);
                    break;
                }
                Plaintext::End => {
                    let exchange = exchange.as_deref_mut().ok_or(Cause::Closed)?;
                    exchange.end()?;
                    return Ok(Portion::Whole { excess: 1 });
                }
                Plaintext::Nothing => break,
            };
            tls.consume(length);
        }
    }
    Ok(whole.map_or(Portion::Partial, |excess| Portion::Whole { excess }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_connections_are_small_and_clients_can_move_to_their_thread() {
        const { assert!(size_of::<Connection>() <= 72) };
        fn is_send<T: Send>() {}
        is_send::<crate::Client>();
    }
}
