//! An attack's loop: what is due begins, then the client works, then its completions are accounted
//! for.

use crossbeam_channel::TryRecvError;
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_http::Completion;

use super::AttackGenerator;
use crate::{generator::telling::await_start, link::ToGenerator};

/// How many completions ahead a hit's memory is asked for: its place was last touched some
/// milliseconds before, and has left the cache.
const HITS_AHEAD: usize = 4;

impl AttackGenerator {
    pub(crate) fn run(mut self) -> Result<(), String> {
        let mut completions: Vec<Completion> = Vec::with_capacity(1024);
        await_start(&mut self.client, &self.spec, self.start_ns)?;
        let mut snapshot_ns = self.start_ns + SECOND_NS;
        let mut turn_ns = now_ns();
        while self.obey() && self.broken.is_none() {
            let mut now = now_ns();
            let wake_ns = self.start_due(&mut now);
            if now >= snapshot_ns {
                self.report(now);
                snapshot_ns += SECOND_NS * (1 + (now - snapshot_ns) / SECOND_NS);
            }
            let flush_ns = self.flush(now, turn_ns);
            self.health.turn(now.saturating_sub(turn_ns));
            let deadline_ns = wake_ns.min(snapshot_ns).min(flush_ns);
            self.client
                .wait_until(deadline_ns, &mut completions)
                .map_err(|error| format!("event loop failed: {error}"))?;
            turn_ns = self.account_for(&completions);
            self.client.recycle(&mut completions);
        }
        self.finish()
    }

    /// Accounts for a batch of completions, seen now: that instant.
    fn account_for(&mut self, completions: &[Completion]) -> u64 {
        for completion in completions.iter().take(HITS_AHEAD) {
            self.hits.prefetch(completion.token as usize);
        }
        let per_stamp = self.completions_per_stamp();
        let seen_ns = now_ns();
        let mut now = seen_ns;
        for (place, completion) in completions.iter().enumerate() {
            if let Some(ahead) = completions.get(place + HITS_AHEAD) {
                self.hits.prefetch(ahead.token as usize);
            }
            let sent_ns = self.client.last_ns();
            if sent_ns > now {
                // The last one's worker has gone on, and the clock was read behind that.
                now = sent_ns;
            } else if place > 0 && place % per_stamp == 0 {
                now = now_ns();
            }
            self.complete(completion, now);
            if self.closed.is_some() {
                // A worker goes on before the rest of the batch is looked at: it would otherwise
                // count the batch as its own lag.
                self.start_due(&mut now);
            }
        }
        seen_ns
    }

    /// Takes the coordinator's messages; false: end now.
    fn obey(&mut self) -> bool {
        loop {
            match self.spec.control.try_recv() {
                Ok(ToGenerator::StopArrivals) => self.stop(),
                Ok(ToGenerator::Amend(amendment)) => {
                    let open = self.open.as_mut();
                    let amended = open.map_or(Ok(()), |open| open.amend(amendment, now_ns()));
                    self.broken = amended.err().or_else(|| self.broken.take());
                }
                Ok(ToGenerator::Abort) | Err(TryRecvError::Disconnected) => return false,
                Ok(ToGenerator::Start { .. } | ToGenerator::SetVariable { .. }) => {}
                Err(TryRecvError::Empty) => return true,
            }
        }
    }
}
