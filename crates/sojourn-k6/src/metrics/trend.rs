//! The distribution of a trend: exact while it is small, a histogram beyond.

use serde::{Deserialize, Serialize};

use super::log_linear::LogLinear;
pub use super::log_linear::RELATIVE_ERROR_MAX;

/// So many samples are kept as they are, unless all are asked for.
pub const RAW_MAX: usize = 10_000;

/// Count, sum, least and greatest of a trend's samples, and what percentiles need.
///
/// Up to [`RAW_MAX`] samples, after merging, percentiles are interpolated between the samples
/// themselves, as k6 does; beyond they are read from a histogram, within [`RELATIVE_ERROR_MAX`].
/// Which of them it is, and the histogram, depend on the samples only, not on how they were
/// merged. An exact trend keeps every sample, eight bytes each, without a bound.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Trend {
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
    values: Values,
    is_exact: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum Values {
    Raw(Vec<f64>),
    Histogram(Box<LogLinear>),
}

impl Trend {
    /// Without samples; `is_exact` keeps them all.
    pub fn new(is_exact: bool) -> Self {
        Self {
            count: 0,
            sum: 0.0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            values: Values::Raw(Vec::new()),
            is_exact,
        }
    }

    /// One more sample.
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        match &mut self.values {
            Values::Raw(values) if self.is_exact || values.len() < RAW_MAX => values.push(value),
            Values::Raw(_) => self.histogram().add(value),
            Values::Histogram(histogram) => histogram.add(value),
        }
    }

    /// All samples of `other` as well. Exact as long as both are.
    pub fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.is_exact &= other.is_exact;
        let is_small = self.count <= RAW_MAX as u64;
        match (&mut self.values, other.values) {
            (Values::Raw(own), Values::Raw(theirs)) if self.is_exact || is_small => {
                if own.is_empty() {
                    *own = theirs;
                } else {
                    own.extend_from_slice(&theirs);
                }
            }
            (_, Values::Raw(theirs)) => {
                let histogram = self.histogram();
                theirs.iter().for_each(|value| histogram.add(*value));
            }
            (_, Values::Histogram(theirs)) => self.histogram().merge(&theirs),
        }
    }

    /// The histogram, which takes over whatever is raw.
    fn histogram(&mut self) -> &mut LogLinear {
        if let Values::Raw(values) = &self.values {
            let mut histogram = LogLinear::default();
            values.iter().for_each(|value| histogram.add(*value));
            self.values = Values::Histogram(Box::new(histogram));
        }
        match &mut self.values {
            Values::Histogram(histogram) => histogram,
            Values::Raw(_) => unreachable!("it has just been made a histogram"),
        }
    }

    /// How many samples.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their sum.
    pub fn sum(&self) -> f64 {
        self.sum
    }

    /// The least, exactly; 0 without samples.
    pub fn min(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.min }
    }

    /// The greatest, exactly; 0 without samples.
    pub fn max(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.max }
    }

    /// The mean; 0 without samples.
    pub fn avg(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum / self.count as f64 }
    }

    /// Whether percentiles are interpolated between the samples themselves.
    pub fn is_raw(&self) -> bool {
        matches!(self.values, Values::Raw(_))
    }

    /// For asking percentiles; sorts once.
    pub fn percentiles(&self) -> Percentiles<'_> {
        let sorted = match &self.values {
            Values::Histogram(_) => Vec::new(),
            Values::Raw(values) => {
                let mut sorted = values.clone();
                sorted.sort_unstable_by(f64::total_cmp);
                sorted
            }
        };
        Percentiles { trend: self, sorted }
    }
}

/// A trend's samples in order.
#[derive(Debug)]
pub struct Percentiles<'a> {
    trend: &'a Trend,
    /// Empty where there is a histogram.
    sorted: Vec<f64>,
}

