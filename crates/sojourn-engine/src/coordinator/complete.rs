//! Which seconds are complete: each source closes its seconds by itself, and on a busy machine one
//! may be late with that. What is told of a second before all have reported would be wrong: the
//! counts of two seconds of one source beside one second of another.

use std::collections::BTreeMap;
use std::time::Duration;

use sojourn_clock::{MILLISECOND_NS, now_ns};
use sojourn_metrics::Snapshot;

/// How long after its end a second is told of at the earliest: sources look at the clock between
/// two pieces of work.
pub(super) const AT_LEAST_NS: u64 = 150 * MILLISECOND_NS;
/// How long at most: then the next second's figures begin to come. Whoever is later than that is
/// told with the next second, which is as long as both.
pub(super) const AT_MOST_NS: u64 = 850 * MILLISECOND_NS;

/// Between two looks of the coordinator at what nobody reports to it, at least…
const LOOK_NS_MIN: u64 = 10 * MILLISECOND_NS;
/// …and at most.
const LOOK_NS_MAX: u64 = 50 * MILLISECOND_NS;

/// How long to wait for reports before looking whether a second is to be told of, the user wants
/// to stop, or the drain is over. A look takes some tens of microseconds, which a closed loop's
/// requests are charged with: there are few of them while nothing is about to end.
pub(super) fn look_again_in(second_ns: u64, is_draining: bool) -> Duration {
    let until_told_ns = (second_ns + AT_LEAST_NS).saturating_sub(now_ns());
    Duration::from_nanos(match is_draining {
        true => LOOK_NS_MIN,
        false => until_told_ns.clamp(LOOK_NS_MIN, LOOK_NS_MAX),
    })
}

/// Up to when generators and the observer have reported, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Complete {
    until_ns: BTreeMap<u32, u64>,
}

impl Complete {
    /// A generator, or the observer, has reported.
    pub(super) fn note(&mut self, snapshot: &Snapshot) {
        let until_ns = self.until_ns.entry(snapshot.source).or_default();
        *until_ns = snapshot.end_ns.max(*until_ns);
    }

    /// A generator has ended or is lost: all that it will ever report has come.
    pub(super) fn end(&mut self, generator: u32) {
        self.until_ns.insert(generator, u64::MAX);
    }

    /// Whether so many generators and the observer have reported up to this instant.
    pub(super) fn is_until(&self, at_ns: u64, generators: usize) -> bool {
        let have = self.until_ns.values().filter(|until_ns| **until_ns >= at_ns).count();
        have > generators
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_is_complete_with_the_last_of_the_generators_and_the_observer() {
        let snapshot = |source, end_ns| Snapshot { source, end_ns, ..Snapshot::default() };
        let mut complete = Complete::default();
        for (source, end_ns) in [(0, 1_003), (2, 1_001), (0, 2_000)] {
            complete.note(&snapshot(source, end_ns));
            assert!(!complete.is_until(1_000, 2));
        }
        complete.note(&snapshot(1, 1_400));
        assert!(complete.is_until(1_000, 2));
        assert!(!complete.is_until(2_000, 2));
        // Snapshots of one source may be heard in any order.
        complete.note(&snapshot(0, 1_500));
        complete.note(&snapshot(1, 2_001));
        complete.note(&snapshot(2, 2_001));
        assert!(complete.is_until(2_000, 2));
    }

    #[test]
    fn nobody_waits_for_a_generator_that_is_lost() {
        let snapshot = |source, end_ns| Snapshot { source, end_ns, ..Snapshot::default() };
        let mut complete = Complete::default();
        for (source, end_ns) in [(0, 2_000), (1, 1_000), (3, 2_001)] {
            complete.note(&snapshot(source, end_ns));
        }
        assert!(!complete.is_until(2_000, 3));
        complete.end(1);
        assert!(!complete.is_until(2_000, 3));
        // One of which nothing was ever heard.
        complete.end(2);
        assert!(complete.is_until(2_000, 3));
        // Its last figures may be heard after its end, and take nothing back.
        complete.note(&snapshot(1, 1_500));
        assert!(complete.is_until(2_000, 3));
        // The others are waited for as before.
        assert!(!complete.is_until(3_000, 3));
    }
}
