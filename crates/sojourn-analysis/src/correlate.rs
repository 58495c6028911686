//! Do two figures move together, second by second?
//!
//! Two series of which each resembles its own past correlate by chance far more often than
//! independent points would. The number of points is therefore replaced by the number of
//! independent ones, n·(1 − ab)/(1 + ab), where a and b are the lag-1 autocorrelations (Bartlett,
//! J. R. Stat. Soc. 98, 1935). Both series are made free of their straight line first: two that
//! merely grow have nothing to do with each other. Ranks make it indifferent to outliers.

use schemars::JsonSchema;
use serde::Serialize;

/// How strongly one series follows another.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Correlation {
    /// Rank correlation, −1 to 1.
    pub r: f64,
    /// Points by which the follower is behind; negative when it is ahead.
    pub lag: i32,
    /// Points compared.
    pub points: usize,
    /// Independent points that these are worth.
    pub effective: f64,
}

/// A hop that moves with a figure of a broker.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Correlated {
    /// The stage that ends the hop.
    pub hop: String,
    /// The broker's figure: whose, and which.
    pub with: String,
    /// How strongly.
    #[serde(flatten)]
    pub correlation: Correlation,
}

/// A weaker one is not told.
const R_MIN: f64 = 0.7;
/// Fewer points tell nothing.
const POINTS_MIN: usize = 30;
/// Fewer independent points tell nothing.
const EFFECTIVE_MIN: f64 = 10.0;
/// Lags that are looked at, either way.
const LAG_MAX: i32 = 10;
/// How many deviations Fisher's z must be from none: one in ten million by chance, for there are
/// dozens of pairs and lags, and the number of independent points is an estimate.
const DEVIATIONS_MIN: f64 = 5.3;

/// How `follower` moves with `leader`; `None` unless strongly and surely. Points without a value in
/// one of them are left out.
pub fn correlate(leader: &[Option<f64>], follower: &[Option<f64>]) -> Option<Correlation> {
    let (leader, follower) = (levelled(leader)?, levelled(follower)?);
    let own = autocorrelation(&leader) * autocorrelation(&follower);
    (-LAG_MAX..=LAG_MAX)
        .filter_map(|lag| at_lag(&leader, &follower, lag, own))
        .max_by(|a, b| a.r.abs().total_cmp(&b.r.abs()))
        .filter(|best| {
            let deviations = best.r.abs().min(0.999_999).atanh() * (best.effective - 3.0).sqrt();
            best.r.abs() >= R_MIN && best.effective >= EFFECTIVE_MIN && deviations >= DEVIATIONS_MIN
        })
}

fn at_lag(
    leader: &[Option<f64>],
    follower: &[Option<f64>],
    lag: i32,
    own: f64,
) -> Option<Correlation> {
    let (skip_leader, skip_follower) = ((-lag).max(0) as usize, lag.max(0) as usize);
    let pairs = leader.iter().skip(skip_leader).zip(follower.iter().skip(skip_follower));
    let (mut n, mut x, mut y, mut xx, mut yy, mut xy) = (0usize, 0.0, 0.0, 0.0, 0.0, 0.0);
    for (a, b) in pairs.filter_map(|(a, b)| Some(((*a)?, (*b)?))) {
        n += 1;
        x += a;
        y += b;
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    let count = n as f64;
    let spread = (xx - x * x / count) * (yy - y * y / count);
    if n < POINTS_MIN || spread <= 0.0 {
        return None;
    }
    let r = (xy - x * y / count) / spread.sqrt();
    let effective = (count * (1.0 - own) / (1.0 + own)).clamp(3.0, count);
    Some(Correlation { r, lag, points: n, effective })
}

/// Ranks of what is left when the straight line is taken out, centred; `None` for too few values or
/// ones that do not vary.
fn levelled(series: &[Option<f64>]) -> Option<Vec<Option<f64>>> {
    let points: Vec<(usize, f64)> =
        series.iter().enumerate().filter_map(|(at, value)| Some((at, (*value)?))).collect();
    if points.len() < POINTS_MIN {
        return None;
    }
    let n = points.len() as f64;
    let mean_x = points.iter().map(|(at, _)| *at as f64).sum::<f64>() / n;
    let mean_y = points.iter().map(|(_, value)| value).sum::<f64>() / n;
    let spread: f64 = points.iter().map(|(at, _)| (*at as f64 - mean_x).powi(2)).sum();
    let product: f64 =
        points.iter().map(|(at, value)| (*at as f64 - mean_x) * (value - mean_y)).sum();
    let rise = product / spread;
    let mut order: Vec<(usize, f64)> = points
        .iter()
        .map(|(at, value)| (*at, value - mean_y - rise * (*at as f64 - mean_x)))
        .collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    if order.first().map(|it| it.1) == order.last().map(|it| it.1) {
        return None;
    }
    let mut ranks = vec![None; series.len()];
    for (rank, (at, _)) in order.iter().enumerate() {
        ranks[*at] = Some(rank as f64 - (n - 1.0) / 2.0);
    }
    Some(ranks)
}

/// The lag-1 autocorrelation of centred values, not below zero.
fn autocorrelation(series: &[Option<f64>]) -> f64 {
    let squares: f64 = series.iter().flatten().map(|value| value * value).sum();
    let products: f64 = series.windows(2).filter_map(|pair| Some(pair[0]? * pair[1]?)).sum();
    (products / squares).clamp(0.0, 0.99)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(at: usize) -> f64 {
        (at as f64 / 9.0).sin() + (at * 7_919 % 101) as f64 / 100.0
    }

    #[test]
    fn what_follows_is_found_with_its_lag() {
        let leader: Vec<_> = (0..200).map(|at| Some(wave(at))).collect();
        let follower: Vec<_> = (0..200).map(|at| Some(3.0 * wave(at.max(3) - 3) + 40.0)).collect();
        let found = correlate(&leader, &follower).expect("the same, later");
        assert_eq!(found.lag, 3);
        assert!(found.r > 0.95, "{found:?}");
        let opposite: Vec<_> = (0..200).map(|at| Some(-wave(at))).collect();
        assert!(correlate(&leader, &opposite).expect("its mirror").r < -0.95);
    }

    #[test]
    fn two_that_merely_grow_are_not_told() {
        let grows: Vec<_> = (0..200).map(|at| Some(at as f64 + wave(at))).collect();
        let other: Vec<_> =
            (0..200).map(|at| Some(at as f64 * 7.0 + (at * 104_729 % 97) as f64)).collect();
        assert_eq!(correlate(&grows, &other), None);
    }

    #[test]
    fn few_points_and_constants_tell_nothing() {
        let some: Vec<_> = (0..25).map(|at| Some(wave(at))).collect();
        assert_eq!(correlate(&some, &some), None);
        let constant = vec![Some(4.0); 100];
        let varies: Vec<_> = (0..100).map(|at| Some(wave(at))).collect();
        assert_eq!(correlate(&constant, &varies), None);
        assert_eq!(correlate(&[], &[]), None);
    }
}
