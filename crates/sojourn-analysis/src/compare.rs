//! Two runs beside each other: what changed, by how much, and how sure that is.
//!
//! What a run measured is cut into blocks of time. Requests of one second resemble each other,
//! those of blocks far less, so blocks are what is drawn anew: the spread of a figure is that of
//! the same figure over many draws of whole blocks (block bootstrap), widened where neighbouring
//! blocks still resemble each other. Intervals are simultaneous: all of one comparison hold
//! together with the stated confidence (Bonferroni), so that a comparison of thirty figures is not
//! wrong thirty times as often.

mod blocks;
mod draws;
mod quantile;
mod share;

pub use blocks::{BLOCKS_MAX, BLOCKS_MIN, Block, grouping};
pub use quantile::quantile_change;
pub use share::{rate_change, share_change};

use serde::Serialize;

use crate::{autocorrelation::lag_1, student::t_quantile};

/// Probability that at least one interval of a comparison misses the truth.
pub const ERROR_PROBABILITY: f64 = 0.05;

/// A change of a figure from one run to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The first run's figure.
    pub before: f64,
    /// The second run's.
    pub after: f64,
    /// Second minus first, as a fraction of the first; of shares, the difference itself.
    pub change: f64,
    /// Where the change lies with the comparison's confidence, from and to.
    pub interval: [f64; 2],
}

/// What a change amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// Worse beyond doubt, and by more than the tolerance.
    Worse,
    /// Better likewise.
    Better,
    /// Neither was seen.
    NoDifference,
}

/// Which way is worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worse {
    /// Latencies, errors.
    Greater,
    /// Throughput.
    Smaller,
}

impl Change {
    /// A difference is one only where the whole interval lies on one side of none, and where its
    /// estimate is more than the tolerance (a fraction of the first run's figure).
    pub fn finding(&self, worse: Worse, tolerance: f64) -> Finding {
        let [low, high] = self.interval;
        let grew = low > 0.0 && self.after > self.before * (1.0 + tolerance);
        let shrank = high < 0.0 && self.after < self.before * (1.0 - tolerance);
        match (worse, grew, shrank) {
            (Worse::Greater, true, _) | (Worse::Smaller, _, true) => Finding::Worse,
            (Worse::Greater, _, true) | (Worse::Smaller, true, _) => Finding::Better,
            _ => Finding::NoDifference,
        }
    }
}

/// How many standard errors an interval reaches to either side, of `figures` that are to hold
/// together, each from so many blocks at least.
fn reach(figures: usize, blocks: usize) -> f64 {
    t_quantile(ERROR_PROBABILITY / figures.max(1) as f64, blocks.saturating_sub(1).max(1) as f64)
}

/// By how much the variance of a mean of these is greater than that of independent ones:
/// (1 + r)/(1 − r) for the lag-1 autocorrelation r, where that is positive.
fn inflation(values: &[f64]) -> f64 {
    let Some(correlation) = lag_1(values) else {
        return 1.0;
    };
    // Biased downwards by about 1/n: neighbours of a mean-free series repel each other.
    let correlation = (correlation + 1.0 / values.len() as f64).clamp(0.0, 0.9);
    (1.0 + correlation) / (1.0 - correlation)
}

#[cfg(test)]
mod tests;
