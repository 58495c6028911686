//! Hops that are spread evenly over an interval: what came at any moment waits for the next tick.
//!
//! Evenness is claimed when it explains the samples better than every usual distribution of work
//! (exponential, normal, log-normal, gamma, Weibull, each at its best parameters), by a margin
//! that these themselves reach in less than 1 % of samples, and lies close to the samples.

use super::{fit, shape::Shape};

/// Fewer samples than this show no shape.
const SAMPLES_MIN: f64 = 30.0;
/// The interval must begin at zero but for a small time of work: at most this part of its width.
const BEGINS_MAX: f64 = 0.15;
/// Most distance between the samples' distribution and an even one, beside what chance makes.
const DISTANCE_MAX: f64 = 0.06;

/// So far from an even distribution is none that a few values stand for.
const FAR: f64 = 0.3;

/// An interval over which samples are evenly spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Even {
    from_ns: f64,
    to_ns: f64,
    /// Its width, as far as samples tell.
    pub(super) period_ns: f64,
}

impl Even {
    fn width_ns(&self) -> f64 {
        self.to_ns - self.from_ns
    }
}

/// The interval over which the samples are spread evenly; `None` when they are not, or when they
/// are too few to tell.
pub(super) fn find(shape: &Shape) -> Option<Even> {
    let shape = shape.trimmed();
    if shape.n < SAMPLES_MIN {
        return None;
    }
    let even = spread(&shape);
    if !begins_at_zero(&even) || distance(&shape, &even) > DISTANCE_MAX + 1.36 / shape.n.sqrt() {
        return None;
    }
    let gain = -(shape.max() - shape.min()).ln() - fit::best(&shape);
    (gain * shape.n > margin(shape.n)).then_some(even)
}

/// Whether samples are far from an even spread, even from one on a few values.
pub(super) fn is_far(shape: &Shape) -> bool {
    distance(shape, &spread(shape)) > FAR + 1.36 / shape.n.sqrt()
}

/// The interval that evenly spread samples would be of: as wide as theirs and what is missed beyond
/// the extremes.
fn spread(shape: &Shape) -> Even {
    let missed = (shape.max() - shape.min()) / (shape.n - 1.0).max(1.0);
    Even {
        from_ns: (shape.min() - missed).max(0.0),
        to_ns: shape.max() + missed,
        period_ns: shape.width(),
    }
}

fn begins_at_zero(even: &Even) -> bool {
    even.from_ns <= BEGINS_MAX * even.width_ns()
}

/// By how much the log-likelihood must be greater. What the best of the other families reaches on
/// its own samples was simulated: at 30 samples 6.1 in 1 % of them with the worst of the families
/// (Weibull, shape 2), less with more samples (`tests/timers.rs`).
fn margin(n: f64) -> f64 {
    7.0 + 0.75 * (n / SAMPLES_MIN).ln()
}

/// The greatest distance between two distribution functions (Kolmogorov).
fn distance(shape: &Shape, even: &Even) -> f64 {
    let (mut below, mut greatest) = (0.0, 0.0f64);
    for &(value, count) in &shape.points {
        let expected = ((value - even.from_ns) / even.width_ns()).clamp(0.0, 1.0);
        let (before, after) = (below / shape.n, (below + count) / shape.n);
        greatest = greatest.max(expected - before).max(after - expected);
        below += count;
    }
    greatest
}
