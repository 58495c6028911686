//! One order out of many: facts by stamp, up to the lowest watermark.

use crate::{Batch, SourceId, Stamped};

/// Merges the batches of several sources by stamp (ties: by source, then by the source's own order).
#[derive(Debug)]
pub struct Sequencer {
    _sources: usize,
}

impl Sequencer {
    /// For the given sources, none of which has said anything yet; `held_max` bounds the facts held.
    pub fn new(sources: &[SourceId], _held_max: usize) -> Self {
        Self {
            _sources: sources.len(),
        }
    }

    /// Takes a batch in. Errs when its number is not the next one of its source, when a stamp goes
    /// back behind the source's watermark, or when the bound is reached: a defect, the run is void.
    pub fn push(&mut self, _batch: Batch) -> Result<(), String> {
        Ok(())
    }

    /// The source has ended: it no longer holds the watermark back.
    pub fn end(&mut self, _source: SourceId) {}

    /// The lowest watermark of the sources that have not ended.
    pub fn watermark_ns(&self) -> u64 {
        0
    }

    /// The next fact with a stamp below the watermark, in order.
    pub fn pop(&mut self) -> Option<Stamped> {
        None
    }

    /// Sources whose watermark is more than `silent_ns` behind `now_ns`.
    pub fn silent(&self, _now_ns: u64, _silent_ns: u64) -> Vec<SourceId> {
        Vec::new()
    }
}
