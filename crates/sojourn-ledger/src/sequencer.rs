//! One order out of many: facts by stamp, up to the lowest watermark.

use std::{cmp::Ordering, collections::BinaryHeap, collections::binary_heap::PeekMut, vec};

use crate::foresee::AHEAD;
use crate::{Batch, Ledger, SourceId, Stamped};

/// Merges the batches of several sources by stamp (ties: by source, then by the source's own
/// order).
///
/// A batch stays the vector it came in and is one sorted run of a merge, so a fact is moved once.
#[derive(Debug)]
pub struct Sequencer {
    sources: Vec<Source>,
    runs: BinaryHeap<Run>,
    held: usize,
    held_max: usize,
    watermark_ns: u64,
    /// Facts to come that a ledger has looked ahead to.
    foreseen: usize,
}

impl Sequencer {
    /// For the given sources, none of which has said anything yet; `held_max` bounds the facts
    /// held.
    pub fn new(sources: &[SourceId], held_max: usize) -> Self {
        let mut sequencer = Self {
            sources: sources.iter().map(|&id| Source::new(id)).collect(),
            runs: BinaryHeap::new(),
            held: 0,
            held_max,
            watermark_ns: 0,
            foreseen: 0,
        };
        sequencer.lower_watermark();
        sequencer
    }

    /// Takes a batch in. Errs when its number is not the next one of its source, when a stamp goes
    /// back behind the source's watermark, or when the bound is reached: a defect, the run is void.
    ///
    /// A batch that errs is dropped whole.
    pub fn push(&mut self, batch: Batch) -> Result<(), String> {
        let id = batch.source;
        let Some(source) = self.sources.iter_mut().find(|source| source.id == id) else {
            return Err(format!("source {} is not one of this run's sources", id.0));
        };
        source.admit(&batch)?;
        let held = self.held.saturating_add(batch.facts.len());
        if held > self.held_max {
            return Err(format!(
                "source {} sent {} facts while {} of at most {} were held: the slowest source is \
                 too far behind",
                id.0,
                batch.facts.len(),
                self.held,
                self.held_max
            ));
        }
        source.next_sequence += 1;
        source.watermark_ns = batch.watermark_ns;
        if batch.watermark_ns < u64::MAX {
            source.vouched_ns = batch.watermark_ns;
        }
        if let Some(last) = batch.facts.last() {
            source.last_ns = last.stamp_ns;
        }
        self.held = held;
        if let Some(first) = batch.facts.first() {
            self.runs.push(Run {
                stamp_ns: first.stamp_ns,
                source: id,
                sequence: batch.sequence,
                facts: batch.facts.into_iter(),
            });
        }
        self.lower_watermark();
        Ok(())
    }

    /// The source has ended: it no longer holds the watermark back.
    pub fn end(&mut self, source: SourceId) {
        if let Some(source) = self.sources.iter_mut().find(|known| known.id == source) {
            source.ended = true;
        }
        self.lower_watermark();
    }

    /// The source is lost: nothing follows from it, and nothing waits for it. Unlike the end of one
    /// that has stopped looking it ends no time for the others. Returns up to when it told
    /// everything: no fact of it that is held has a later stamp.
    pub fn lose(&mut self, source: SourceId) -> u64 {
        let mut told_ns = 0;
        if let Some(source) = self.sources.iter_mut().find(|known| known.id == source) {
            (source.ended, source.is_lost) = (true, true);
            told_ns = source.vouched_ns.max(source.last_ns);
        }
        self.lower_watermark();
        told_ns
    }

    /// The lowest watermark of the sources that have not ended; `u64::MAX` once all have, so that
    /// every fact held comes out.
    pub fn watermark_ns(&self) -> u64 {
        self.watermark_ns
    }

    /// Where the first source to end stopped looking: the lowest of the last instants that ended
    /// sources had vouched for. Time must not pass it, though facts of the others still come out.
    /// `None` while all sources go on; one that is lost does not count.
    pub fn cutoff_ns(&self) -> Option<u64> {
        let has_stopped = |source: &&Source| source.has_ended() && !source.is_lost;
        let ended = self.sources.iter().filter(has_stopped);
        ended.map(|source| source.vouched_ns).min()
    }

    /// Facts taken in and not yet out.
    pub fn held(&self) -> usize {
        self.held
    }

