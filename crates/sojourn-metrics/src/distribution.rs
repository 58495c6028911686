//! A distribution with what cannot stand in one histogram: negative hops and lost journeys.

use crate::{Histogram, SeriesPhase, Store, histogram::nearest_rank, names};

/// Samples ranked from negative over positive to never: the only way percentiles of hops and of
/// journeys are computed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    /// Magnitudes of negative samples, which rank below all others.
    pub negative: Histogram,
    /// Samples from zero upwards.
    pub observed: Histogram,
    /// Journeys that were lost: they rank above every sample, as "> within".
    pub lost: u64,
}

impl Store {
    /// Durations of a journey (`None`: of all): completed and late ones as observed, lost ones
    /// above.
    pub fn journey_durations(&self, journey: Option<&str>, phase: SeriesPhase) -> Distribution {
        let tag = journey.map(|name| (names::JOURNEY, name));
        let tags = tag.as_slice();
        Distribution {
            negative: Histogram::new(),
            observed: self.merged(names::JOURNEY_DURATION, tags, phase),
            lost: self.sum(names::JOURNEYS_LOST, tags, phase),
        }
    }

    /// Hops that end at a stage, of one journey or of every journey with a stage of that name.
    pub fn hops(&self, journey: Option<&str>, stage: &str, phase: SeriesPhase) -> Distribution {
        let mut tags = vec![(names::STAGE, stage)];
        tags.extend(journey.map(|name| (names::JOURNEY, name)));
        Distribution {
            negative: self.merged(names::STAGE_HOP_NEGATIVE, &tags, phase),
            observed: self.merged(names::STAGE_HOP, &tags, phase),
            lost: 0,
        }
    }
}

impl From<Histogram> for Distribution {
    fn from(observed: Histogram) -> Self {
        Self { observed, ..Self::default() }
    }
}

impl Distribution {
    /// Everything that is ranked.
    pub fn count(&self) -> u64 {
        self.samples().saturating_add(self.lost)
    }

    /// Samples: what is ranked without what was lost.
    pub fn samples(&self) -> u64 {
        self.negative.count().saturating_add(self.observed.count())
    }

    /// Nearest-rank quantile; infinity where it falls among the lost, `None` when there is nothing.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let rank = nearest_rank(q, self.count());
        let negative = self.negative.count();
        if rank == 0 {
            None
        } else if rank <= negative {
            // The most negative first: the mirror's greatest.
            self.negative.value_at_rank(negative - rank + 1).map(|magnitude| -(magnitude as f64))
        } else if rank <= self.samples() {
            self.observed.value_at_rank(rank - negative).map(|value| value as f64)
        } else {
            Some(f64::INFINITY)
        }
    }

    /// The least; infinity when everything was lost.
    pub fn min(&self) -> Option<f64> {
        let (negative, observed) = (self.negative.totals(), self.observed.totals());
        if negative.count > 0 {
            Some(-(negative.max as f64))
        } else if observed.count > 0 {
            Some(observed.min as f64)
        } else {
            (self.lost > 0).then_some(f64::INFINITY)
        }
    }

    /// The greatest; infinity when anything was lost.
    pub fn max(&self) -> Option<f64> {
        let (negative, observed) = (self.negative.totals(), self.observed.totals());
        if self.lost > 0 {
            Some(f64::INFINITY)
        } else if observed.count > 0 {
            Some(observed.max as f64)
        } else {
            (negative.count > 0).then(|| -(negative.min as f64))
        }
    }

    /// Arithmetic mean of the samples: a lost journey has no duration to add.
    pub fn mean(&self) -> Option<f64> {
        let sum = self.observed.totals().sum as f64 - self.negative.totals().sum as f64;
        (self.samples() > 0).then(|| sum / self.samples() as f64)
    }

    /// Population standard deviation of the samples.
    pub fn stddev(&self) -> Option<f64> {
        if self.negative.count() == 0 {
            return self.observed.stddev();
        }
        // Both halves about the common mean: n·(σ² + (μ − m)²).
        let mean = self.mean()?;
        let about = |half: &Histogram, sign: f64| -> f64 {
            let (Some(own), Some(deviation)) = (half.mean(), half.stddev()) else {
                return 0.0;
            };
            half.count() as f64 * (deviation.powi(2) + (sign * own - mean).powi(2))
        };
        let squares = about(&self.negative, -1.0) + about(&self.observed, 1.0);
        Some((squares / self.samples() as f64).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(samples: &[i64], lost: u64) -> Distribution {
        let mut distribution = Distribution { lost, ..Distribution::default() };
        for &sample in samples {
            let half =
                if sample < 0 { &mut distribution.negative } else { &mut distribution.observed };
            half.record(sample.unsigned_abs());
        }
        distribution
    }

    #[test]
    fn lost_journeys_rank_above_every_other() {
        let journeys = of(&[10; 98], 2);
        assert_eq!(journeys.quantile(0.98), Some(10.0));
        assert_eq!(journeys.quantile(0.99), Some(f64::INFINITY));
        assert_eq!((journeys.max(), journeys.mean()), (Some(f64::INFINITY), Some(10.0)));
        let none = of(&[], 0);
        assert_eq!((none.quantile(0.5), none.min(), none.max()), (None, None, None));
        assert_eq!((none.mean(), none.stddev()), (None, None));
        assert_eq!(of(&[], 3).quantile(0.5), Some(f64::INFINITY));
    }

    proptest! {
        #[test]
        fn negative_samples_rank_with_the_others(
            mut samples in prop::collection::vec(-2000i64..2000, 1..200),
            q in 0.0..=1.0f64,
        ) {
            let distribution = of(&samples, 0);
            samples.sort_unstable();
            let n = samples.len();
            // Below 2,048 every value has its own bucket: exact.
            let expected = samples[nearest_rank(q, n as u64) as usize - 1] as f64;
            prop_assert_eq!(distribution.quantile(q), Some(expected));
            prop_assert_eq!(distribution.min(), Some(samples[0] as f64));
            prop_assert_eq!(distribution.max(), Some(samples[n - 1] as f64));
            let mean = samples.iter().sum::<i64>() as f64 / n as f64;
            let squares: f64 = samples.iter().map(|&s| (s as f64 - mean).powi(2)).sum();
            prop_assert!((distribution.mean().unwrap() - mean).abs() < 1e-9);
            let deviation = (squares / n as f64).sqrt();
            prop_assert!((distribution.stddev().unwrap() - deviation).abs() < 1e-6);
        }
    }
}