impl Percentiles<'_> {
    /// The percentile of 0 to 100; 0 without samples.
    ///
    /// At `i = percent / 100 × (count − 1)`, between the samples at ⌊i⌋ and ⌈i⌉ in order,
    /// linearly, as k6's documentation has it.
    pub fn at(&self, percent: f64) -> f64 {
        let Some(last) = self.trend.count.checked_sub(1) else { return 0.0 };
        let i = (percent / 100.0).clamp(0.0, 1.0) * last as f64;
        let (low, high) = (self.ranked(i.floor() as u64), self.ranked(i.ceil() as u64));
        if low == high { low } else { low + (high - low) * (i - i.floor()) }
    }

    /// The middle one.
    pub fn med(&self) -> f64 {
        self.at(50.0)
    }

    fn ranked(&self, rank: u64) -> f64 {
        match &self.trend.values {
            Values::Raw(_) => self.sorted.get(rank as usize).copied().unwrap_or_default(),
            Values::Histogram(_) if rank == 0 => self.trend.min,
            Values::Histogram(_) if rank + 1 == self.trend.count => self.trend.max,
            Values::Histogram(histogram) => {
                let middle = histogram.at_rank(rank).unwrap_or_default();
                middle.clamp(self.trend.min, self.trend.max)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As the documentation says it, on a plain sorted vector.
    fn naive(sorted: &[f64], percent: f64) -> f64 {
        let i = percent / 100.0 * (sorted.len() - 1) as f64;
        let (low, high) = (sorted[i.floor() as usize], sorted[i.ceil() as usize]);
        low + (high - low) * (i - i.floor())
    }

    fn trend(values: &[f64]) -> Trend {
        let mut trend = Trend::new(false);
        values.iter().for_each(|value| trend.add(*value));
        trend
    }

    /// Cut in three and merged from the left or from the right.
    fn merged(values: &[f64], one: usize, two: usize, is_left: bool) -> Trend {
        let one = one.min(values.len());
        let two = two.clamp(one, values.len());
        let (mut a, mut b, c) =
            (trend(&values[..one]), trend(&values[one..two]), trend(&values[two..]));
        if is_left {
            a.merge(b);
            a.merge(c);
        } else {
            b.merge(c);
            a.merge(b);
        }
        a
    }

    #[test]
    fn nothing_is_zero() {
        let trend = Trend::new(false);
        assert_eq!((trend.min(), trend.max(), trend.avg()), (0.0, 0.0, 0.0));
        assert_eq!(trend.percentiles().at(95.0), 0.0);
    }

    #[test]
    fn an_exact_trend_stays_raw() {
        let mut exact = Trend::new(true);
        (0..30_000).for_each(|k| exact.add(f64::from(k)));
        assert!(exact.is_raw());
        assert_eq!(exact.percentiles().at(10.0), 2_999.9);
        assert!(!trend(&vec![1.0; RAW_MAX + 1]).is_raw());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn percentiles_are_those_of_all_samples(
            seed in prop::collection::vec(prop_oneof![-1e4..1e4, Just(0.0), 0.0..1.0], 1..400),
            copies in prop_oneof![Just(1_usize), Just(60)],
            cuts in (0_usize..20_000, 0_usize..20_000),
            is_left: bool,
            percent in 0.0..=100.0,
        ) {
            let values: Vec<f64> = (0..copies)
                .flat_map(|k| seed.iter().map(move |v| v * (1.0 + k as f64 / 100.0)))
                .collect();
            let found = merged(&values, cuts.0, cuts.1, is_left);
            let mut sorted = values;
            sorted.sort_by(f64::total_cmp);
            prop_assert_eq!(found.count(), sorted.len() as u64);
            prop_assert_eq!((found.min(), found.max()), (sorted[0], sorted[sorted.len() - 1]));
            prop_assert_eq!(found.is_raw(), sorted.len() <= RAW_MAX);
            let sum: f64 = sorted.iter().sum();
            let scale: f64 = sorted.iter().map(|v| v.abs()).sum();
            prop_assert!((found.sum() - sum).abs() <= scale * 1e-12);
            let percentiles = found.percentiles();
            for percent in [percent, 50.0, 90.0, 99.9] {
                let (is, expected) = (percentiles.at(percent), naive(&sorted, percent));
                if found.is_raw() {
                    prop_assert_eq!(is, expected);
                } else {
                    let i = percent / 100.0 * (sorted.len() - 1) as f64;
                    let ends = [sorted[i.floor() as usize], sorted[i.ceil() as usize]];
                    let bound = ends[0].abs().max(ends[1].abs()) * RELATIVE_ERROR_MAX;
                    prop_assert!((is - expected).abs() <= bound * (1.0 + 1e-9));
                }
            }
        }
    }
}
