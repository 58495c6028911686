//! The change of a quantile.

use sojourn_metrics::nearest_rank;

use super::{Block, Change, draws::Draws, inflation, reach};

/// Draws of blocks.
const DRAWS: usize = 400;
/// What two histograms' own error may add to a ratio: 0.1 % each.
const RESOLUTION: f64 = 0.002;

/// The change of quantile `q` from one run to another, as one of `figures` that are to hold
/// together. `None` when a run has no samples, or the quantile is zero or among those beyond every
/// value.
pub fn quantile_change(
    before: &[Block],
    after: &[Block],
    q: f64,
    figures: usize,
) -> Option<Change> {
    let (first, second) = (Spread::of(before, q)?, Spread::of(after, q)?);
    let middle = (second.value / first.value).ln();
    let standard_error = (first.log_variance + second.log_variance).sqrt();
    let reach = reach(figures, before.len().min(after.len()));
    let half_width = (reach * standard_error).max(RESOLUTION);
    Some(Change {
        before: first.value,
        after: second.value,
        change: middle.exp_m1(),
        interval: [(middle - half_width).exp_m1(), (middle + half_width).exp_m1()],
    })
}

/// A quantile and how far it scatters.
struct Spread {
    value: f64,
    /// Of its logarithm.
    log_variance: f64,
}

impl Spread {
    fn of(blocks: &[Block], q: f64) -> Option<Self> {
        let table = Table::new(blocks);
        let value = table.quantile(q, &vec![1; blocks.len()])?;
        let mut draws = Draws::new(blocks.len() as u64);
        let mut weights = Vec::new();
        let mut logs = Vec::with_capacity(DRAWS);
        for _ in 0..DRAWS {
            draws.weights(blocks.len(), &mut weights);
            // A draw whose quantile is beyond every value counts as the greatest known one.
            let drawn = table.quantile(q, &weights).unwrap_or(table.greatest);
            logs.push(drawn.max(1.0).ln());
        }
        let mean = logs.iter().sum::<f64>() / DRAWS as f64;
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        let n = blocks.len() as f64;
        // n/(n − 1): draws scatter about the blocks' own mean.
        let own = squares / (DRAWS - 1) as f64 * n / (n - 1.0).max(1.0);
        let log_variance = own * inflation(&table.influences(value));
        Some(Self { value, log_variance })
    }
}

/// Samples up to each value, by block.
struct Table {
    values: Vec<u64>,
    /// Of each value, how many samples of each block are not greater.
    sums: Vec<u64>,
    totals: Vec<u64>,
    greatest: f64,
}

impl Table {
    fn new(blocks: &[Block]) -> Self {
        let mut values: Vec<u64> =
            blocks.iter().flat_map(|block| block.bins.iter().map(|(value, _)| *value)).collect();
        values.sort_unstable();
        values.dedup();
        let mut sums = Vec::with_capacity(values.len() * blocks.len());
        let mut bins: Vec<_> = blocks.iter().map(|block| block.bins.iter().peekable()).collect();
        let mut seen = vec![0_u64; blocks.len()];
        for value in &values {
            for (bins, seen) in bins.iter_mut().zip(&mut seen) {
                while let Some((_, count)) = bins.next_if(|(own, _)| own <= value) {
                    *seen += count;
                }
            }
            sums.extend_from_slice(&seen);
        }
        let greatest = values.last().map_or(0.0, |value| *value as f64);
        Self { values, sums, totals: blocks.iter().map(Block::count).collect(), greatest }
    }

    /// Samples of each block up to the value at a place.
    fn up_to(&self, place: usize) -> &[u64] {
        &self.sums[place * self.totals.len()..(place + 1) * self.totals.len()]
    }

    /// The quantile, each block counted as often as its weight says, by nearest rank.
    fn quantile(&self, q: f64, weights: &[u32]) -> Option<f64> {
        let weighted = |counts: &[u64]| -> u64 {
            counts.iter().zip(weights).map(|(count, weight)| count * u64::from(*weight)).sum()
        };
        let total = weighted(&self.totals);
        if total == 0 {
            return None;
        }
        let rank = nearest_rank(q, total);
        let (mut low, mut high) = (0, self.values.len());
        while low < high {
            let middle = (low + high) / 2;
            if weighted(self.up_to(middle)) < rank {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        self.values.get(low).map(|value| *value as f64).filter(|value| *value > 0.0)
    }

    /// What each block adds to the error of a quantile: its samples up to it, less its due.
    fn influences(&self, value: f64) -> Vec<f64> {
        let places = self.values.partition_point(|own| *own as f64 <= value);
        let Some(last) = places.checked_sub(1) else {
            return Vec::new();
        };
        let below = self.up_to(last);
        let share = below.iter().sum::<u64>() as f64 / self.totals.iter().sum::<u64>() as f64;
        below.iter().zip(&self.totals).map(|(n, of)| *n as f64 - share * *of as f64).collect()
    }
}
