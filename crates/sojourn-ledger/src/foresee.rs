//! Looking ahead: what facts to come will need is brought near, many at a time.

use std::hint::black_box;

use smallvec::SmallVec;

use crate::hash::KeyHash;
use crate::{Fact, Ledger, Stamped};

/// Facts looked at together: as many as keep the processor's reads under way, and few enough for
/// what they need to stay in its nearest cache.
pub(crate) const AHEAD: usize = 32;

/// A book of fewer journeys is near anyway.
const JOURNEYS_MIN: usize = 1 << 9;

impl Ledger {
    /// Looks up the journeys of events that are about to be applied; changes nothing.
    ///
    /// A large book lies in memory, as does any when a tap has just waited for its server, and an
    /// event's way to its journey is three reads, each of which needs the one before; the journey's
    /// row and key are a fourth. Applied one by one, events wait for theirs in turn, which was two
    /// fifths of their cost with 400,000 journeys in flight; here the reads of many go on at once.
    pub(crate) fn foresee(&self, facts: &[Stamped]) {
        if self.index.len() < JOURNEYS_MIN || self.common_stages.is_some() {
            return;
        }
        let hashes: SmallVec<[KeyHash; AHEAD]> = facts.iter().filter_map(first_key).collect();
        hashes.iter().for_each(|hash| self.index.approach(*hash));
        hashes.iter().for_each(|hash| self.index.touch(*hash));
        let slots: SmallVec<[u32; AHEAD]> =
            hashes.iter().filter_map(|hash| self.named(*hash)).collect();
        slots.iter().for_each(|&slot| _ = black_box(self.journeys[slot].reached));
        for &slot in &slots {
            let journey = &self.journeys[slot];
            let rows = &self.kinds[usize::from(journey.kind)].rows;
            black_box(rows.stamps_ns(journey.row).first().copied());
            if journey.class.is_none() {
                black_box(self.keys.get(journey.key_or_took).map(|key| key.as_bytes().len()));
            }
        }
    }
}

/// Of an event that fits a stage.
fn first_key(stamped: &Stamped) -> Option<KeyHash> {
    let Fact::Observed(observation) = &stamped.fact else { return None };
    let candidate = observation.candidates.first()?;
    Some(KeyHash::of(&candidate.key).of_kind(candidate.kind))
}
