//! What a connection does when it can do something: finish sending, carry its answer on, take the
//! next request.

use std::collections::VecDeque;
use std::rc::Rc;

use rustix::net::sockopt;
use sojourn_clock::now_ns;

use super::Responder;
use super::connection::{Alarm, Connection};
use super::counters::Counters;
use super::outgoing::{Assembly, COPIED_MAX, Sent};
use super::reactor::{Date, Reactor};
use super::receive::Incoming;
use crate::http1::intake::Terms;
use crate::message::{Ending, Message, Timing};
use crate::reply::{Reply, Step, What};

/// Assembled answers are sent at this size even when more requests wait.
const ASSEMBLED_MAX: usize = 64 * 1024;
/// Most requests of one connection in one turn, so that others are not kept waiting.
const TURN_REQUESTS_MAX: usize = 64;
/// An answer may leave late by one part in so many of its hold …
const COALESCE_LOG2: u32 = 10;
/// … and by so much at most: 2^19 ns.
const COALESCE_MAX_LOG2: u32 = 19;

/// How far an answer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// The socket takes no more for now.
    Blocked,
    /// The connection ends in order.
    Close,
    /// All is handed over; the connection may go on.
    Done,
    /// The connection is broken off.
    Reset,
    /// It waits for the client to leave.
    Silent,
    /// It goes on at this instant.
    Until(u64),
    /// It goes on at its next turn.
    Yield,
}

impl Reactor {
    /// Lets a connection do all it can do now.
    pub(super) fn drive<R: Responder>(&mut self, slot: usize, responder: &mut R) {
        let mut requests = 0;
        loop {
            if !self.resume(slot, responder) {
                return;
            }
            let Some(connection) = self.connections.get(slot) else {
                return;
            };
            if connection.is_lingering {
                self.linger(slot, responder);
                return;
            }
            let progress = if connection.reply.is_some() {
                self.perform(slot)
            } else {
                match self.next_request(slot, responder) {
                    Incoming::Request if requests < TURN_REQUESTS_MAX => {
                        requests += 1;
                        continue;
                    }
                    Incoming::Request | Incoming::Yield => Progress::Yield,
                    Incoming::Nothing => {
                        self.rest(slot, responder);
                        return;
                    }
                    Incoming::Gone => Progress::Close,
                    Incoming::Elsewhere => return,
                    Incoming::Bad(status) => {
                        self.refuse(slot, status, responder);
                        return;
                    }
                }
            };
            let goes_on = match progress {
                // Pipelined requests are answered together.
                Progress::Done if self.assembly.bytes.len() < ASSEMBLED_MAX => true,
                Progress::Done => self.flush(slot, responder) != Sent::Failed,
                _ => false,
            };
            if !goes_on {
                self.pause(slot, progress, responder);
                return;
            }
        }
    }

    /// Sends what was blocked; false when the connection must still wait, or is gone.
    fn resume<R: Responder>(&mut self, slot: usize, responder: &mut R) -> bool {
        let Some(connection) = self.connections.get_mut(slot) else {
            return false;
        };
        let Some(outgoing) = &mut connection.outgoing else {
            return true;
        };
        outgoing.tags.append(&mut self.assembly.tags);
        let sent = outgoing.resume(&connection.socket, &mut self.assembly.taken);
        match sent {
            Sent::Blocked => return false,
            Sent::Yield => {
                self.queue(slot);
                return false;
            }
            Sent::All if !connection.close_when_sent => {
                let tags = std::mem::take(&mut outgoing.tags);
                connection.outgoing = None;
                self.tell_sent(&tags, responder);
                return true;
            }
            Sent::All => {
                let tags = std::mem::take(&mut outgoing.tags);
                self.tell_sent(&tags, responder);
            }
            Sent::Failed => {}
        }
        self.close(slot, responder);
        false
    }

