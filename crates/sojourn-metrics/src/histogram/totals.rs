//! What a histogram keeps exactly.

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
    /// Sum of their squares. Stops at its maximum, which 3·10¹⁴ samples of a quarter hour reach.
    pub sum_of_squares: u128,
}

impl Totals {
    #[inline]
    pub(super) fn record(&mut self, value: u64, count: u64) {
        let wide = u128::from(value);
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count = self.count.saturating_add(count);
        self.sum = self.sum.saturating_add(wide * u128::from(count));
        let squares = (wide * wide).saturating_mul(u128::from(count));
        self.sum_of_squares = self.sum_of_squares.saturating_add(squares);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        self.sum_of_squares = self.sum_of_squares.saturating_add(other.sum_of_squares);
    }

    pub(super) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Population standard deviation. With m the whole part of the mean, Σ(v − m)² = Σv² − m·(Σv +
    /// r), r = Σv − n·m, is exact in integers; the floating mean would cancel for a narrow
    /// distribution far from zero.
    pub(super) fn stddev(&self) -> Option<f64> {
        let count = u128::from(self.count);
        let mean = self.sum.checked_div(count)?;
        let rest = self.sum - mean * count;
        let about_mean = mean
            .checked_mul(self.sum.saturating_add(rest))
            .and_then(|product| self.sum_of_squares.checked_sub(product))
            .unwrap_or(0);
        let fraction = rest as f64 / count as f64;
        let variance = about_mean as f64 / count as f64 - fraction * fraction;
        Some(variance.max(0.0).sqrt())
    }
}
