//! How long the system took to finish what was in flight when the arrivals ended, and how fast it
//! did: its own pace, free of new load.

use schemars::JsonSchema;
use serde::Serialize;

/// What happened after the last arrival.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Drain {
    /// From the last arrival until nothing was in flight, nanoseconds; `None` when it never was.
    pub drain_ns: Option<u64>,
    /// Time observed after the last arrival, nanoseconds.
    pub observed_ns: u64,
    /// Journeys completed in it (late ones too).
    pub completed: u64,
    /// Completions per second until nothing was in flight, or while observed; `None` when that took
    /// no time.
    pub completed_per_s: Option<f64>,
}

/// Completions counted in an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Completions {
    /// Interval's start, nanoseconds since the run's start.
    pub start_ns: u64,
    /// Interval's end.
    pub end_ns: u64,
    /// How many.
    pub count: u64,
}

/// The drain of a run whose arrivals ended at `arrivals_end_ns` and which ended at `end_ns`. An
/// interval that the last arrival cuts counts in proportion to its part after it.
pub fn drain(
    arrivals_end_ns: u64,
    drain_ns: Option<u64>,
    end_ns: u64,
    completions: &[Completions],
) -> Drain {
    let observed_ns = end_ns.saturating_sub(arrivals_end_ns);
    let completed: f64 = completions
        .iter()
        .map(|interval| interval.count as f64 * part_after(interval, arrivals_end_ns))
        .sum();
    let busy_ns = drain_ns.unwrap_or(observed_ns);
    Drain {
        drain_ns,
        observed_ns,
        completed: completed.round() as u64,
        completed_per_s: (busy_ns > 0).then(|| completed / (busy_ns as f64 / 1e9)),
    }
}

/// The fraction of an interval that lies after an instant.
fn part_after(interval: &Completions, instant_ns: u64) -> f64 {
    let width_ns = interval.end_ns.saturating_sub(interval.start_ns);
    if interval.start_ns >= instant_ns {
        return 1.0;
    }
    if interval.end_ns <= instant_ns || width_ns == 0 {
        return 0.0;
    }
    (interval.end_ns - instant_ns) as f64 / width_ns as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn each_second(counts: &[u64]) -> Vec<Completions> {
        counts
            .iter()
            .zip(0..)
            .map(|(&count, second)| Completions {
                start_ns: second * SECOND,
                end_ns: (second + 1) * SECOND,
                count,
            })
            .collect()
    }

    #[test]
    fn only_completions_after_the_last_arrival_count() {
        let drained =
            drain(2 * SECOND, Some(2 * SECOND), 5 * SECOND, &each_second(&[9, 9, 40, 20, 0]));
        assert_eq!(drained.completed, 60);
        assert_eq!(drained.completed_per_s, Some(30.0));
        assert_eq!(drained.observed_ns, 3 * SECOND);
    }

    #[test]
    fn a_cut_interval_counts_in_proportion() {
        let drained = drain(SECOND / 2, None, 2 * SECOND, &each_second(&[10, 10]));
        assert_eq!(drained.completed, 15);
        assert_eq!(drained.completed_per_s, Some(10.0));
    }

    #[test]
    fn nothing_in_flight_at_the_last_arrival_takes_no_time() {
        let drained = drain(SECOND, Some(0), SECOND, &each_second(&[10]));
        assert_eq!((drained.completed, drained.completed_per_s), (0, None));
    }
}
