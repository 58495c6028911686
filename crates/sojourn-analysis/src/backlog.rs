//! Does the backlog grow? The least-squares slope of what is in flight, with its 95 % confidence
//! interval, and what it says about the load.
//!
//! Levels of neighbouring seconds resemble each other, which makes the textbook interval too
//! narrow. It is therefore computed for the effective number of points, n·(1 − r)/(1 + r), where r
//! is the lag-1 autocorrelation of the residuals (Santer et al., J. Geophys. Res. 105, 2000).
//!
//! A pipeline that is still filling up looks like a backlog that grows. So the first journey-p99 of
//! load is left out; where that leaves less than half of it, the judgement is
//! [`Backlog::Undecided`].

use schemars::JsonSchema;
use serde::Serialize;

use crate::{autocorrelation::lag_1, words};

/// A straight line's rise through points, per second.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Slope {
    /// Rise per second.
    pub per_s: f64,
    /// Half the width of its 95 % confidence interval, per second.
    pub half_width_per_s: f64,
    /// Points used.
    pub points: usize,
}

/// What the slope says.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case", tag = "judgement")]
pub enum Backlog {
    /// The points do not say.
    Undecided {
        /// Why, as a fragment.
        reason: String,
        /// The slope, where there was one.
        slope: Option<Slope>,
    },
    /// More arrives than is finished.
    Growing {
        /// How fast.
        slope: Slope,
    },
    /// No growth beyond noise.
    Sustainable {
        /// The slope and its interval.
        slope: Slope,
    },
}

/// A level at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Instant, nanoseconds since the run's start.
    pub at_ns: u64,
    /// Level at that instant.
    pub value: f64,
}

/// The load that the levels belong to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// First arrival, nanoseconds since the run's start.
    pub start_ns: u64,
    /// Start of the steady phase.
    pub steady_ns: u64,
    /// Last arrival.
    pub end_ns: u64,
    /// Arrivals per second in the steady phase.
    pub arrivals_per_s: f64,
    /// The journey's p99, nanoseconds: how long the pipeline takes to fill; `None` when unknown.
    pub journey_p99_ns: Option<u64>,
}

/// Growth slower than this fraction of the arrivals is not called growth.
pub(crate) const MATERIAL: f64 = 0.01;
/// Fewer points than this decide nothing.
const POINTS_MIN: usize = 8;

/// Judges the levels seen in the steady phase.
pub fn judge(levels: &[Level], load: &Load) -> Backlog {
    let filled_ns = load.start_ns.saturating_add(load.journey_p99_ns.unwrap_or(0));
    let from_ns = filled_ns.max(load.steady_ns);
    let points: Vec<(f64, f64)> = levels
        .iter()
        .filter(|level| (from_ns..=load.end_ns).contains(&level.at_ns))
        .map(|level| (level.at_ns as f64 / 1e9, level.value))
        .collect();
    let slope = slope(&points);
    let loaded_ns = load.end_ns.saturating_sub(load.start_ns);
    if filled_ns > load.start_ns + loaded_ns / 2 {
        let reason = format!(
            "the journey's p99 ({}) is more than half of the loaded time ({}): too short a run to \
             tell a pipeline that fills up from a queue that grows",
            words::duration(load.journey_p99_ns.unwrap_or(0) as f64),
            words::duration(loaded_ns as f64),
        );
        return Backlog::Undecided { reason, slope };
    }
    let Some(slope) = slope.filter(|slope| slope.points >= POINTS_MIN) else {
        let reason = format!(
            "{} of steady load: {POINTS_MIN} are needed",
            words::plural(points.len() as u64, "second", "seconds")
        );
        return Backlog::Undecided { reason, slope: None };
    };
    let least_per_s = slope.per_s - slope.half_width_per_s;
    if least_per_s > 0.0 && slope.per_s > MATERIAL * load.arrivals_per_s {
        Backlog::Growing { slope }
    } else {
        Backlog::Sustainable { slope }
    }
}

/// The least-squares line through (seconds, level) points. `None` for fewer than three points, or
/// when all lie at one instant.
pub fn slope(points: &[(f64, f64)]) -> Option<Slope> {
    let n = points.len() as f64;
    if points.len() < 3 {
        return None;
    }
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / n;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / n;
    let spread: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    if spread <= 0.0 {
        return None;
    }
    let product: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let per_s = product / spread;
    let residuals: Vec<f64> =
        points.iter().map(|(x, y)| y - mean_y - per_s * (x - mean_x)).collect();
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    let effective = effective_points(&residuals);
    let variance = squares / (effective - 2.0);
    Some(Slope {
        per_s,
        half_width_per_s: t_95(effective - 2.0) * (variance / spread).sqrt(),
        points: points.len(),
    })
}

/// How many independent points the residuals are worth; between 3 and their number.
fn effective_points(residuals: &[f64]) -> f64 {
    let n = residuals.len() as f64;
    // A perfect line has none.
    let correlation = lag_1(residuals).unwrap_or(0.0).clamp(0.0, 0.99);
    (n * (1.0 - correlation) / (1.0 + correlation)).clamp(3.0, n)
}

