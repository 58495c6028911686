//! Quantiles of a stream in bounded memory: a merging t-digest with compression 100.
//!
//! A centroid stands for neighbouring values by their mean and how many they are. Those in the
//! middle of the distribution may hold many, those at its ends few: the scale function k maps a
//! quantile to a number from 0 to 100, and a centroid may span one unit of it. (Dunning and Ertl,
//! *Computing Extremely Accurate Quantiles Using t-Digests*, 2019.) The same parameters and order
//! of operations as in Vegeta give the same figures to the last digit; where means are equal, the
//! order that its sort leaves them in too.

mod order;

use std::f64::consts::{FRAC_PI_2, PI};

const COMPRESSION: f64 = 100.0;

/// Values gathered before they are merged.
const PENDING_MAX: usize = 800;

/// A mean and how many values it stands for.
#[derive(Clone, Copy, Debug)]
struct Centroid {
    mean: f64,
    weight: f64,
}

impl Centroid {
    fn of(value: i64) -> Self {
        Self { mean: value as f64, weight: 1.0 }
    }
}

/// The digest of some values.
#[derive(Clone, Debug)]
pub(super) struct Digest {
    /// By mean.
    centroids: Vec<Centroid>,
    /// Scratch: the centroids before the merge.
    before: Vec<Centroid>,
    /// Values that are not merged yet.
    pending: Vec<i64>,
    /// Scratch: the same, sorted.
    sorted: Vec<i64>,
    min: f64,
    max: f64,
}

impl Default for Digest {
    fn default() -> Self {
        Self {
            centroids: Vec::new(),
            before: Vec::new(),
            pending: Vec::with_capacity(PENDING_MAX + 1),
            sorted: Vec::with_capacity(PENDING_MAX + 1),
            min: f64::MAX,
            max: -f64::MAX,
        }
    }
}

impl Digest {
    pub(super) fn add(&mut self, value: i64) {
        self.pending.push(value);
        if self.pending.len() > PENDING_MAX {
            self.merge();
        }
    }

    /// The value below which the fraction `q` of all values lies; `None` without values.
    pub(super) fn quantile(&mut self, q: f64) -> Option<f64> {
        self.merge();
        let first = *self.centroids.first()?;
        if self.centroids.len() == 1 {
            return Some(first.mean);
        }
        let total: f64 = self.centroids.iter().map(|centroid| centroid.weight).sum();
        let index = q * total;
        if index <= first.weight / 2.0 {
            return Some(self.min + 2.0 * index / first.weight * (first.mean - self.min));
        }
        // Where the middle of each centroid lies among all values.
        let mut passed = 0.0;
        let mut lower = first.weight / 2.0;
        for pair in self.centroids.windows(2) {
            passed += pair[0].weight;
            let upper = passed + pair[1].weight / 2.0;
            if index <= upper {
                let (from_lower, to_upper) = (index - lower, upper - index);
                let mean =
                    (pair[0].mean * to_upper + pair[1].mean * from_lower) / (to_upper + from_lower);
                // Rounding may have put the two in the wrong order, which `clamp` does not survive.
                return Some(mean.min(pair[1].mean).max(pair[0].mean));
            }
            lower = upper;
        }
        Some(self.max)
    }

    /// Folds the pending values into the centroids.
    fn merge(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        self.sorted.clone_from(&self.pending);
        self.sorted.sort_unstable();
        std::mem::swap(&mut self.centroids, &mut self.before);
        self.centroids.clear();
        let weight_before: f64 = self.before.iter().map(|centroid| centroid.weight).sum();
        let total = weight_before + self.pending.len() as f64;
        let mut merged = Merged { centroids: &mut self.centroids, total, passed: 0.0, limit: 0.0 };
        if order_matters(&self.before, &self.sorted) {
            let values = self.pending.iter().map(|value| Centroid::of(*value));
            let mut all: Vec<Centroid> = values.chain(self.before.iter().copied()).collect();
            order::sort(&mut all, |left, right| left.mean < right.mean);
            all.into_iter().for_each(|centroid| merged.add(centroid));
        } else {
            let mut before = self.before.iter().copied().peekable();
            for value in self.sorted.iter().map(|value| Centroid::of(*value)) {
                while let Some(centroid) = before.next_if(|centroid| centroid.mean < value.mean) {
                    merged.add(centroid);
                }
                merged.add(value);
            }
            before.for_each(|centroid| merged.add(centroid));
        }
        self.pending.clear();
        if let (Some(first), Some(last)) = (self.centroids.first(), self.centroids.last()) {
            self.min = self.min.min(first.mean);
            self.max = self.max.max(last.mean);
        }
    }
}

