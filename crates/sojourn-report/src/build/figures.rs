//! Figures from histograms.

use sojourn_metrics::{Histogram, Totals, nearest_rank};

use crate::model::{Bin, Distribution, Quantile};

/// A distribution's figures; `None` without samples.
pub(super) fn distribution(histogram: Option<&Histogram>) -> Option<Distribution> {
    signed(histogram, None)
}

/// The figures of samples whose negative ones are kept apart, by magnitude, ranked together.
pub(super) fn signed(
    positive: Option<&Histogram>,
    negative: Option<&Histogram>,
) -> Option<Distribution> {
    let ranked = Ranked { positive, negative };
    let count = ranked.count();
    if count == 0 {
        return None;
    }
    let up = positive.map(Histogram::totals).copied().unwrap_or_default();
    let down = negative.map(Histogram::totals).copied().unwrap_or_default();
    let sum = to_i128(up.sum) - to_i128(down.sum);
    let quantile = |q: f64| ranked.value(nearest_rank(q, count)).unwrap_or_default();
    Some(Distribution {
        count,
        sum: sum as f64,
        min: if down.count > 0 { -to_i64(down.max) } else { to_i64(up.min) },
        mean: sum as f64 / count as f64,
        max: if up.count > 0 { to_i64(up.max) } else { -to_i64(down.min) },
        stddev: stddev(count, sum, &up, &down),
        p50: quantile(0.5),
        p75: quantile(0.75),
        p90: quantile(0.9),
        p95: quantile(0.95),
        p99: quantile(0.99),
        p999: quantile(0.999),
    })
}

/// Quantiles of a journey over those seen complete and those lost, which rank beyond `within_ns`.
pub(super) fn journey_quantiles(
    durations: Option<&Histogram>,
    lost: u64,
    within_ns: u64,
) -> Vec<Quantile> {
    let complete = durations.map_or(0, Histogram::count);
    let count = complete + lost;
    if count == 0 {
        return Vec::new();
    }
    [0.5, 0.75, 0.9, 0.95, 0.99, 0.999]
        .into_iter()
        .map(|q| {
            let rank = nearest_rank(q, count);
            let seen = durations
                .filter(|_| rank <= complete)
                .and_then(|durations| durations.value_at_rank(rank));
            Quantile { q, ns: seen.unwrap_or(within_ns), beyond: seen.is_none() }
        })
        .collect()
}

/// How many bins a factor of ten is cut into: each is 5.9 % wide.
const BINS_PER_DECADE: f64 = 40.0;

/// Non-empty bins whose edges are spaced evenly on a logarithmic axis and are the same for every
/// distribution. A histogram's bucket counts where its middle lies.
pub(super) fn bins(histogram: Option<&Histogram>) -> Vec<Bin> {
    let mut bins: Vec<(i32, u64)> = Vec::new();
    for (low, high, count) in histogram.iter().flat_map(|histogram| histogram.buckets()) {
        let middle = (low as f64 + high as f64) / 2.0;
        let index = (middle.max(1.0).log10() * BINS_PER_DECADE).floor() as i32;
        match bins.last_mut() {
            Some((last, total)) if *last == index => *total += count,
            _ => bins.push((index, count)),
        }
    }
    let edge = |index: i32| 10f64.powf(f64::from(index) / BINS_PER_DECADE);
    bins.into_iter()
        .map(|(index, count)| Bin { low_ns: edge(index), high_ns: edge(index + 1), count })
        .collect()
}

/// Bins between the round figures 1, 2, 5, 10 and so on, from the one of the least sample to that
/// of the greatest, empty ones too.
pub(super) fn steps(histogram: &Histogram) -> Vec<Bin> {
    let totals = histogram.totals();
    if totals.count == 0 {
        return Vec::new();
    }
    let decades = (0..20).map(|power| 10u64.pow(power));
    let edges: Vec<u64> =
        decades.flat_map(|ten| [1, 2, 5].map(|factor| ten.saturating_mul(factor))).collect();
    let first = edges.iter().rposition(|edge| *edge < totals.min).unwrap_or(0);
    let mut below = 0;
    let mut bins = Vec::new();
    for pair in edges[first..].windows(2) {
        let up_to = histogram.count_at_most(pair[1]);
        bins.push(Bin { low_ns: pair[0] as f64, high_ns: pair[1] as f64, count: up_to - below });
        below = up_to;
        if up_to == totals.count {
            break;
        }
    }
    bins
}

