//! Figures of one distribution.

use schemars::JsonSchema;
use serde::Serialize;

/// Exact and ranked figures of samples. The unit is the field's that holds it (nanoseconds or
/// bytes). Signed, since a hop may be negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Distribution {
    /// Number of samples.
    pub count: u64,
    /// Sum of the samples.
    pub sum: f64,
    /// Least.
    pub min: i64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Greatest.
    pub max: i64,
    /// Population standard deviation.
    pub stddev: f64,
    /// Nearest-rank quantiles from here on.
    pub p50: i64,
    /// 75th percentile.
    pub p75: i64,
    /// 90th percentile.
    pub p90: i64,
    /// 95th percentile.
    pub p95: i64,
    /// 99th percentile.
    pub p99: i64,
    /// 99.9th percentile.
    pub p999: i64,
}

/// A journey's quantile, which may fall among lost journeys.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Quantile {
    /// Which, in 0..=1.
    pub q: f64,
    /// Its value, nanoseconds; with `beyond`, the deadline.
    pub ns: u64,
    /// It falls among the lost: all that is known is that it is greater than `ns`.
    pub beyond: bool,
}

/// Samples within a range of values.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Bin {
    /// Least value, nanoseconds.
    pub low_ns: f64,
    /// Upper edge, nanoseconds.
    pub high_ns: f64,
    /// Samples.
    pub count: u64,
}