    /// Carries an answer on as far as it goes now.
    fn perform(&mut self, slot: usize) -> Progress {
        let Self { connections, assembly, date, counters, is_draining, .. } = self;
        let Some(connection) = connections.get_mut(slot) else {
            return Progress::Close;
        };
        let Connection { reply: slot, outgoing, terms, timing, socket, .. } = connection;
        let Some(reply) = slot else {
            return Progress::Done;
        };
        loop {
            let now = now_ns();
            if reply.due_ns > now {
                return Progress::Until(coalesced(reply, terms.arrival_ns));
            }
            let timing = *timing.get_or_insert_with(|| {
                let intended_ns = reply.due_ns.saturating_sub(terms.arrival_ns);
                let real_ns = now.saturating_sub(terms.arrival_ns);
                counters.hold.record(real_ns);
                counters.overshoot.record(real_ns.saturating_sub(intended_ns));
                Timing { intended_ns, real_ns }
            });
            let ends = reply.close || !terms.keep_alive || *is_draining;
            let mut turn = Turn { now_ns: now, timing, ends, terms, date, assembly, counters };
            let (message, from, to) = match turn.next(reply) {
                Next::Body(message, from, to) => (message, from, to),
                Next::End(progress) => return finish(slot, assembly, counters, progress),
                Next::Go => continue,
                Next::Rest => return Progress::Silent,
            };
            match assembly.body(socket, &message, from, to, outgoing) {
                Sent::All => {}
                Sent::Blocked => return Progress::Blocked,
                Sent::Failed => return Progress::Close,
                Sent::Yield => return Progress::Yield,
            }
        }
    }

    /// Leaves a connection as it must wait, or ends it.
    fn pause<R: Responder>(&mut self, slot: usize, progress: Progress, responder: &mut R) {
        let sent = self.flush(slot, responder);
        let Some(connection) = self.connections.get_mut(slot) else {
            return;
        };
        match (progress, sent) {
            (Progress::Blocked, Sent::All | Sent::Blocked) => {}
            (Progress::Yield, Sent::All | Sent::Blocked) => self.queue(slot),
            (Progress::Close, Sent::Blocked) => connection.close_when_sent = true,
            (Progress::Silent, Sent::All | Sent::Blocked) if !connection.peer_closed => {
                connection.is_silent = true;
            }
            (Progress::Until(at_ns), Sent::All | Sent::Blocked) => {
                if connection.timer.is_none() {
                    let timer = self.wheel.insert(at_ns, slot as u32);
                    connection.timer = Some((timer, Alarm::Answer));
                    self.counters.held.add(1);
                }
            }
            (progress, _) => {
                if progress == Progress::Reset {
                    // Closing with a linger of zero sends RST instead of FIN.
                    let zero = Some(std::time::Duration::ZERO);
                    let _set = sockopt::set_socket_linger(&connection.socket, zero);
                }
                self.close(slot, responder);
            }
        }
    }

    /// Sends what is assembled for this connection.
    pub(super) fn flush<R: Responder>(&mut self, slot: usize, responder: &mut R) -> Sent {
        let Some(connection) = self.connections.get_mut(slot) else {
            return Sent::Failed;
        };
        let sent = self.assembly.flush(&connection.socket, &mut connection.outgoing);
        self.counters.bytes_out.add(std::mem::take(&mut self.assembly.taken));
        if sent == Sent::All && !self.assembly.tags.is_empty() {
            let mut tags = std::mem::take(&mut self.assembly.tags);
            self.tell_sent(&tags, responder);
            tags.clear();
            self.assembly.tags = tags;
        }
        sent
    }

    fn tell_sent<R: Responder>(&self, tags: &[u64], responder: &mut R) {
        let sent_ns = now_ns();
        for tag in tags {
            responder.sent(*tag, sent_ns);
        }
    }
}

/// What an answer is carried on with.
struct Turn<'a> {
    now_ns: u64,
    timing: Timing,
    /// The connection ends with the answer.
    ends: bool,
    terms: &'a Terms,
    date: &'a mut Date,
    assembly: &'a mut Assembly,
    counters: &'a Counters,
}

