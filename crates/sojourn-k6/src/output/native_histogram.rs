//! What a native histogram of Prometheus needs of a trend: how many samples lie in each bucket,
//! whose bounds are powers of 2^(1/8).
//!
//! <https://prometheus.io/docs/specs/native_histograms/>

use std::collections::BTreeMap;

use super::series::Accumulator;
use crate::metrics::MetricKind;

/// A bucket's upper bound is 2^(2^-SCHEMA) times its lower one: 9 % more.
pub const NATIVE_SCHEMA: i32 = 3;
/// Up to this, samples of either sign lie in the bucket of zero.
pub const NATIVE_ZERO_MAX: f64 = 1.0 / (1_u128 << 127) as f64 / 2.0;

/// Buckets of each doubling.
const OF_DOUBLING: f64 = 8.0;

/// A trend's samples by bucket.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NativeTally {
    /// How many samples.
    pub count: u64,
    /// Their sum.
    pub sum: f64,
    /// How many in the bucket of zero.
    pub zeros: u64,
    /// How many positive ones in each bucket: in that of index i, above 2^((i-1)/8) and up to
    /// 2^(i/8).
    pub positive: BTreeMap<i32, u64>,
    /// The same of negative ones, by their absolute values.
    pub negative: BTreeMap<i32, u64>,
}

impl Accumulator for NativeTally {
    fn new(_: MetricKind) -> Self {
        Self::default()
    }

    /// The value must be finite: no bucket has another.
    fn add(&mut self, _: u64, value: f64) {
        self.count += 1;
        self.sum += value;
        let buckets = match value.abs() <= NATIVE_ZERO_MAX {
            true => {
                self.zeros += 1;
                return;
            }
            false if value > 0.0 => &mut self.positive,
            false => &mut self.negative,
        };
        *buckets.entry(bucket(value.abs())).or_default() += 1;
    }
}

/// The bucket of a value above [`NATIVE_ZERO_MAX`].
fn bucket(value: f64) -> i32 {
    let upper = |bucket: i32| (f64::from(bucket) / OF_DOUBLING).exp2();
    // The logarithm may be off by a rounding where the value is a bound.
    let guess = (value.log2() * OF_DOUBLING).ceil() as i32;
    if upper(guess) < value {
        guess + 1
    } else if upper(guess - 1) >= value {
        guess - 1
    } else {
        guess
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tally(values: &[f64]) -> NativeTally {
        let mut tally = NativeTally::new(MetricKind::Trend);
        values.iter().for_each(|value| tally.add(1, *value));
        tally
    }

    #[test]
    fn a_bucket_has_its_upper_bound_and_not_its_lower_one() {
        // 1 = 2^0, 2 = 2^(8/8), 0.25 = 2^(-16/8).
        let found = tally(&[1.0, 1.0 + 1e-12, 2.0, 0.25, -2.0, 0.0, -0.0, 1e-300]);
        assert_eq!((found.count, found.zeros), (8, 3));
        let positive = [(-16, 1), (0, 1), (1, 1), (8, 1)];
        assert_eq!(found.positive, BTreeMap::from(positive));
        assert_eq!(found.negative, BTreeMap::from([(8, 1)]));
        assert!((found.sum - (1.0 + 1.0 + 2.0 + 0.25 - 2.0)).abs() < 1e-9, "{}", found.sum);
        assert_eq!(NATIVE_ZERO_MAX, 2_f64.powi(-128));
    }

    #[test]
    fn the_extremes_have_buckets() {
        let found = tally(&[f64::MAX, -f64::MAX, NATIVE_ZERO_MAX * 1.01]);
        assert_eq!(found.positive, BTreeMap::from([(-1_023, 1), (8_192, 1)]));
        assert_eq!(found.negative, BTreeMap::from([(8_192, 1)]));
    }

    proptest! {
        #[test]
        fn every_value_lies_in_its_bucket(exponent in -120.0..1_000.0_f64, at in 0.0..1.0_f64) {
            let value = exponent.exp2() * (1.0 + at);
            let bucket = bucket(value);
            let bound = |bucket: i32| (f64::from(bucket) / 8.0).exp2();
            prop_assert!(value <= bound(bucket) && value > bound(bucket - 1));
        }
    }
}
