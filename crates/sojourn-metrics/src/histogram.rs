//! HDR-compatible histograms: three significant digits, stated error at most 0.1 %.
//!
//! Layout: values below 2,048 are counted one by one; above, each octave has 1,024 buckets. Counts
//! live in pages of 1,024 allocated on first use, so a series costs what its spread needs.

use serde::{Deserialize, Serialize};

/// What is kept exactly beside the buckets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Number of samples.
    pub count: u64,
    /// Least sample; 0 when there is none.
    pub min: u64,
    /// Greatest sample; 0 when there is none.
    pub max: u64,
    /// Sum of the samples.
    pub sum: u128,
    /// Sum of their squares.
    pub sum_of_squares: u128,
}

/// A merged distribution with 64-bit counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    totals: Totals,
}

impl Histogram {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records one sample.
    pub fn record(&mut self, _value: u64) {}

    /// Records `count` samples of one value.
    pub fn record_n(&mut self, _value: u64, _count: u64) {}

    /// Adds another's samples.
    pub fn merge(&mut self, _other: &Self) {}

    /// Adds an interval's samples.
    pub fn merge_interval(&mut self, _other: &IntervalHistogram) {}

    /// The exact figures.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Number of samples.
    pub fn count(&self) -> u64 {
        self.totals.count
    }

    /// Arithmetic mean; `None` without samples.
    pub fn mean(&self) -> Option<f64> {
        None
    }

    /// Population standard deviation; `None` without samples.
    pub fn stddev(&self) -> Option<f64> {
        None
    }

    /// Nearest-rank quantile: the value of sample ⌈q·N⌉ (q in 0..=1), as the greatest value of its
    /// bucket but never above the exact maximum nor below the exact minimum. `None` without samples.
    pub fn quantile(&self, _q: f64) -> Option<u64> {
        None
    }

    /// The value of the sample of this rank, 1-based; as [`Self::quantile`] says.
    pub fn value_at_rank(&self, _rank: u64) -> Option<u64> {
        None
    }

    /// Non-empty buckets in ascending order: (least value, greatest value, count).
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        std::iter::empty()
    }

    /// Sparse encoding, appended to `out`: totals, then (gap, count) pairs as varints.
    pub fn encode(&self, _out: &mut Vec<u8>) {}

    /// Reads one encoding from the front of `bytes`; returns it and the rest.
    pub fn decode(_bytes: &[u8]) -> Option<(Self, &[u8])> {
        None
    }
}

/// One interval's distribution with 32-bit counts: what a [`crate::Recorder`] writes to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IntervalHistogram {
    totals: Totals,
}

impl IntervalHistogram {
    /// Records one sample.
    #[inline]
    pub fn record(&mut self, _value: u64) {}

    /// The exact figures.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Empties it, keeping its pages.
    pub fn clear(&mut self) {}
}