/// Whether centroids and values, each sorted, have equal means of different weights: only then does
/// it matter which of them comes first.
fn order_matters(centroids: &[Centroid], values: &[i64]) -> bool {
    let differ = |pair: &[Centroid]| {
        pair[0].mean.total_cmp(&pair[1].mean).is_eq() && pair[0].weight != pair[1].weight
    };
    let is_value = |centroid: &Centroid| {
        centroid.weight != 1.0
            && values.binary_search_by(|value| (*value as f64).total_cmp(&centroid.mean)).is_ok()
    };
    centroids.windows(2).any(differ) || centroids.iter().any(is_value)
}

/// Centroids being built from sorted ones.
struct Merged<'c> {
    centroids: &'c mut Vec<Centroid>,
    total: f64,
    /// Weight of all that was added.
    passed: f64,
    /// Up to which weight the last centroid may take more.
    limit: f64,
}

impl Merged<'_> {
    #[inline]
    fn add(&mut self, next: Centroid) {
        match self.centroids.last_mut() {
            Some(last) if self.passed + next.weight <= self.limit => {
                last.weight += next.weight;
                last.mean += next.weight * (next.mean - last.mean) / last.weight;
            }
            last => {
                let k = if last.is_some() { scale(self.passed / self.total) } else { 0.0 };
                self.limit = self.total * unscale(k + 1.0);
                self.centroids.push(next);
            }
        }
        self.passed += next.weight;
    }
}

/// The scale function k of a quantile.
fn scale(q: f64) -> f64 {
    COMPRESSION * ((2.0 * q - 1.0).asin() + FRAC_PI_2) / PI
}

/// Its inverse.
fn unscale(k: f64) -> f64 {
    ((k.min(COMPRESSION) * PI / COMPRESSION - FRAC_PI_2).sin() + 1.0) / 2.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantiles_of_a_ramp_are_those_that_vegeta_finds() {
        let mut digest = Digest::default();
        assert_eq!(digest.quantile(0.5), None);
        for value in 1..=10_000 {
            digest.add(value * 1_000);
        }
        for (q, expected) in
            [(0.5, 5_000_500.0), (0.9, 9_000_500.0), (0.95, 9_500_500.0), (0.99, 9_900_500.0)]
        {
            assert_eq!(digest.quantile(q).map(f64::trunc), Some(expected), "{q}");
        }
        assert_eq!(digest.quantile(0.0), Some(1_000.0));
        assert_eq!(digest.quantile(1.0), Some(10_000_000.0));
        assert!(digest.centroids.len() <= 200, "{}", digest.centroids.len());
    }

    #[test]
    fn quantiles_of_whole_milliseconds_are_those_that_vegeta_finds() {
        let mut digest = Digest::default();
        for index in 0..20_000_u64 {
            let random =
                index.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f) >> 33;
            let milliseconds = 1 + (random % 40).min(random / 40 % 60);
            digest.add(milliseconds as i64 * 1_000_000);
        }
        for (q, expected) in
            [(0.5, 14_414_136.0), (0.9, 31_982_572.0), (0.95, 35_671_601.0), (0.99, 39_000_000.0)]
        {
            assert_eq!(digest.quantile(q).map(f64::trunc), Some(expected), "{q}");
        }
    }

    proptest! {
        #[test]
        fn quantiles_lie_between_the_least_and_the_greatest(
            values in proptest::collection::vec(
                prop_oneof![any::<i64>(), 0..50_i64, 1_000_000..1_000_003_i64],
                1..3_000,
            ),
            q in 0.0..=1.0_f64,
        ) {
            let mut digest = Digest::default();
            values.iter().for_each(|value| digest.add(*value));
            let (min, max) = (values.iter().min().unwrap(), values.iter().max().unwrap());
            let quantile = digest.quantile(q).unwrap();
            prop_assert!((*min as f64..=*max as f64).contains(&quantile), "{quantile}");
        }

        /// The share of values below a quantile is about its q: a centroid in the middle holds a
        /// fiftieth of them at most.
        #[test]
        fn quantiles_are_where_they_should_be(seed in any::<u64>(), q in 0.0..=1.0_f64) {
            let mut digest = Digest::default();
            let spread = |index: u64| index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            let mut values: Vec<i64> =
                (0..20_000).map(|index| spread(seed.wrapping_add(index)) as i64).collect();
            values.iter().for_each(|value| digest.add(*value));
            values.sort_unstable();
            let quantile = digest.quantile(q).unwrap();
            let below = values.partition_point(|value| (*value as f64) < quantile) as f64;
            prop_assert!((below / 20_000.0 - q).abs() < 0.02, "{} at {q}", below / 20_000.0);
        }
    }

    #[test]
    fn one_value_is_every_quantile() {
        let mut digest = Digest::default();
        digest.add(7);
        assert_eq!([0.0, 0.5, 1.0].map(|q| digest.quantile(q)), [Some(7.0); 3]);
    }
}
