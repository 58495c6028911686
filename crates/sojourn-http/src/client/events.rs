//! The event loop: wait, dispatch, give up what is due.

use std::io;

use super::{Client, ClientConfig, is_due, is_watched};
use crate::Completion;
use crate::cause::Cause;
use crate::connection::{Phase, Step};
use crate::deadlines::Due;
use crate::driver::{ConnectionId, Ready, Waited, look_out};

/// Events of a batch that share one reading of the clock. A stamp is early by at most the time
/// that so many receives take: some 30 µs.
const EVENTS_PER_STAMP: usize = 16;

/// Events after which what they have completed is handed out, if there is something. Hundreds at
/// once would have left the cache before their accounts are made and their connections used again,
/// and those answered first would idle meanwhile.
const EVENTS_PER_TURN: usize = 32;

impl Client {
    /// Works until `deadline_ns` or until there is at least one completion or a wake-up, whichever
    /// is first; appends completions. A deadline in the past polls once without waiting.
    ///
    /// Stamps: t2 and the first byte read are taken when the kernel reports the batch (16 events at
    /// most share one reading, so some tens of microseconds early at worst, and never before the
    /// bytes came that made it ready); the last byte sent right after its system call. On a ring t2
    /// is late rather than early, by what the rest of its batch took, and the last byte counts as
    /// sent when it is in the batch that the kernel takes next.
    pub fn wait_until(
        &mut self,
        deadline_ns: u64,
        completions: &mut Vec<Completion>,
    ) -> io::Result<()> {
        loop {
            if !self.to_flush.is_empty() {
                self.flush_begun();
            }
            let waited = match self.looked_at < self.ready.len() {
                true => Waited::not(),
                false => self.wait(deadline_ns)?,
            };
            self.now_ns = waited.now_ns;
            let all_seen = self.look_at_ready();
            if waited.called {
                self.take_addresses();
            }
            if !all_seen {
                // Nothing is given up before what has come of it is looked at.
                self.hand_out(completions);
                return Ok(());
            }
            self.resume_unfinished();
            if self.now_ns >= self.names.next_refresh_ns() {
                self.names.refresh(self.now_ns);
            }
            self.give_up_due();
            self.serve();
            if !self.finished.is_empty() {
                self.hand_out(completions);
                return Ok(());
            }
            if waited.woken || waited.now_ns >= deadline_ns {
                return Ok(());
            }
        }
    }

    /// Takes completions back that were looked at: the buffers of their answers are used again, so
    /// that answers which are kept need no new memory. Leaves none.
    pub fn recycle(&mut self, completions: &mut Vec<Completion>) {
        for completion in &mut *completions {
            if let Ok(answer) = &mut completion.outcome {
                self.exchanges.recycle(answer);
            }
        }
        completions.clear();
    }

    fn hand_out(&mut self, completions: &mut Vec<Completion>) {
        if completions.is_empty() {
            std::mem::swap(completions, &mut self.finished);
        } else {
            completions.append(&mut self.finished);
        }
    }

    /// Waits for the next events.
    fn wait(&mut self, deadline_ns: u64) -> io::Result<Waited> {
        let until_ns = self.wait_limit_ns(deadline_ns);
        self.ready.clear();
        self.looked_at = 0;
        let ClientConfig { punctual, spin, .. } = self.config;
        self.gather(until_ns);
        let (driver, ready) = (&mut self.driver, &mut self.ready);
        let waited = match (spin, punctual) {
            (true, _) => look_out(driver, until_ns, ready),
            (false, true) => self.punctual.wait_until(driver, until_ns, ready),
            (false, false) => driver.wait_until(until_ns, ready),
        }?;
        if self.ready.is_empty() {
            self.dial_from_ns = 0;
        }
        Ok(waited)
    }

    /// Looks at what is ready. False when the rest is left for the next turn, because there is
    /// something to hand out: never while requests wait for the connections that answers free, so
    /// that no request begun later takes one from them.
    fn look_at_ready(&mut self) -> bool {
        let from = self.looked_at;
        for first in self.ready.iter().skip(from).take(2) {
            self.connections.prefetch(first.id.slot as usize);
        }
        while let Some(event) = self.ready.get(self.looked_at).copied() {
            let place = self.looked_at - from;
            if place >= EVENTS_PER_TURN && !self.finished.is_empty() && self.to_serve.is_empty() {
                return false;
            }
            if place % EVENTS_PER_STAMP == EVENTS_PER_STAMP - 1 {
                self.now_ns = sojourn_clock::now_ns();
            }
            self.looked_at += 1;
            self.fetch_ahead();
            self.dispatch(event);
        }
        true
    }

