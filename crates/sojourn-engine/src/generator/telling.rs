//! What a generator tells the coordinator: that it is there, its figures, its end.

use sojourn_clock::now_ns;
use sojourn_metrics::Snapshot;

use super::{ClosedStream, Generator, GeneratorSpec, OpenStream, world::World};
use crate::{health::Connections, last_word::hand_over, link::FromGenerator};

/// Waits for the run's start as arrivals are waited for, and says when that was over: how far apart
/// the generators of a run began.
pub(super) fn await_start(
    client: &mut impl World,
    spec: &GeneratorSpec,
    start_ns: u64,
) -> Result<(), String> {
    let mut none = Vec::new();
    while client.now_ns() < start_ns {
        let waited = client.wait_until(start_ns, &mut none);
        waited.map_err(|error| format!("event loop failed: {error}"))?;
    }
    let began = FromGenerator::Began { at_ns: client.now_ns() };
    // The queue is empty before the first second's figures.
    let _ignored = spec.reports.try_send((spec.index, began));
    Ok(())
}

impl Generator {
    pub(super) fn tell_when_done(&mut self, now: u64) {
        let is_done = !self.arrivals_done
            && self.open.iter().all(|stream| stream.is_over(now))
            && self.closed.iter().all(|stream| stream.is_over(now));
        if is_done {
            let at_ns = now_ns();
            let open = self.open.iter().filter_map(OpenStream::end_ns);
            let ends_ns = open.chain(self.closed.iter().filter_map(ClosedStream::end_ns)).max();
            let message = FromGenerator::ArrivalsDone {
                last_t0_ns: self.last_t0_ns,
                load_end_ns: match self.stopped {
                    true => at_ns,
                    false => ends_ns.unwrap_or(0).max(self.last_t0_ns),
                },
                at_ns,
            };
            // Tried again at the next turn when the channel is full.
            self.arrivals_done = self.spec.reports.try_send((self.spec.index, message)).is_ok();
        }
    }

    /// Hands over this second's figures.
    pub(super) fn report(&mut self, now: u64) {
        let snapshot = self.snapshot(now);
        // The coordinator's queue holds minutes of snapshots. A lost one shows as a gap in their
        // numbers, which makes the run void.
        let _ignored =
            self.spec.reports.try_send((self.spec.index, FromGenerator::Snapshot(snapshot)));
    }

    fn snapshot(&mut self, now: u64) -> Box<Snapshot> {
        self.health.measure(now, &mut self.recorder);
        self.health.refused("facts to the ledger", self.outbox.take_refused(), &mut self.recorder);
        let connections = Connections::of(&self.client);
        self.health.levels(connections, self.lag_budget.ns(), &mut self.recorder);
        let spare = self.spec.spares.try_recv().ok().map(|spare| *spare);
        Box::new(self.recorder.take(now, spare))
    }

    /// Hands over everything that is left; `vouched_ns`: how far this generator has seen.
    pub(super) fn finish(mut self, vouched_ns: u64) -> Result<(), String> {
        self.outbox.finish(vouched_ns);
        let last = FromGenerator::Snapshot(self.snapshot(now_ns()));
        hand_over(&self.spec.reports, (self.spec.index, last))
    }
}