    /// The next fact with a stamp below the watermark, in order.
    pub fn pop(&mut self) -> Option<Stamped> {
        let mut run = self.runs.peek_mut()?;
        if !run.is_due(self.watermark_ns) {
            return None;
        }
        let fact = run.facts.next();
        match run.facts.as_slice().first().map(|next| next.stamp_ns) {
            Some(next_ns) => run.stamp_ns = next_ns,
            None => drop(PeekMut::pop(run)),
        }
        self.held -= usize::from(fact.is_some());
        fact
    }

    /// The same for a ledger that applies it: it may look ahead to the facts behind it.
    pub fn pop_for(&mut self, ledger: &Ledger) -> Option<Stamped> {
        if self.foreseen == 0
            && let Some(run) = self.runs.peek()
            && run.is_due(self.watermark_ns)
        {
            let facts = run.facts.as_slice();
            let ahead = &facts[..facts.len().min(AHEAD)];
            ledger.foresee(ahead);
            self.foreseen = ahead.len();
        }
        let fact = self.pop()?;
        self.foreseen -= 1;
        Some(fact)
    }

    /// Sources that have not ended and whose watermark is more than `silent_ns` behind `now_ns`; of
    /// one that has said nothing since the start, the start is.
    pub fn silent(&self, now_ns: u64, silent_ns: u64, start_ns: u64) -> Vec<SourceId> {
        let heard_ns = |source: &Source| source.watermark_ns.max(start_ns);
        let behind = |source: &&Source| now_ns.saturating_sub(heard_ns(source)) > silent_ns;
        let going_on = self.sources.iter().filter(|source| !source.ended);
        going_on.filter(behind).map(|source| source.id).collect()
    }

    fn lower_watermark(&mut self) {
        let going_on = self.sources.iter().filter(|source| !source.ended);
        self.watermark_ns = going_on.map(|source| source.watermark_ns).min().unwrap_or(u64::MAX);
    }
}

#[derive(Debug)]
struct Source {
    id: SourceId,
    next_sequence: u64,
    watermark_ns: u64,
    /// The same before the word that nothing follows.
    vouched_ns: u64,
    /// Stamp of the last fact.
    last_ns: u64,
    ended: bool,
    is_lost: bool,
}

impl Source {
    fn new(id: SourceId) -> Self {
        Self {
            id,
            next_sequence: 0,
            watermark_ns: 0,
            vouched_ns: 0,
            last_ns: 0,
            ended: false,
            is_lost: false,
        }
    }

    /// Nothing follows from it.
    fn has_ended(&self) -> bool {
        self.ended || self.watermark_ns == u64::MAX
    }

    fn admit(&self, batch: &Batch) -> Result<(), String> {
        let id = self.id.0;
        if self.ended {
            return Err(format!("source {id} sent batch {} after its end", batch.sequence));
        }
        if batch.sequence != self.next_sequence {
            return Err(format!(
                "source {id} sent batch {} where {} was next: facts are missing or repeated",
                batch.sequence, self.next_sequence
            ));
        }
        if batch.watermark_ns < self.watermark_ns {
            return Err(format!(
                "source {id} took its watermark back from {} to {} ns",
                self.watermark_ns, batch.watermark_ns
            ));
        }
        let mut floor_ns = self.watermark_ns;
        for fact in &batch.facts {
            if fact.stamp_ns < floor_ns {
                return Err(format!(
                    "source {id} sent a fact stamped {} ns after {floor_ns} ns in batch {}",
                    fact.stamp_ns, batch.sequence
                ));
            }
            floor_ns = fact.stamp_ns;
        }
        Ok(())
    }
}

/// What is left of one batch.
#[derive(Debug)]
struct Run {
    /// Stamp of its first fact.
    stamp_ns: u64,
    source: SourceId,
    sequence: u64,
    facts: vec::IntoIter<Stamped>,
}

impl Run {
    /// Whether its first fact is certain to be next; all are once every source has ended.
    fn is_due(&self, watermark_ns: u64) -> bool {
        self.stamp_ns < watermark_ns || watermark_ns == u64::MAX
    }

    fn order(&self) -> (u64, SourceId, u64) {
        (self.stamp_ns, self.source, self.sequence)
    }
}

// `BinaryHeap` hands out the greatest: the earliest run is the greatest.
impl Ord for Run {
    fn cmp(&self, other: &Self) -> Ordering {
        other.order().cmp(&self.order())
    }
}

impl PartialOrd for Run {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Run {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for Run {}
