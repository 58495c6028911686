//! The event loop: wait, dispatch, give up what is due.

use std::io;

use super::{Client, ClientConfig, is_due};
use crate::Completion;
use crate::cause::Cause;
use crate::connection::{Phase, Step};
use crate::deadlines::Due;
use crate::driver::{ConnectionId, Ready, look_out};

/// Events of a batch that share one reading of the clock. A stamp is early by at most the time
/// that so many receives take: some 30 µs.
const EVENTS_PER_STAMP: usize = 16;

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
            let until_ns = self.wait_limit_ns(deadline_ns);
            let mut ready = std::mem::take(&mut self.ready);
            ready.clear();
            let ClientConfig { punctual, spin, .. } = self.config;
            let waited = match (spin, punctual) {
                (true, _) => look_out(&mut self.driver, until_ns, &mut ready),
                (false, true) => self.punctual.wait_until(&mut self.driver, until_ns, &mut ready),
                (false, false) => self.driver.wait_until(until_ns, &mut ready),
            };
            let waited = match waited {
                Ok(waited) => waited,
                Err(error) => {
                    self.ready = ready;
                    return Err(error);
                }
            };
            self.now_ns = waited.now_ns;
            if ready.is_empty() {
                self.dial_from_ns = 0;
            }
            for (place, event) in ready.iter().enumerate() {
                if place % EVENTS_PER_STAMP == EVENTS_PER_STAMP - 1 {
                    self.now_ns = sojourn_clock::now_ns();
                }
                self.dispatch(*event);
            }
            self.ready = ready;
            self.resume_unfinished();
            if waited.called {
                self.take_addresses();
            }
            if self.now_ns >= self.names.next_refresh_ns() {
                self.names.refresh(self.now_ns);
            }
            self.give_up_due();
            self.serve();
            if !self.finished.is_empty() {
                if completions.is_empty() {
                    std::mem::swap(completions, &mut self.finished);
                } else {
                    completions.append(&mut self.finished);
                }
                return Ok(());
            }
            if waited.woken || waited.now_ns >= deadline_ns {
                return Ok(());
            }
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
        let due_ns = self.deadlines.next_ns(|deadline| is_due(exchanges, deadline));
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
            let step = connection.receive(exchange, &mut self.driver, &mut self.now_ns, hangup);
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
            if !is_due(&self.exchanges, &deadline) {
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