/// The two-sided 95 % point of Student's t: a table for whole degrees of freedom up to 10, above it
/// the Cornish–Fisher expansion about the normal quantile (Abramowitz and Stegun, 26.7.5).
pub(crate) fn t_95(degrees: f64) -> f64 {
    const TABLE: [f64; 10] =
        [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    if degrees < 11.0 {
        // Rounded down: the wider interval.
        let row = (degrees.floor() as usize).clamp(1, TABLE.len());
        return TABLE[row - 1];
    }
    let z: f64 = 1.959_964;
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    z + first / degrees + second / (degrees * degrees)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deterministic noise in −1..1.
    fn noise(k: u64) -> f64 {
        let mixed = (k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (k << 7);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn levels(seconds: u64, level: impl Fn(u64) -> f64) -> Vec<Level> {
        (0..seconds)
            .map(|second| Level { at_ns: second * 1_000_000_000, value: level(second) })
            .collect()
    }

    fn load(seconds: u64, p99_s: u64) -> Load {
        Load {
            start_ns: 0,
            steady_ns: 5_000_000_000,
            end_ns: seconds * 1_000_000_000,
            arrivals_per_s: 50.0,
            journey_p99_ns: Some(p99_s * 1_000_000_000),
        }
    }

    #[test]
    fn a_perfect_line_has_its_slope_and_no_width() {
        let points: Vec<_> = (0..20).map(|x| (f64::from(x), 3.0 * f64::from(x) + 7.0)).collect();
        let slope = slope(&points).expect("twenty points");
        assert!((slope.per_s - 3.0).abs() < 1e-9);
        assert!(slope.half_width_per_s < 1e-6);
    }

    #[test]
    fn too_few_points_or_one_instant_have_no_slope() {
        assert_eq!(slope(&[]), None);
        assert_eq!(slope(&[(0.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(slope(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
    }

    #[test]
    fn the_interval_matches_a_textbook_example() {
        // x = 1..5, y = 2, 4, 5, 4, 5: slope 0.6, residual sum of squares 2.4, spread 10,
        // negative autocorrelation, so all five points count: t(3) · √(0.8/10) = 0.9.
        let points = [(1.0, 2.0), (2.0, 4.0), (3.0, 5.0), (4.0, 4.0), (5.0, 5.0)];
        let slope = slope(&points).expect("five points");
        assert!((slope.per_s - 0.6).abs() < 1e-9);
        assert!((slope.half_width_per_s - 3.182 * 0.08f64.sqrt()).abs() < 1e-6);
    }

    #[test]
    fn correlated_noise_widens_the_interval() {
        let independent: Vec<_> = (0..100).map(|k| (k as f64, noise(k))).collect();
        let correlated: Vec<_> = (0..100).map(|k| (k as f64, noise(k / 10))).collect();
        let narrow = slope(&independent).expect("points").half_width_per_s;
        let wide = slope(&correlated).expect("points").half_width_per_s;
        assert!(wide > 2.0 * narrow, "{wide} against {narrow}");
    }

    #[test]
    fn a_growing_queue_is_growing_at_its_rate() {
        let grows = levels(120, |second| 12.3 * second as f64 + 5.0 * noise(second));
        let Backlog::Growing { slope } = judge(&grows, &load(120, 10)) else {
            panic!("not growing");
        };
        assert!((slope.per_s - 12.3).abs() < slope.half_width_per_s + 0.05);
    }

    #[test]
    fn a_level_that_only_wavers_is_sustainable() {
        let wavers = levels(120, |second| 1_000.0 + 40.0 * noise(second));
        assert!(matches!(judge(&wavers, &load(120, 20)), Backlog::Sustainable { .. }));
    }

    #[test]
    fn filling_up_is_not_growth() {
        // Journeys of 20 s at 50/s: up to 1,000 in flight after 20 s, level from there on.
        let fills = |second: u64| 50.0 * second.min(20) as f64 + 5.0 * noise(second);
        let long = judge(&levels(120, fills), &load(120, 20));
        assert!(matches!(long, Backlog::Sustainable { .. }), "{long:?}");
        let short = judge(&levels(30, fills), &load(30, 20));
        assert!(matches!(short, Backlog::Undecided { slope: Some(_), .. }), "{short:?}");
    }

    #[test]
    fn growth_below_a_hundredth_of_the_arrivals_is_not_called_growth() {
        let creeps = levels(120, |second| 0.1 * second as f64);
        assert!(matches!(judge(&creeps, &load(120, 1)), Backlog::Sustainable { .. }));
    }

    #[test]
    fn nothing_measured_is_undecided() {
        assert!(matches!(judge(&[], &load(30, 1)), Backlog::Undecided { slope: None, .. }));
    }

    #[test]
    fn student_t_at_known_points() {
        for (degrees, expected) in [(1.0, 12.706), (10.0, 2.228), (30.0, 2.042), (1e6, 1.96)] {
            assert!((t_95(degrees) - expected).abs() < 0.002, "{degrees}");
        }
    }
}
