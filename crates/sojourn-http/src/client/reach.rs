//! Whether an origin can be reached, without a request.

use sojourn_clock::{SECOND_NS, now_ns};

use super::Client;
use crate::driver::ConnectionId;
use crate::{BodyPolicy, Exchange, Failure, FailureKind, Origin};

impl Client {
    /// Opens a connection to the origin the way its requests would go (names, local addresses,
    /// replaced targets, Unix socket, a proxy's tunnel) and closes it before TLS. Waits for at most
    /// `timeout_ns`; for a client with nothing else under way, since other completions are lost.
    pub fn reach(&mut self, origin: &Origin, timeout_ns: u64) -> Result<(), Failure> {
        let origin = self.origin(origin);
        let exchange = Exchange {
            token: 0,
            origin,
            bytes: &[],
            head_only: false,
            timeout_ns,
            body: BodyPolicy::Discard,
        };
        self.now_ns = now_ns();
        let serial = self.next_serial;
        self.next_serial += 1;
        let slot = self.exchanges.begin(self.now_ns, &exchange, serial);
        let probe = &mut self.exchanges[slot as usize];
        probe.is_probe = true;
        let at_ns = probe.deadline_ns();
        self.watch(slot, at_ns);
        self.dial(slot);
        let mut completions = Vec::new();
        while completions.is_empty() {
            self.wait_until(now_ns() + SECOND_NS, &mut completions)
                .map_err(|error| Failure { kind: FailureKind::Local, detail: error.to_string() })?;
        }
        match completions.pop() {
            Some(completion) => completion.outcome.map(drop),
            None => Ok(()),
        }
    }

    /// The way is open: that was all.
    pub(super) fn probed(&mut self, id: ConnectionId, slot: u32) {
        self.connections[id.slot as usize].exchange = None;
        self.close(id);
        self.complete(slot, None);
    }
}