/// Negative samples first, the greatest magnitude leading.
struct Ranked<'a> {
    positive: Option<&'a Histogram>,
    negative: Option<&'a Histogram>,
}

impl Ranked<'_> {
    fn count(&self) -> u64 {
        self.positive.map_or(0, Histogram::count) + self.negative.map_or(0, Histogram::count)
    }

    /// The sample of this rank, 1-based.
    fn value(&self, rank: u64) -> Option<i64> {
        let below = self.negative.map_or(0, Histogram::count);
        if rank <= below {
            let magnitude = self.negative?.value_at_rank(below - rank + 1)?;
            return Some(-to_i64(magnitude));
        }
        Some(to_i64(self.positive?.value_at_rank(rank - below)?))
    }
}

/// Population standard deviation: √(N·Σx² − (Σx)²) / N, in whole numbers as far as they reach,
/// since the difference of two near floats would lose every digit.
fn stddev(count: u64, sum: i128, up: &Totals, down: &Totals) -> f64 {
    let squares = up.sum_of_squares.saturating_add(down.sum_of_squares);
    let size = sum.unsigned_abs();
    let exact = squares
        .checked_mul(u128::from(count))
        .zip(size.checked_mul(size))
        .map(|(left, right)| left.saturating_sub(right) as f64);
    let spread = exact
        .unwrap_or_else(|| (squares as f64 * count as f64 - size as f64 * size as f64).max(0.0));
    spread.sqrt() / count as f64
}

fn to_i64(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn to_i128(value: u128) -> i128 {
    i128::try_from(value).unwrap_or(i128::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_nearest_and_never_pushed_up_by_rounding() {
        for (q, count, expected) in [
            (0.5, 1, 1),
            (0.5, 4, 2),
            (0.95, 100, 95),
            (0.99, 100, 99),
            (0.999, 1_000, 999),
            (0.999, 6_000, 5_994),
            (0.99, 101, 100),
        ] {
            assert_eq!(nearest_rank(q, count), expected, "p{q} of {count}");
        }
    }

    #[test]
    fn without_samples_there_are_no_figures() {
        assert_eq!(distribution(None), None);
        assert!(bins(None).is_empty());
        assert!(journey_quantiles(None, 0, 30).is_empty());
    }

    #[test]
    fn steps_reach_from_the_least_to_the_greatest_and_hold_all() {
        let mut histogram = Histogram::new();
        for (value, count) in [(2_000_000, 3), (2_100_000, 4), (40_000_000, 1)] {
            histogram.record_n(value, count);
        }
        let found: Vec<(f64, u64)> =
            steps(&histogram).iter().map(|bin| (bin.high_ns / 1e6, bin.count)).collect();
        assert_eq!(found, [(2.0, 3), (5.0, 4), (10.0, 0), (20.0, 0), (50.0, 1)]);
        assert!(steps(&Histogram::new()).is_empty());
    }

    #[test]
    fn when_all_are_lost_every_quantile_is_beyond_the_deadline() {
        let quantiles = journey_quantiles(None, 5, 30_000_000_000);
        assert_eq!(quantiles.len(), 6);
        assert!(quantiles.iter().all(|quantile| quantile.beyond));
        assert!(quantiles.iter().all(|quantile| quantile.ns == 30_000_000_000));
    }

    #[test]
    fn the_deviation_survives_large_and_near_values() {
        // 10 s and 10 s + 2 ns: deviation 1 ns, lost by floats.
        let (low, high) = (10_000_000_000u128, 10_000_000_002u128);
        let up = Totals {
            count: 2,
            min: low as u64,
            max: high as u64,
            sum: low + high,
            sum_of_squares: low * low + high * high,
        };
        assert_eq!(stddev(2, to_i128(up.sum), &up, &Totals::default()), 1.0);
    }
}
