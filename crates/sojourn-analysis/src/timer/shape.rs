//! A histogram's buckets as weighted points, and what is counted of them.

use sojourn_metrics::Histogram;

/// From so many samples on, the outermost are left out of a test of the shape: one pause of a
/// garbage collector must not hide what thousands of others show.
const TRIMMED_FROM: u64 = 200;
/// The share left out at either end.
const TRIMMED: f64 = 0.005;

/// Samples in ascending order: (value, how many).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shape {
    pub(super) points: Vec<(f64, f64)>,
    /// How many samples.
    pub(super) n: f64,
}

impl Shape {
    /// Each bucket's samples at its middle, the extremes at their exact values.
    pub(super) fn of(histogram: &Histogram) -> Self {
        let totals = histogram.totals();
        let middle = |low: u64, high: u64| {
            let (low, high) = (low.max(totals.min), high.min(totals.max));
            // Logarithms are taken: a hop of no time counts as one nanosecond.
            (low as f64 + (high - low) as f64 / 2.0).max(1.0)
        };
        let points = histogram
            .buckets()
            .map(|(low, high, count)| (middle(low, high), count as f64))
            .collect();
        Self { points, n: totals.count as f64 }
    }

    /// The same without the outermost samples, where there are many.
    pub(super) fn trimmed(&self) -> Self {
        let left_out = if self.n < TRIMMED_FROM as f64 { 0.0 } else { (self.n * TRIMMED).floor() };
        let (mut before, mut points) = (0.0, Vec::with_capacity(self.points.len()));
        for &(value, count) in &self.points {
            let from = f64::max(before, left_out);
            let to = f64::min(before + count, self.n - left_out);
            if to > from {
                points.push((value, to - from));
            }
            before += count;
        }
        Self { n: points.iter().map(|(_, count)| count).sum(), points }
    }

    pub(super) fn min(&self) -> f64 {
        self.points.first().map_or(0.0, |point| point.0)
    }

    pub(super) fn max(&self) -> f64 {
        self.points.last().map_or(0.0, |point| point.0)
    }

    /// The sample below which a share of the samples lies.
    fn quantile(&self, q: f64) -> f64 {
        let mut below = 0.0;
        let at = self.points.iter().find(|(_, count)| {
            below += count;
            below >= q * self.n
        });
        at.map_or_else(|| self.max(), |point| point.0)
    }

    /// The width of the interval over which evenly spread samples would be: of few from their
    /// extremes, of more from what lies between, which a little work before the wait changes less.
    pub(super) fn width(&self) -> f64 {
        if self.n < 100.0 {
            return (self.max() - self.min()) * (self.n + 1.0) / (self.n - 1.0).max(1.0);
        }
        (self.quantile(0.95) - self.quantile(0.05)) / 0.9
    }

    /// The mean of a function of the samples.
    pub(super) fn mean_of(&self, value: impl Fn(f64) -> f64) -> f64 {
        self.points.iter().map(|&(x, count)| value(x) * count).sum::<f64>() / self.n
    }

    /// The value with the most samples around it, within a part of itself.
    pub(super) fn mode(&self, within: f64) -> f64 {
        let (mut first, mut inside, mut best) = (0, 0.0, (0.0, 0.0));
        for &(value, count) in &self.points {
            inside += count;
            while self.points[first].0 < value * (1.0 - 2.0 * within) {
                inside -= self.points[first].1;
                first += 1;
            }
            if inside > best.0 {
                best = (inside, (self.points[first].0 + value) / 2.0);
            }
        }
        best.1
    }
}
