//! What a turn of the generator's loop takes on, as long as there is room for what comes of it.

use sojourn_clock::now_ns;
use sojourn_http::Completion;

use super::{Generator, actor::Wake};

/// Facts of a journey that one completion brings at most: ends and beginnings of its steps.
const FACTS_PER_JOURNEY: usize = 8;

impl Generator {
    /// Wakes the actors whose instant has come.
    pub(super) fn wake_due(&mut self) {
        while let Some(token) = self.timers.pop_due(now_ns()) {
            self.wake(token, Wake::Timer);
        }
    }

    /// Wakes those whose requests are done. Each can bring thousands of facts, where it is a batch:
    /// when there is no room for more, the rest waits for the next turn.
    pub(super) fn complete(&mut self, completions: &mut Vec<Completion>) {
        let batches = self.spec.plan.journeys.iter().filter_map(|journey| journey.batch());
        let journeys = batches.map(|batch| batch.size as usize).max().unwrap_or(1);
        while !completions.is_empty() && self.has_room() {
            let fit = self.outbox.room() / (FACTS_PER_JOURNEY * journeys);
            for completion in completions.drain(..fit.clamp(1, completions.len())) {
                self.wake(completion.token, Wake::Completion(completion));
                if !self.closed.is_empty() {
                    // A user whose journey has just ended goes on before the rest of the batch is
                    // looked at: it would otherwise count the batch as its own lag.
                    self.start_due();
                }
            }
        }
    }

    /// Whether more can be begun; facts that crowd the outbox are sent first.
    pub(super) fn has_room(&mut self) -> bool {
        if self.outbox.is_crowded() {
            self.outbox.relieve();
        }
        !self.outbox.is_crowded()
    }
}

/// Up to where no fact is still to come: all that is stamped so far is in the outbox, but for that
/// of completions which wait for room in it.
pub(super) fn vouched_ns(now_ns: u64, waiting: &[Completion]) -> u64 {
    waiting.iter().map(|completion| completion.ended_ns).fold(now_ns, u64::min)
}
