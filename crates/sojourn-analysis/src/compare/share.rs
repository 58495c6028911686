//! The change of a rate, and of a share.

use super::{Change, ERROR_PROBABILITY, inflation, reach};

/// The change of events per second, from counts and seconds of blocks. `None` when a run had none.
pub fn rate_change(before: &[(u64, f64)], after: &[(u64, f64)], figures: usize) -> Option<Change> {
    let (first, second) = (Ratio::of(before)?, Ratio::of(after)?);
    if first.value <= 0.0 || second.value <= 0.0 {
        return None;
    }
    let middle = (second.value / first.value).ln();
    let relative = |ratio: &Ratio| ratio.variance / (ratio.value * ratio.value);
    let reach = reach(figures, before.len().min(after.len()));
    let half_width = reach * (relative(&first) + relative(&second)).sqrt();
    Some(Change {
        before: first.value,
        after: second.value,
        change: middle.exp_m1(),
        interval: [(middle - half_width).exp_m1(), (middle + half_width).exp_m1()],
    })
}

/// The change of a share, from (those that are, all) of blocks, as a difference of shares. `None`
/// when a run had nothing to have a share of.
///
/// Blocks tell the scatter of what comes in bursts. Where it is rare they tell nothing (ten blocks
/// without one have no scatter), so the interval keeps none inside unless the two counts differ by
/// more than chance would have it, were the shares alike: an exact test of one binomial count.
pub fn share_change(before: &[(u64, u64)], after: &[(u64, u64)], figures: usize) -> Option<Change> {
    let as_ratio = |blocks: &[(u64, u64)]| {
        let blocks: Vec<_> = blocks.iter().map(|(part, all)| (*part, *all as f64)).collect();
        Ratio::of(&blocks)
    };
    let (first, second) = (as_ratio(before)?, as_ratio(after)?);
    let sum = |blocks: &[(u64, u64)]| {
        blocks.iter().fold((0, 0), |(part, all), block| (part + block.0, all + block.1))
    };
    let (of_first, of_second) = (sum(before), sum(after));
    // Never narrower than independent requests would have it.
    let binomial = |ratio: &Ratio, all: u64| ratio.value * (1.0 - ratio.value) / all as f64;
    let variance = first.variance.max(binomial(&first, of_first.1))
        + second.variance.max(binomial(&second, of_second.1));
    let reach = reach(figures, before.len().min(after.len()));
    let half_width = reach * variance.sqrt();
    let change = second.value - first.value;
    let mut interval = [change - half_width, change + half_width];
    if chance(of_first, of_second) > ERROR_PROBABILITY / figures.max(1) as f64 {
        interval = [interval[0].min(0.0), interval[1].max(0.0)];
    }
    Some(Change { before: first.value, after: second.value, change, interval })
}

/// Σ parts over Σ wholes.
struct Ratio {
    value: f64,
    variance: f64,
}

impl Ratio {
    fn of(blocks: &[(u64, f64)]) -> Option<Self> {
        let n = blocks.len() as f64;
        let parts = blocks.iter().map(|(part, _)| *part as f64).sum::<f64>();
        let wholes = blocks.iter().map(|(_, whole)| whole).sum::<f64>();
        if blocks.len() < 2 || wholes <= 0.0 {
            return None;
        }
        let value = parts / wholes;
        // The ratio's linearisation: what each block has beyond its due.
        let errors: Vec<f64> =
            blocks.iter().map(|(part, whole)| *part as f64 - value * whole).collect();
        let squares: f64 = errors.iter().map(|error| error * error).sum();
        let variance = squares * n / (n - 1.0) / (wholes * wholes) * inflation(&errors);
        Some(Self { value, variance })
    }
}

/// How probable counts as different as these are if the shares are alike: given their sum, the
/// first is binomial. Both tails: twice the smaller one.
fn chance(first: (u64, u64), second: (u64, u64)) -> f64 {
    let n = first.0 + second.0;
    let p = first.1 as f64 / (first.1 + second.1) as f64;
    if n == 0 || !(p > 0.0 && p < 1.0) {
        return 1.0;
    }
    let [mut below, mut above] = [0.0, 0.0];
    let mut log_term = n as f64 * (1.0 - p).ln();
    for k in 0..=n {
        let term = log_term.exp();
        if k <= first.0 {
            below += term;
        }
        if k >= first.0 {
            above += term;
        }
        log_term += ((n - k) as f64 / (k + 1) as f64).ln() + (p / (1.0 - p)).ln();
    }
    (2.0_f64 * f64::min(below, above)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_of_counts() {
        // Five heads of five: 2 · 1/32.
        assert!((chance((5, 100), (0, 100)) - 0.062_5).abs() < 1e-12);
        assert!((chance((0, 100), (0, 100)) - 1.0).abs() < 1e-12);
        assert!(chance((50, 1_000), (52, 1_000)) > 0.8);
        assert!(chance((10, 1_000), (60, 1_000)) < 1e-6);
        assert!(chance((100_000, 200_000), (100_100, 200_000)) > 0.5);
    }
}
