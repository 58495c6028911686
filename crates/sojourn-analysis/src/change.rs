//! Did a figure change its level, and when?
//!
//! A cumulative sum of the figure's ranks is at its farthest from a straight line at the moment of
//! change. How far it gets by chance depends on how much neighbouring seconds resemble each other,
//! which is not known; so it is measured by the sums within the two parts themselves (the
//! self-normalised test of Shao and Zhang, J. Am. Stat. Assoc. 105, 2010, whose critical values
//! these are). Ranks make it indifferent to outliers. In short series that much resemble their own
//! past even that is not enough: the parts must differ besides by more than as many independent
//! points would by chance, n·(1 − r)/(1 + r) of them, r being the lag-1 autocorrelation within the
//! parts.

use schemars::JsonSchema;
use serde::Serialize;

/// A figure that was at one level before an instant and at another after it.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Change {
    /// The instant, nanoseconds since the run's start.
    pub at_ns: u64,
    /// Median before.
    pub before: f64,
    /// Median after.
    pub after: f64,
    /// Points before and after.
    pub points: [usize; 2],
}

/// What changed, and the load before and after.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Changed {
    /// What: `hop to S`, `response of STEP`.
    pub of: String,
    /// How.
    #[serde(flatten)]
    pub change: Change,
    /// Arrivals per second before and after it.
    pub arrivals_per_s: [f64; 2],
}

/// A figure at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Start of its second, nanoseconds since the run's start.
    pub at_ns: u64,
    /// Its value.
    pub value: f64,
}

/// Fewer points show no change.
const POINTS_MIN: usize = 40;
/// A change this near to an end (as a part of the points) is none: it may be the end's doing.
const MARGIN: f64 = 0.1;
/// What the statistic exceeds in one of a thousand series without a change.
const CRITICAL: f64 = 121.9;
/// Fewer independent points show no change.
const EFFECTIVE_MIN: f64 = 20.0;
/// How many standard errors the parts must differ by.
const ERRORS_MIN: f64 = 5.0;
/// A change by less than this factor is not told.
const FACTOR_MIN: f64 = 1.2;

/// The change of a figure's level, where there is one; points in order of time.
pub fn change(points: &[Point]) -> Option<Change> {
    if points.len() < POINTS_MIN {
        return None;
    }
    let ranks = ranks(points);
    let (at, statistic) = farthest(&ranks);
    if statistic < CRITICAL || !is_clear(&ranks, at) {
        return None;
    }
    let (early, late) = points.split_at(at);
    let (before, after) = (median(early), median(late));
    let factor = f64::max(before, after) / f64::min(before, after).max(f64::MIN_POSITIVE);
    (factor >= FACTOR_MIN).then_some(Change {
        at_ns: late[0].at_ns,
        before,
        after,
        points: [early.len(), late.len()],
    })
}

/// Whether the parts before and from a point on differ clearly for the independent points that
/// they are worth.
fn is_clear(ranks: &[f64], at: usize) -> bool {
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let means = [mean(&ranks[..at]), mean(&ranks[at..])];
    let own = |index: usize| ranks[index] - means[usize::from(index >= at)];
    let squares: f64 = (0..ranks.len()).map(|index| own(index).powi(2)).sum();
    let products: f64 = (1..ranks.len()).map(|index| own(index - 1) * own(index)).sum();
    let n = ranks.len() as f64;
    let seen = (products / squares.max(f64::MIN_POSITIVE)).max(0.0);
    // Within parts, and parts that were chosen to differ, less of it is seen than there is
    // (Kendall, Biometrika 41, 1954: by (1 + 3r)/n in each).
    let resemblance = (seen + 3.0 * (1.0 + 3.0 * seen) / n).min(0.99);
    let worth = (1.0 - resemblance) / (1.0 + resemblance);
    let (early, late) = (at as f64 * worth, (n - at as f64) * worth);
    let error = (squares / n * (1.0 / early + 1.0 / late)).sqrt();
    n * worth >= EFFECTIVE_MIN && (means[0] - means[1]).abs() >= ERRORS_MIN * error
}

