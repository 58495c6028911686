//! Whether an origin can be reached, without a request.

use sojourn_clock::{SECOND_NS, now_ns};

use super::Client;
use crate::driver::ConnectionId;
use crate::{BodyPolicy, Completion, Exchange, Failure, FailureKind, Origin};

/// An origin that has let a connection come about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Greeting {
    /// TCP, and a proxy's tunnel where there is one, nanoseconds.
    pub connect_ns: u64,
    /// TLS handshake, nanoseconds; zero where the origin has none.
    pub tls_ns: u64,
    /// Until when its certificate is valid, in UTC, as `2031-05-06 23:59`; `None` without TLS, and
    /// where the certificate says it in no known way.
    pub certificate_ends: Option<String>,
}

impl Client {
    /// Opens a connection to the origin the way its requests would go (names, local addresses,
    /// replaced targets, Unix socket, a proxy's tunnel) and closes it before TLS. Waits for at most
    /// `timeout_ns`; for a client with nothing else under way, since other completions are lost.
    pub fn reach(&mut self, origin: &Origin, timeout_ns: u64) -> Result<(), Failure> {
        self.probe(origin, timeout_ns, false)?.outcome.map(drop)
    }

    /// The same with TLS where the origin has it: its certificate is verified as for a request.
    pub fn greet(&mut self, origin: &Origin, timeout_ns: u64) -> Result<Greeting, Failure> {
        self.certificate_ends = None;
        let completion = self.probe(origin, timeout_ns, true)?;
        completion.outcome?;
        Ok(Greeting {
            connect_ns: completion.timings.connect_ns,
            tls_ns: completion.timings.tls_ns,
            certificate_ends: self.certificate_ends.take(),
        })
    }

    fn probe(
        &mut self,
        origin: &Origin,
        timeout_ns: u64,
        probes_tls: bool,
    ) -> Result<Completion, Failure> {
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
        (probe.is_probe, probe.probes_tls) = (true, probes_tls);
        let at_ns = probe.deadline_ns();
        self.watch(slot, at_ns);
        self.dial(slot);
        let mut completions = Vec::new();
        loop {
            if let Some(completion) = completions.pop() {
                return Ok(completion);
            }
            self.wait_until(now_ns() + SECOND_NS, &mut completions)
                .map_err(|error| Failure::new(FailureKind::Local, error.to_string()))?;
        }
    }

    /// The way is open: that was all.
    pub(super) fn probed(&mut self, id: ConnectionId, slot: u32) {
        let connection = &mut self.connections[id.slot as usize];
        connection.exchange = None;
        self.certificate_ends = connection.tls.as_ref().and_then(|tls| tls.certificate_ends());
        self.close(id);
        self.complete(slot, None);
    }
}
