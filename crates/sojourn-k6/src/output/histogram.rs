//! What OpenTelemetry's figures need of a series: sums that only grow, levels, and histograms of
//! explicit bounds.

use super::series::Accumulator;
use crate::metrics::MetricKind;

/// Upper bounds of a histogram's buckets: the default of OpenTelemetry's specification.
pub const BOUNDS: &[f64] = &[
    0.0, 5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 250.0, 500.0, 750.0, 1_000.0, 2_500.0, 5_000.0,
    7_500.0, 10_000.0,
];

/// What a series' samples add up to.
#[derive(Debug, Clone, PartialEq)]
pub enum Tally {
    /// A sum.
    Counter(f64),
    /// The value of the latest instant, and that instant.
    Gauge(f64, u64),
    /// Values that are not zero, and those that are.
    Rate(u64, u64),
    /// A distribution.
    Trend {
        /// How many samples.
        count: u64,
        /// Their sum.
        sum: f64,
        /// The least; infinite without samples.
        min: f64,
        /// The greatest; infinite without samples.
        max: f64,
        /// How many are at most each of [`BOUNDS`] and above the one before, and those beyond.
        buckets: Vec<u64>,
    },
}

impl Accumulator for Tally {
    fn new(kind: MetricKind) -> Self {
        match kind {
            MetricKind::Counter => Self::Counter(0.0),
            MetricKind::Gauge => Self::Gauge(0.0, 0),
            MetricKind::Rate => Self::Rate(0, 0),
            MetricKind::Trend => Self::Trend {
                count: 0,
                sum: 0.0,
                min: f64::INFINITY,
                max: f64::NEG_INFINITY,
                buckets: vec![0; BOUNDS.len() + 1],
            },
        }
    }

    fn add(&mut self, at_ns: u64, value: f64) {
        match self {
            Self::Counter(total) => *total += value,
            Self::Gauge(last, last_at_ns) => {
                if at_ns >= *last_at_ns {
                    (*last, *last_at_ns) = (value, at_ns);
                }
            }
            Self::Rate(others, zeros) => {
                if value == 0.0 {
                    *zeros += 1;
                } else {
                    *others += 1;
                }
            }
            Self::Trend { count, sum, min, max, buckets } => {
                *count += 1;
                *sum += value;
                *min = min.min(value);
                *max = max.max(value);
                buckets[BOUNDS.partition_point(|bound| *bound < value)] += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_has_what_is_at_most_its_bound() {
        let mut tally = Tally::new(MetricKind::Trend);
        for value in [-1.0, 0.0, 0.1, 5.0, 5.1, 10_000.0, 10_000.1] {
            tally.add(1, value);
        }
        let Tally::Trend { count: 7, min: -1.0, max: 10_000.1, buckets, .. } = &tally else {
            panic!("{tally:?}");
        };
        let mut expected = [0; 16];
        (expected[0], expected[1], expected[2], expected[14], expected[15]) = (2, 2, 1, 1, 1);
        assert_eq!(buckets[..], expected);
    }

    #[test]
    fn a_level_is_that_of_the_latest_instant() {
        let mut tally = Tally::new(MetricKind::Gauge);
        for (at_ns, value) in [(5, 1.0), (3, 2.0), (5, 3.0)] {
            tally.add(at_ns, value);
        }
        assert_eq!(tally, Tally::Gauge(3.0, 5));
    }
}