/// What is next of an answer.
enum Next {
    /// A part of a body that is too large to be copied.
    Body(Rc<Message>, u64, u64),
    /// Nothing: it is given.
    End(Progress),
    /// It goes on at once.
    Go,
    /// Nothing, and it is not given either.
    Rest,
}

impl Turn<'_> {
    fn next(&mut self, reply: &mut Reply) -> Next {
        let given = if self.ends { Progress::Close } else { Progress::Done };
        match &mut reply.what {
            What::Message(message) => {
                self.head(message);
                let to = if self.terms.is_head { 0 } else { message.body().length() };
                if to <= COPIED_MAX {
                    self.assembly.copy(message, 0, to);
                    return Next::End(given);
                }
                let message = message.clone();
                // What is left to do after the body: nothing.
                reply.what = What::Steps(VecDeque::new());
                Next::Body(message, 0, to)
            }
            What::Steps(steps) => match steps.pop_front() {
                None => Next::End(given),
                Some(Step::Body { .. }) if self.terms.is_head => Next::Go,
                Some(Step::Body { message, from, to }) => Next::Body(message, from, to),
                Some(Step::Close) => Next::End(Progress::Close),
                Some(Step::Head(message)) => {
                    self.head(&message);
                    Next::Go
                }
                Some(Step::Reset) => Next::End(Progress::Reset),
                Some(Step::Send(bytes)) => {
                    self.assembly.bytes.extend_from_slice(&bytes);
                    Next::Go
                }
                Some(Step::Silence) => {
                    steps.push_front(Step::Silence);
                    Next::Rest
                }
                Some(Step::WaitUntil(at_ns)) => {
                    (reply.due_ns, reply.is_exact) = (at_ns, true);
                    Next::Go
                }
            },
        }
    }

    fn head(&mut self, message: &Message) {
        let connection = match self.ends {
            true => Some("close"),
            false => self.terms.is_http10.then_some("keep-alive"),
        };
        let ending = Ending { date: self.date.at(self.now_ns), timing: self.timing, connection };
        message.write_head(&ending, &mut self.assembly.bytes);
        self.counters.statuses.add(message.status());
    }
}

/// The answer is given; its connection goes on or ends as `progress` says.
fn finish(
    reply: &mut Option<Reply>,
    assembly: &mut Assembly,
    counters: &Counters,
    progress: Progress,
) -> Progress {
    counters.answered.add(1);
    if let Some(done) = reply.take().filter(|done| done.tag != u64::MAX) {
        assembly.tags.push(done.tag);
    }
    progress
}

/// When an answer leaves: with all others of the same moment, so that ten thousand held answers
/// cost a wake-up for each half millisecond and not for each of them. Never earlier than due.
fn coalesced(reply: &Reply, arrival_ns: u64) -> u64 {
    let hold_ns = reply.due_ns.saturating_sub(arrival_ns);
    let log2 = hold_ns.checked_ilog2().unwrap_or(0).saturating_sub(COALESCE_LOG2);
    if reply.is_exact || log2 == 0 {
        return reply.due_ns;
    }
    let moment_ns = 1_u64 << log2.min(COALESCE_MAX_LOG2);
    reply.due_ns.checked_next_multiple_of(moment_ns).unwrap_or(reply.due_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_leaves_late_by_a_thousandth_of_its_hold_at_most() {
        let message = Rc::new(Message::text(200, "text/plain", b""));
        for (hold_ns, late_max_ns) in
            [(0, 0), (1000, 0), (1_000_000, 976), (700_000_000, 524_288), (u64::MAX / 2, 524_288)]
        {
            for arrival_ns in (0..1_000_000).step_by(98_765) {
                let due_ns = arrival_ns + hold_ns;
                let reply = Reply::message(message.clone()).held_until(due_ns);
                let at_ns = coalesced(&reply, arrival_ns);
                assert!(at_ns >= due_ns && at_ns - due_ns <= late_max_ns, "{hold_ns}: {at_ns}");
                assert_eq!(coalesced(&reply.exact(), arrival_ns), due_ns);
            }
        }
    }
}
