//! Foreign clocks: times that the system itself made, shown only as such.

use schemars::JsonSchema;
use serde::Serialize;

use super::ErrorRow;

/// One foreign clock, over the whole run; its durations are of the steady phase.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct ClockReport {
    /// Name.
    pub name: String,
    /// Answers that showed it: each bounds the offset on both sides.
    pub answers: u64,
    /// Events that showed it: each bounds the offset from below.
    pub events: u64,
    /// The foreign clock's time less that of this machine; `None` where the readings contradict
    /// each other, or no answer showed it.
    pub offset_ns: Option<Between>,
    /// That no offset agrees with all readings.
    pub contradiction: Option<Contradiction>,
    /// Answers and events that did not show it, by reason.
    pub unread: Vec<ErrorRow>,
    /// Durations from or to its times; none where the readings contradict each other. No other
    /// figure of the report has them in it.
    pub durations: Vec<ClockDuration>,
}

/// A figure that lies between two bounds, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Between {
    /// No less than this.
    pub least_ns: i64,
    /// No more than this.
    pub most_ns: i64,
}

/// That no offset agrees with all readings of a clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Contradiction {
    /// By how much the greatest lower bound is above the least upper one.
    pub by_ns: i64,
    /// When it first showed, relative to the run's start.
    pub first_ns: Option<u64>,
}

/// Durations between two points, of which a foreign clock timed one or both.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct ClockDuration {
    /// The journey.
    pub journey: String,
    /// What it is from, in words.
    pub from: String,
    /// What it is to, in words.
    pub to: String,
    /// Durations.
    pub count: u64,
    /// Arithmetic mean.
    pub mean: Between,
    /// Median.
    pub p50: Between,
    /// 95th percentile.
    pub p95: Between,
    /// 99th percentile.
    pub p99: Between,
    /// Greatest.
    pub max: Between,
}
