//! Intensity over time.

use serde::{Deserialize, Serialize};

/// Arrival intensity over time: segments one after the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The segments, in order; each begins where the one before it ends.
    pub segments: Vec<Segment>,
}

/// One stretch of a [`Profile`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Segment {
    /// Intensity goes in a straight line from one rate to another (equal: constant; both zero:
    /// pause).
    Linear {
        /// Arrivals per second at the segment's start.
        from_per_s: f64,
        /// Arrivals per second at its end.
        to_per_s: f64,
        /// Length, nanoseconds.
        duration_ns: u64,
    },
    /// `mean + amplitude · sin(2π·(t/period + phase))`, floored at zero.
    Sine {
        /// Mean arrivals per second.
        mean_per_s: f64,
        /// Swing around the mean, arrivals per second.
        amplitude_per_s: f64,
        /// Length of one wave, nanoseconds.
        period_ns: u64,
        /// Where in the wave the segment starts, as a fraction of the period (0 to 1).
        phase: f64,
        /// Length, nanoseconds.
        duration_ns: u64,
    },
    /// A new constant rate every `every_ns`, drawn uniformly from [min, max) by (seed, interval).
    RandomSteps {
        /// Least arrivals per second.
        min_per_s: f64,
        /// Most arrivals per second (exclusive).
        max_per_s: f64,
        /// How long each drawn rate holds, nanoseconds.
        every_ns: u64,
        /// Length, nanoseconds.
        duration_ns: u64,
    },
}
