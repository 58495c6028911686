//! How long something takes: a law, and draws from it.
//!
//! Every law is drawn from by inverting its distribution function at one uniform number, so a draw
//! is a function of (seed, stream, k) and nothing else: the k-th request of a route takes as long
//! in every run.

mod normal;
mod parse;
mod recorded;
mod run_files;

use std::sync::Arc;

use sojourn_pace::{random_u64, random_unit};

pub use parse::{LatencyError, read_latency};
pub use recorded::recorded;
pub use run_files::RunFiles;

/// Standard normal quantile at 0.99.
const NORMAL_QUANTILE_99: f64 = 2.326_347_874_040_841;
/// No draw is longer than this, one day: an unlucky one shall not be held for ever.
const DRAW_MAX_NS: f64 = 86_400e9;

/// A law of times, nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub enum Latency {
    /// Memoryless.
    Exponential {
        /// Mean.
        mean_ns: f64,
    },
    /// Always the same.
    Fixed(u64),
    /// Its logarithm is normal: a long tail, given by two points that people measure.
    LogNormal {
        /// Median.
        p50_ns: f64,
        /// 99th percentile, no less than the median.
        p99_ns: f64,
    },
    /// Bell-shaped; draws below zero count as zero.
    Normal {
        /// Mean.
        mean_ns: f64,
        /// Standard deviation.
        deviation_ns: f64,
    },
    /// As measured.
    Table(Arc<Table>),
    /// Every time between two equally likely.
    Uniform {
        /// Shortest.
        low_ns: f64,
        /// Longest.
        high_ns: f64,
    },
}

/// A distribution by its percentiles, straight lines between them: below the first it is the first,
/// above the last the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Shares in [0, 1] and times, both ascending; never empty.
    points: Vec<(f64, f64)>,
}

impl Table {
    /// A table of (share, nanoseconds). `None`: no points, or not in ascending order.
    pub fn new(points: Vec<(f64, f64)>) -> Option<Self> {
        let is_share = |&(share, ns): &(f64, f64)| (0.0..=1.0).contains(&share) && ns >= 0.0;
        let ascends = |pair: &[(f64, f64)]| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1;
        let fits =
            !points.is_empty() && points.iter().all(is_share) && points.windows(2).all(ascends);
        fits.then_some(Self { points })
    }

    fn at(&self, share: f64) -> f64 {
        let above = self.points.partition_point(|(known, _)| *known <= share);
        match (above.checked_sub(1).and_then(|at| self.points.get(at)), self.points.get(above)) {
            (Some(&(low, low_ns)), Some(&(high, high_ns))) => {
                low_ns + (high_ns - low_ns) * (share - low) / (high - low)
            }
            (Some(&(_, ns)), None) | (None, Some(&(_, ns))) => ns,
            (None, None) => 0.0,
        }
    }

    fn mean(&self) -> f64 {
        let between: f64 = self
            .points
            .windows(2)
            .map(|pair| (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1) / 2.0)
            .sum();
        let (Some(first), Some(last)) = (self.points.first(), self.points.last()) else {
            return 0.0;
        };
        first.0 * first.1 + between + (1.0 - last.0) * last.1
    }
}

impl Latency {
    /// The time that a share `unit` (in [0, 1)) of draws does not exceed.
    pub fn quantile_ns(&self, unit: f64) -> u64 {
        let ns = match self {
            Self::Exponential { mean_ns } => -mean_ns * (-unit).ln_1p(),
            Self::Fixed(ns) => return *ns,
            Self::LogNormal { p50_ns, .. } if *p50_ns == 0.0 => 0.0,
            Self::LogNormal { p50_ns, p99_ns } => {
                let sigma = (p99_ns / p50_ns).ln() / NORMAL_QUANTILE_99;
                p50_ns * (sigma * normal::quantile(unit)).exp()
            }
            Self::Normal { mean_ns, deviation_ns } => {
                mean_ns + deviation_ns * normal::quantile(unit)
            }
            Self::Table(table) => table.at(unit),
            Self::Uniform { low_ns, high_ns } => low_ns + (high_ns - low_ns) * unit,
        };
        // A float that is no number becomes 0.
        ns.clamp(0.0, DRAW_MAX_NS).round() as u64
    }

    /// Draw `k` of a stream under a seed.
    pub fn draw_ns(&self, seed: u64, stream: u64, k: u64) -> u64 {
        match self {
            Self::Fixed(ns) => *ns,
            // In the middle of one of 2^53 cells: never 0, where a normal law has no time.
            law => law.quantile_ns(random_unit(seed, stream, k) + (0.5_f64).powi(54)),
        }
    }

    /// The mean, nanoseconds; of a normal law before draws below zero become zero.
    pub fn mean_ns(&self) -> f64 {
        match self {
            Self::Exponential { mean_ns } | Self::Normal { mean_ns, .. } => *mean_ns,
            Self::Fixed(ns) => *ns as f64,
            Self::LogNormal { p50_ns, .. } if *p50_ns == 0.0 => 0.0,
            Self::LogNormal { p50_ns, p99_ns } => {
                let sigma = (p99_ns / p50_ns).ln() / NORMAL_QUANTILE_99;
                p50_ns * (sigma * sigma / 2.0).exp()
            }
            Self::Table(table) => table.mean(),
            Self::Uniform { low_ns, high_ns } => (low_ns + high_ns) / 2.0,
        }
    }

    /// Whether every draw is zero.
    pub fn is_zero(&self) -> bool {
        *self == Self::Fixed(0)
    }
}

/// Times of a law one after the other, the same for the same law and seed.
#[derive(Clone, Debug)]
pub struct Draws {
    law: Latency,
    seed: u64,
    next: u64,
}

/// The stream that [`Draws`] come from.
const DRAWS_STREAM: u64 = u64::from_be_bytes(*b"services");

impl Draws {
    /// The draws of a law under a seed.
    pub fn new(law: Latency, seed: u64) -> Self {
        Self { law, seed, next: 0 }
    }

    /// Exponential with the given mean.
    pub fn exponential(mean_ns: u64, seed: u64) -> Self {
        Self::new(Latency::Exponential { mean_ns: mean_ns as f64 }, seed)
    }

    /// Always `ns`.
    pub fn fixed(ns: u64) -> Self {
        Self::new(Latency::Fixed(ns), 0)
    }

    /// The next time, nanoseconds.
    pub fn draw_ns(&mut self) -> u64 {
        let k = self.next;
        self.next += 1;
        self.law.draw_ns(self.seed, DRAWS_STREAM, k)
    }
}

/// One of `shares.len()` places, each with its share of draw `k`; `None` for what the shares leave
/// over of the whole.
pub(crate) fn choose(shares: &[f64], seed: u64, stream: u64, k: u64) -> Option<usize> {
    let mut left = random_unit(seed, stream, k);
    for (place, share) in shares.iter().enumerate() {
        if left < *share {
            return Some(place);
        }
        left -= share;
    }
    None
}

/// Uniform in `0..count`; 0 when there is nothing to choose from.
pub(crate) fn below(count: u64, seed: u64, stream: u64, k: u64) -> u64 {
    ((u128::from(random_u64(seed, stream, k)) * u128::from(count)) >> 64) as u64
}

#[cfg(test)]
mod tests;
