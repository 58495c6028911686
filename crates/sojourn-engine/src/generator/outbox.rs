//! A source's facts on their way to the ledger.

use std::time::Duration;

use crossbeam_channel::{Sender, TrySendError};
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_ledger::{Batch, Fact, JourneyId, Key, SourceId, Stamped};
use sojourn_plan::{Journey, Plan, RenderContext, Template};

/// More facts than this are sent at once.
const BATCH_FACTS: usize = 1_024;

/// How often an [`Outbox`] sends. Each batch wakes the observer, which costs more than what it
/// then does with a few facts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rhythm {
    /// With facts waiting, nanoseconds.
    pub(crate) facts_ns: u64,
    /// With none, nanoseconds: the watermark alone.
    pub(crate) idle_ns: u64,
}

impl Rhythm {
    /// Something waits for what the ledger decides: facts of other sources, or actors.
    pub(crate) const PROMPT: Self = Self { facts_ns: MILLISECOND_NS, idle_ns: 2 * MILLISECOND_NS };
    /// Nothing happens after an answer that the ledger would have to compare it with.
    pub(crate) const RELAXED: Self =
        Self { facts_ns: 10 * MILLISECOND_NS, idle_ns: 10 * MILLISECOND_NS };

    /// There are no facts at all; what is said is only how far this source has seen.
    pub(crate) const FACTLESS: Self =
        Self { facts_ns: 50 * MILLISECOND_NS, idle_ns: 50 * MILLISECOND_NS };

    /// A plan's.
    pub(crate) fn of(plan: &Plan) -> Self {
        let is_root_only = |journey: &Journey| {
            journey.stages.is_empty() && journey.steps.iter().all(|step| step.after.is_none())
        };
        if plan.journeys.iter().all(is_root_only) { Self::RELAXED } else { Self::PROMPT }
    }
}

/// Collects facts and sends them in batches with a watermark. Never blocks: while the channel is
/// full, facts wait here up to a bound; beyond it they are refused and counted, and the run is
/// void.
#[derive(Debug)]
pub(crate) struct Outbox {
    source: SourceId,
    sequence: u64,
    facts: Vec<Stamped>,
    facts_max: usize,
    refused: u64,
    sender: Sender<Batch>,
    watermark_ns: u64,
    flushed_ns: u64,
}

impl Outbox {
    pub(crate) fn new(source: SourceId, sender: Sender<Batch>, facts_max: usize) -> Self {
        Self {
            source,
            sequence: 0,
            facts: Vec::new(),
            facts_max,
            refused: 0,
            sender,
            watermark_ns: 0,
            flushed_ns: 0,
        }
    }

    /// Flushes if it is time to, and says when it is next.
    pub(crate) fn flush_in(&mut self, rhythm: Rhythm, now_ns: u64, watermark_ns: u64) -> u64 {
        if now_ns >= self.due_ns(rhythm) || self.facts.len() >= BATCH_FACTS {
            self.flush(watermark_ns);
            self.flushed_ns = now_ns;
        }
        self.due_ns(rhythm)
    }

    fn due_ns(&self, rhythm: Rhythm) -> u64 {
        let interval_ns = if self.facts.is_empty() { rhythm.idle_ns } else { rhythm.facts_ns };
        self.flushed_ns + interval_ns
    }

    /// Says whose the journey is that starts next, if it has a label and that can be rendered.
    pub(crate) fn push_label(
        &mut self,
        stamp_ns: u64,
        journey: JourneyId,
        label: &Template,
        values: &RenderContext<'_>,
    ) {
        let mut text = Vec::new();
        if label.render(values, &mut text).is_ok()
            && let Some(label) = Key::new(&text)
        {
            self.push(stamp_ns, Fact::Labelled { journey, label });
        }
    }

    /// Adds a fact. A stamp that is older than the promise already given (a time-out is stamped at
    /// its due instant, noticed some microseconds later) is put at the promise.
    pub(crate) fn push(&mut self, stamp_ns: u64, fact: Fact) {
        let stamp_ns = stamp_ns.max(self.watermark_ns);
        if self.facts.len() < self.facts_max {
            self.facts.push(Stamped { stamp_ns, fact });
        } else {
            self.refused += 1;
        }
    }

    /// Whether so many facts wait that nothing should begin before they are sent: the other half of
    /// the room is for what is under way.
    pub(crate) fn is_crowded(&self) -> bool {
        self.facts.len() >= self.facts_max / 2
    }

    /// How many more facts there is room for.
    pub(crate) fn room(&self) -> usize {
        self.facts_max.saturating_sub(self.facts.len())
    }

    /// Sends what there is, in the middle of a turn: nothing further is promised.
    pub(crate) fn relieve(&mut self) {
        self.flush(self.watermark_ns);
    }

    /// Sends what there is. `watermark_ns`: every later fact of this source has a stamp that is not
    /// older.
    pub(crate) fn flush(&mut self, watermark_ns: u64) {
        // Completions of one wake-up come in the order of their connections, not of their stamps.
        self.facts.sort_by_key(|fact| fact.stamp_ns);
        let capacity = self.facts.len();
        let facts = std::mem::replace(&mut self.facts, Vec::with_capacity(capacity.min(1024)));
        let batch = Batch { source: self.source, sequence: self.sequence, facts, watermark_ns };
        match self.sender.try_send(batch) {
            Ok(()) => {
                self.sequence += 1;
                self.watermark_ns = watermark_ns;
            }
            // Kept for the next flush; the watermark that goes with them will be a later one.
            Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) => {
                self.facts = batch.facts;
            }
        }
    }

    /// Hands the last facts over, says how far this source has seen (`vouched_ns`), and that
    /// nothing follows; waits up to a second for places in the channel. Without them the observer
    /// misses this source's end, and the run is void.
    pub(crate) fn finish(&mut self, vouched_ns: u64) {
        let give_up_ns = now_ns() + SECOND_NS;
        let vouched_ns = vouched_ns.max(self.watermark_ns);
        for watermark_ns in [vouched_ns, u64::MAX] {
            let told = self.sequence + 1;
            loop {
                self.flush(watermark_ns);
                if self.sequence == told {
                    break;
                }
                if now_ns() > give_up_ns {
                    return;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    /// Counts something else that a bound refused: it makes the run void like a refused fact.
    pub(crate) fn refuse(&mut self) {
        self.refused += 1;
    }

    /// Facts refused since the last call.
    pub(crate) fn take_refused(&mut self) -> u64 {
        std::mem::take(&mut self.refused)
    }
}
