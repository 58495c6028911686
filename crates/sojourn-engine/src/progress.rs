//! What a caller is told each second.

use sojourn_metrics::{Snapshot, Store, ThresholdContext};

/// Where the run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stretch {
    /// Taps opening, setup steps.
    Preparing,
    /// Real load, counted apart.
    WarmUp,
    /// What is reported.
    Steady,
    /// No new arrivals; waiting for what is in flight.
    Drain,
    /// All has ended: the last figures, said once.
    Over,
}

/// A second of the run, in figures.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Where the run stands.
    pub stretch: Stretch,
    /// Since the run's start, nanoseconds.
    pub elapsed_ns: u64,
    /// Planned length without drain, nanoseconds.
    pub planned_ns: u64,
    /// Journeys started so far.
    pub started: u64,
    /// Journeys completed so far, late ones, and poisoned ones that were contained, included.
    pub completed: u64,
    /// Journeys in flight now.
    pub in_flight: u64,
    /// All others that ended so far: lost, failed or with a failed root.
    pub failed: u64,
    /// Started per second since the last time.
    pub rate_per_s: f64,
    /// Generator lag at p99 so far, nanoseconds.
    pub lag_p99_ns: u64,
    /// Every figure so far.
    pub store: &'a Store,
    /// What the sources have reported since the last time: what added up to `store`.
    pub interval: &'a [Snapshot],
    /// How many generators there are: the sources of the first numbers.
    pub generators: u32,
    /// Kept journeys so far that found no room on their way to whoever asked for them.
    pub kept_dropped: u64,
    /// What has made the run void so far, in words, in the order in which it came.
    pub defects: &'a [String],
    /// What thresholds are held against so far.
    pub context: ThresholdContext,
    /// The run's start, CLOCK_MONOTONIC nanoseconds.
    pub start_ns: u64,
}

/// Starts per second, from line to line.
#[derive(Debug)]
pub(crate) struct StartRate {
    started: u64,
    at_ns: u64,
    per_s: f64,
}

impl StartRate {
    pub(crate) fn new(start_ns: u64) -> Self {
        Self { started: 0, at_ns: start_ns, per_s: 0.0 }
    }

    /// The rate since the last time, of `started` so far at `at_ns`. A line may come late; where
    /// nothing new is known yet the last rate stands.
    pub(crate) fn per_s(&mut self, started: u64, at_ns: u64) -> f64 {
        let passed_ns = at_ns.saturating_sub(self.at_ns);
        if passed_ns > 0 {
            self.per_s = started.saturating_sub(self.started) as f64 * 1e9 / passed_ns as f64;
            (self.started, self.at_ns) = (started, at_ns);
        }
        self.per_s
    }
}

#[cfg(test)]
mod tests {
    use sojourn_clock::SECOND_NS;

    use super::StartRate;

    #[test]
    fn a_late_line_is_of_more_than_a_second() {
        let mut rate = StartRate::new(7);
        assert_eq!(rate.per_s(100, 7 + SECOND_NS), 100.0);
        assert_eq!(rate.per_s(500, 7 + 5 * SECOND_NS), 100.0);
        assert_eq!(rate.per_s(500, 7 + 5 * SECOND_NS), 100.0);
        assert_eq!(rate.per_s(500, 7 + 6 * SECOND_NS), 0.0);
    }
}