    /// While an event is dealt with, the memory is fetched that the next ones need: the connection
    /// of the one after the next, and the request of the next one's, whose connection is there.
    fn fetch_ahead(&self) {
        let following = self.ready.get(self.looked_at..).unwrap_or_default();
        if let Some(after_next) = following.get(1) {
            self.connections.prefetch(after_next.id.slot as usize);
        }
        if let Some(next) = following.first()
            && let Some(connection) = self.connections.get(next.id.slot as usize)
            && let Some(exchange) = connection.exchange
        {
            self.exchanges.prefetch(exchange);
        }
    }

    /// How long the kernel may wait: not at all while there is something to hand out or to go on
    /// with, and no longer than to the next timeout.
    fn wait_limit_ns(&mut self, deadline_ns: u64) -> u64 {
        let goes_on = !self.unfinished.is_empty() || !self.to_serve.is_empty();
        if goes_on || !self.finished.is_empty() {
            return 0;
        }
        let exchanges = &self.exchanges;
        let due_ns = self.deadlines.next_ns(|deadline| is_watched(exchanges, deadline));
        deadline_ns.min(due_ns.unwrap_or(u64::MAX)).min(self.names.next_refresh_ns())
    }

    fn dispatch(&mut self, event: Ready) {
        let id = event.id;
        if event.writable {
            match self.phase(id) {
                Some(Phase::Connecting) => self.connecting_ended(id),
                Some(Phase::Tunnelling) => self.flush_tunnel(id),
                Some(Phase::Handshaking) => self.flush_handshake(id),
                Some(Phase::Sending) => self.transmit(id, self.now_ns),
                Some(Phase::Shared) => self.writable(id),
                _ => {}
            }
        }
        if event.readable {
            self.receive(id, event.hangup);
        }
    }

    /// Receives on a connection and acts on what came.
    pub(super) fn receive(&mut self, id: ConnectionId, hangup: bool) {
        loop {
            match self.phase(id) {
                None | Some(Phase::Resolving | Phase::Connecting) => return,
                Some(Phase::Shared) => return self.receive_frames(id, hangup),
                Some(Phase::Tunnelling) if self.receive_tunnel(id) => continue,
                Some(Phase::Tunnelling) => return,
                Some(_) => {}
            }
            let connection = &mut self.connections[id.slot as usize];
            let exchange = match connection.exchange {
                Some(slot) => self.exchanges.get_mut(slot as usize),
                None => None,
            };
            let (driver, known) = (&mut self.driver, &mut self.known_heads);
            let step = connection.receive(exchange, driver, known, &mut self.now_ns, hangup);
            match step {
                Step::Answered { reusable } => return self.answered(id, reusable),
                Step::Blocked => return,
                Step::Broken(cause) => return self.broken(id, cause),
                Step::Established => self.established(id),
                Step::Unfinished => return self.unfinished.push((id, hangup)),
            }
        }
    }

    fn resume_unfinished(&mut self) {
        if self.unfinished.is_empty() {
            return;
        }
        let unfinished = std::mem::take(&mut self.unfinished);
        for (id, hangup) in unfinished {
            self.now_ns = sojourn_clock::now_ns();
            self.receive(id, hangup);
        }
    }

    fn give_up_due(&mut self) {
        while let Some(deadline) = self.deadlines.pop_due(self.now_ns) {
            if deadline.what == Due::Answer && !self.watch_on(&deadline)
                || !is_due(&self.exchanges, &deadline)
            {
                continue;
            }
            let exchange = &self.exchanges[deadline.slot as usize];
            let connection = exchange.connection.and_then(|slot| self.connection_id(slot));
            let cause = match (deadline.what, connection) {
                (Due::NextAddress, Some(id)) => {
                    self.next_address_due(id, deadline.at_ns);
                    continue;
                }
                (Due::NextAddress, None) => continue,
                (Due::Connection, connection) => self.connect_timeout(connection),
                (Due::Answer, _) => Cause::Timeout(exchange.timeout_ns),
            };
            match connection {
                Some(id) if exchange.stream != 0 => self.give_up_stream(id, deadline.slot, cause),
                Some(id) if deadline.what == Due::Answer && self.hand_over(id) => {
                    self.fail(deadline.slot, cause);
                }
                Some(id) => self.broken(id, cause),
                None => self.fail(deadline.slot, cause),
            }
        }
    }
}