/// The first point after the change, and the statistic there. Linear: sums over the parts come
/// from running sums.
fn farthest(values: &[f64]) -> (usize, f64) {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let forward = within(centred.iter().copied());
    let mut backward = within(centred.iter().rev().copied());
    backward.reverse();
    let margin = ((n as f64 * MARGIN).ceil() as usize).max(3);
    let mut sum: f64 = centred[..margin].iter().sum();
    let mut best = (margin, 0.0);
    for at in margin..=n - margin {
        let own = forward[at - 1] + backward[at];
        let statistic = sum * sum * n as f64 / own.max(f64::MIN_POSITIVE);
        if statistic > best.1 {
            best = (at, statistic);
        }
        sum += centred[at.min(n - 1)];
    }
    best
}

/// For each prefix, Σ (Sₜ − t/k·Sₖ)²: how far its own running sums stray from a straight line.
fn within(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let (mut sum, mut squares, mut products, mut times) = (0.0, 0.0, 0.0, 0.0);
    values
        .zip(1..)
        .map(|(value, t)| {
            let t = f64::from(t);
            sum += value;
            squares += sum * sum;
            products += t * sum;
            times += t * t;
            let slope = sum / t;
            (squares - 2.0 * slope * products + slope * slope * times).max(0.0)
        })
        .collect()
}

/// Ranks from 1; values within two hundredths of each other are equal and share the mean of theirs,
/// or the last digits of a figure that hardly moves would count as much as a change.
fn ranks(points: &[Point]) -> Vec<f64> {
    let coarse = |point: &Point| (point.value.max(f64::MIN_POSITIVE).ln() * 50.0).round();
    let values: Vec<f64> = points.iter().map(coarse).collect();
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; points.len()];
    let mut from = 0;
    while from < order.len() {
        let value = values[order[from]];
        let same = order[from..].iter().take_while(|at| values[**at] == value).count();
        let rank = from as f64 + (same as f64 + 1.0) / 2.0;
        order[from..from + same].iter().for_each(|at| ranks[*at] = rank);
        from += same;
    }
    ranks
}

fn median(points: &[Point]) -> f64 {
    let mut values: Vec<f64> = points.iter().map(|point| point.value).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(values: impl Iterator<Item = f64>) -> Vec<Point> {
        values.zip(0..).map(|(value, at)| Point { at_ns: at * 1_000_000_000, value }).collect()
    }

    #[test]
    fn the_statistic_is_that_of_its_definition() {
        let values: Vec<f64> =
            (0..60).map(|k| f64::from(k * 37 % 60) + f64::from(k / 20)).collect();
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        let slow = |k: usize| {
            let stray = |part: &[f64]| {
                let all: f64 = part.iter().sum();
                (1..=part.len())
                    .map(|t| {
                        let own: f64 = part[..t].iter().sum();
                        (own - t as f64 / part.len() as f64 * all).powi(2)
                    })
                    .sum::<f64>()
            };
            let reversed: Vec<f64> = values[k..].iter().rev().copied().collect();
            let sum: f64 = values[..k].iter().map(|value| value - mean).sum();
            let own = (stray(&values[..k]) + stray(&reversed)) / (n * n) as f64;
            (sum / (n as f64).sqrt()).powi(2) / own
        };
        let expected =
            (6..=54).map(|k| (k, slow(k))).max_by(|a, b| a.1.total_cmp(&b.1)).expect("points");
        let (at, statistic) = farthest(&values);
        assert_eq!(at, expected.0);
        assert!((statistic / expected.1 - 1.0).abs() < 1e-9, "{statistic} {expected:?}");
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let steps = |k: u64| if k < 70 { 10.0 } else { 20.0 } + (k * 7_919 % 13) as f64 / 4.0;
        let found = change(&points((0..120).map(steps))).expect("doubles");
        assert!(found.at_ns.abs_diff(70_000_000_000) <= 1_000_000_000, "{found:?}");
        assert!(found.before < 13.0 && found.after > 20.0);
    }

    #[test]
    fn a_small_step_or_one_at_the_end_is_not_told() {
        let noise = |k: u64| (k * 7_919 % 13) as f64 / 400.0;
        let small = |k: u64| if k < 70 { 10.0 } else { 11.0 } + noise(k);
        assert_eq!(change(&points((0..120).map(small))), None);
        let at_end = |k: u64| if k < 118 { 10.0 } else { 30.0 } + noise(k);
        assert_eq!(change(&points((0..120).map(at_end))), None);
        assert_eq!(change(&points((0..30).map(|k| if k < 15 { 1.0 } else { 9.0 }))), None);
    }

    #[test]
    fn a_constant_has_no_change() {
        assert_eq!(change(&points((0..100).map(|_| 5.0))), None);
    }
}
