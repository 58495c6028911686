//! What a finished journey's tombstone still knows, for duplicates that come after its end.

use crate::finish::known;
use crate::slab::NONE;
use crate::{Finished, JourneyId, Ledger};

/// How long a root took, in the four bytes of a tombstone that its key's place no longer needs.
///
/// Up to 2.1 s it is exact. A longer one is kept to the whole microsecond below, up to 35 minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RootTook(u32);

/// Says that the other bits are microseconds.
const MICROSECONDS: u32 = 1 << 31;

impl RootTook {
    /// Of a root that began at `t1_ns` and completed at `t2_ns`, if it did.
    pub(crate) fn of(t1_ns: u64, t2_ns: Option<u64>) -> Self {
        let Some(took_ns) = t2_ns.map(|t2_ns| t2_ns.saturating_sub(t1_ns)) else {
            return Self(NONE);
        };
        match u32::try_from(took_ns) {
            Ok(took_ns) if took_ns < MICROSECONDS => Self(took_ns),
            _ => {
                // All ones is a root that never completed.
                let took_us = (took_ns / 1_000).min(u64::from(MICROSECONDS - 2));
                Self(MICROSECONDS | took_us as u32)
            }
        }
    }

    pub(crate) fn packed(self) -> u32 {
        self.0
    }

    /// When the root completed.
    fn t2_ns(self, t1_ns: u64) -> Option<u64> {
        let took_ns = match self.0 {
            NONE => return None,
            exact if exact < MICROSECONDS => u64::from(exact),
            rounded => u64::from(rounded & !MICROSECONDS) * 1_000,
        };
        Some(t1_ns.saturating_add(took_ns))
    }
}

impl Ledger {
    /// What is still known of a journey that has completed and is remembered: its timeline, without
    /// its key and without readings of foreign clocks, which were handed over with its end. `None`
    /// for every other one. t2 of a root of more than 2.1 s is rounded down to the microsecond.
    ///
    /// Stages reached since its end are in it.
    pub fn remembered(&self, id: JourneyId) -> Option<Finished> {
        let slot = self.index.by_id(&self.journeys, id)?;
        let journey = &self.journeys[slot];
        let class = journey.class.filter(|_| journey.has_completed())?;
        let kind = &self.kinds[usize::from(journey.kind)];
        let t2_ns = RootTook(journey.key_or_took).t2_ns(journey.t1_ns)?;
        let end_ns = kind.completed_ns(journey, t2_ns)?;
        Some(known(kind, journey, class, (Some(t2_ns), end_ns)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_remembered_exactly_or_to_the_microsecond() {
        let back = |took_ns: u64| RootTook::of(70, Some(70 + took_ns)).t2_ns(70).map(|at| at - 70);
        for exact in [0, 1, 999, 1_234_567_891, (1 << 31) - 1] {
            assert_eq!(back(exact), Some(exact));
        }
        assert_eq!(back(1 << 31), Some(((1 << 31) / 1_000) * 1_000));
        assert_eq!(back(30_000_000_999), Some(30_000_000_000));
        let most_ns = (u64::from(MICROSECONDS) - 2) * 1_000;
        assert_eq!(back(u64::MAX / 2), Some(most_ns));
        assert_eq!(RootTook::of(70, None).t2_ns(70), None);
    }
}
