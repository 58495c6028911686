//! How long the coordinator waits for others to end, on a machine that may stand still meanwhile.

use sojourn_clock::MILLISECOND_NS;

/// One look at what came, nanoseconds.
pub(super) const LOOK_NS: u64 = 10 * MILLISECOND_NS;

/// Ends at an instant, but not before so many looks were taken as fit into the time until then: a
/// process that was stopped for longer gives the threads that went on with it their time.
pub(super) struct Patience {
    until_ns: u64,
    looks_left: u64,
}

impl Patience {
    /// From now on for so long, nanoseconds.
    pub(super) fn new(now_ns: u64, for_ns: u64) -> Self {
        Self { until_ns: now_ns.saturating_add(for_ns), looks_left: for_ns / LOOK_NS }
    }

    /// Whether to look once more.
    pub(super) fn lasts(&mut self, now_ns: u64) -> bool {
        let lasts = now_ns < self.until_ns || self.looks_left > 0;
        self.looks_left = self.looks_left.saturating_sub(1);
        lasts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_was_stopped_still_looks() {
        let mut patience = Patience::new(1_000, 3 * LOOK_NS);
        assert!(patience.lasts(1_000));
        let long_after_ns = 1_000_000 * LOOK_NS;
        assert!(patience.lasts(long_after_ns) && patience.lasts(long_after_ns));
        assert!(!patience.lasts(long_after_ns));
        // Many looks, as when much comes, do not end it early.
        let mut patience = Patience::new(0, 3 * LOOK_NS);
        assert!((0..100).all(|_| patience.lasts(3 * LOOK_NS - 1)));
        assert!(!patience.lasts(3 * LOOK_NS));
    }
}
