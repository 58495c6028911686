//! How fast the backlog grew in a step, as a share of its arrivals.
//!
//! A system at its limit makes of what is in flight a random walk: each second adds what arrived
//! and takes away what was completed, and both waver. Its drift is what counts, and how well that
//! is known follows from how much the seconds differ: over n seconds whose changes have the
//! deviation s, the least-squares slope of a random walk has the variance 6/5 · s²/n.
//!
//! Far below its limit a system goes back to its level again and again, and its changes cancel.
//! Where that can be seen, since what is left of neighbouring levels beside their line has little
//! in common, the interval of [`backlog::slope`] counts instead, which is narrower.

use serde::Serialize;

use crate::{autocorrelation::lag_1, backlog};

/// Growth of what is in flight over the arrivals of the same time: 0.1 means that of ten arrivals
/// one is left over.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Growth {
    /// The estimate.
    pub share: f64,
    /// Half the width of its 95 % confidence interval.
    pub half_width: f64,
    /// Seconds it is of.
    pub seconds: usize,
}

/// Fewer seconds than this say nothing.
pub(super) const SECONDS_MIN: usize = 4;
/// From so many levels on their likeness is known well enough…
const LEVELS_SETTLED: usize = 20;
/// …to say below this that they are no random walk.
const LIKENESS_MAX: f64 = 0.3;

impl Growth {
    /// The most that it may be.
    pub fn most(&self) -> f64 {
        self.share + self.half_width
    }

    /// The least that it may be.
    pub fn least(&self) -> f64 {
        self.share - self.half_width
    }
}

/// The growth of levels that lie one second apart, while so many arrived per second; `None` for too
/// few levels, or without arrivals.
pub fn growth(levels: &[f64], arrivals_per_s: f64) -> Option<Growth> {
    let seconds = levels.len().checked_sub(1).filter(|seconds| *seconds >= SECONDS_MIN)?;
    if arrivals_per_s <= 0.0 {
        return None;
    }
    let points: Vec<(f64, f64)> = levels.iter().zip(0u32..).map(|(y, x)| (x.into(), *y)).collect();
    let slope = backlog::slope(&points)?;
    let n = seconds as f64;
    let mean = (levels[seconds] - levels[0]) / n;
    let changes = levels.windows(2).map(|pair| pair[1] - pair[0] - mean);
    let variance = changes.map(|off| off * off).sum::<f64>() / (n - 1.0);
    let walk = backlog::t_95(n - 1.0) * (1.2 * variance / n).sqrt();
    let is_settled = levels.len() >= LEVELS_SETTLED && likeness(levels, slope.per_s) < LIKENESS_MAX;
    let half_width_per_s = if is_settled { walk.min(slope.half_width_per_s) } else { walk };
    Some(Growth {
        share: slope.per_s / arrivals_per_s,
        half_width: half_width_per_s / arrivals_per_s,
        seconds,
    })
}

/// The autocorrelation of neighbours about the line of this slope: near 1 for a random walk.
fn likeness(levels: &[f64], per_s: f64) -> f64 {
    let n = levels.len() as f64;
    let mean = levels.iter().sum::<f64>() / n;
    let beside = levels
        .iter()
        .zip(0u32..)
        .map(|(level, second)| level - mean - per_s * (f64::from(second) - (n - 1.0) / 2.0));
    let beside: Vec<f64> = beside.collect();
    // A perfect line is no walk.
    lag_1(&beside).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacity::queue::Dice;

    #[test]
    fn a_straight_rise_is_its_share_of_the_arrivals() {
        let levels: Vec<f64> = (0..=10).map(|second| 7.0 + 25.0 * f64::from(second)).collect();
        let growth = growth(&levels, 100.0).unwrap();
        assert!((growth.share - 0.25).abs() < 1e-12 && growth.half_width < 1e-9, "{growth:?}");
        assert_eq!(growth.seconds, 10);
    }

    #[test]
    fn too_little_is_none() {
        assert_eq!(growth(&[], 10.0), None);
        assert_eq!(growth(&[1.0, 2.0, 3.0, 4.0], 10.0), None);
        assert_eq!(growth(&[1.0; 20], 0.0), None);
    }

    #[test]
    fn the_interval_of_a_random_walk_holds_its_drift() {
        let mut dice = Dice::new(5);
        for seconds in [5, 12, 30, 120] {
            let mut inside = 0;
            for _ in 0..1_000 {
                let mut level = 1_000.0;
                let mut levels = vec![level];
                for _ in 0..seconds {
                    level += 3.0 + 10.0 * dice.normal();
                    levels.push(level);
                }
                let growth = growth(&levels, 100.0).unwrap();
                inside += u32::from((growth.share - 0.03).abs() <= growth.half_width);
            }
            // 95 % were asked for.
            assert!((915..=985).contains(&inside), "{inside} of 1000 at {seconds} s");
        }
    }

    #[test]
    fn levels_that_return_are_known_better_than_a_walk() {
        let mut dice = Dice::new(6);
        let levels: Vec<f64> = (0..=60).map(|_| 50.0 + 10.0 * dice.normal()).collect();
        let growth = growth(&levels, 100.0).unwrap();
        assert!(growth.half_width < 0.005, "{growth:?}");
        assert!(growth.share.abs() < 0.005, "{growth:?}");
    }
}
