//! One journey's figures.

use schemars::JsonSchema;
use serde::Serialize;
use sojourn_analysis::{
    backlog::Backlog,
    change::Changed,
    correlate::Correlated,
    drain::Drain,
    saturation::{Saturation, StageGrowth},
    share::Share,
    stall::Stalled,
    timer::Timer,
};

use super::{
    BatchReport, Bin, Distribution, KeptJourney, LabelReport, Quantile, StepRow, Timeline,
};

/// A journey's figures; those of the steady phase unless said otherwise.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct JourneyReport {
    /// Name.
    pub name: String,
    /// Deadline from t0.
    pub within_ns: u64,
    /// Started.
    pub started: u64,
    /// Durations of the journeys seen complete, late ones too; lost ones are not in it.
    pub duration_ns: Option<Distribution>,
    /// Quantiles over completed, late and lost journeys; the lost rank beyond the deadline.
    pub quantiles: Vec<Quantile>,
    /// Whether the percentiles are those of a queue that grew: they describe the length of the run.
    pub is_of_growing_queue: bool,
    /// Most journeys in flight at once, over the whole run.
    pub in_flight_max: Option<f64>,
    /// The greatest age of a journey in flight, since its t0, over the whole run.
    pub oldest_age_ns_max: Option<u64>,
    /// Stages in declared order.
    pub stages: Vec<StageRow>,
    /// Alternatives, of which a journey is complete with one.
    pub branches: Vec<BranchRow>,
    /// Failed journeys by reason, the commonest first.
    pub failures: Vec<FailureRow>,
    /// Its figures by label; `None` without labels.
    pub labels: Option<LabelReport>,
    /// What became of its batches; `None` for a journey that shares its request with no other.
    pub batch: Option<BatchReport>,
    /// The same of further steps, which send the events of a batch once more.
    pub batches_again: Vec<BatchReport>,
    /// HTTP steps in order.
    pub steps: Vec<StepRow>,
    /// Each hop's share of the journey.
    pub shares: Vec<Share>,
    /// What the slope of in flight says.
    pub backlog: Option<Backlog>,
    /// Of each required stage, what the slope of those who wait for it says.
    pub growths: Vec<StageGrowth>,
    /// The stage whose backlog grows first, and whether its capacity is exhausted.
    pub saturation: Option<Saturation>,
    /// Timers that hops wait for.
    pub timers: Vec<Timer>,
    /// Latencies that changed their level.
    pub changes: Vec<Changed>,
    /// Times in which next to nothing was completed.
    pub stalls: Vec<Stalled>,
    /// Hops that move with what waits in a broker, the strongest first.
    pub correlations: Vec<Correlated>,
    /// What happened after the last arrival.
    pub drain: Option<Drain>,
    /// Second by second, over the whole run.
    pub timeline: Timeline,
    /// Kept journeys: the median one, the slowest, the lost, the failed.
    pub kept: Vec<KeptJourney>,
}

/// The journeys that took one alternative.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct BranchRow {
    /// The stage.
    pub stage: String,
    /// Journeys seen complete of which it was the first alternative.
    pub journeys: u64,
    /// Of all seen complete.
    pub ratio: Option<f64>,
    /// Their durations.
    pub duration_ns: Option<Distribution>,
    /// Journeys that reached it after another alternative: violations.
    pub second: u64,
}

/// Matched events by the trace that they carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct TraceCounts {
    /// Their journey's.
    pub own: u64,
    /// Another one.
    pub other: u64,
    /// None.
    pub none: u64,
}

impl TraceCounts {
    /// Of every kind.
    pub fn total(&self) -> u64 {
        self.own + self.other + self.none
    }
}

/// Failed journeys of one reason.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct FailureRow {
    /// What failed them: `stage S`, `check of stage S`, `follow-up step`, `key in flight already`.
    pub what: String,
    /// The system's own words, where the stage takes them from its event. Foreign input.
    pub reason: Option<String>,
    /// How many.
    pub count: u64,
    /// Of the failed ones.
    pub fraction: f64,
}

/// A stage's figures.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct StageRow {
    /// Name.
    pub name: String,
    /// Where it is seen, in words.
    pub on: String,
    /// `required`, `optional`, `never`, `failure` or `branch`.
    pub kind: String,
    /// The stage or step that its hop counts from.
    pub after: String,
    /// Journeys that reached it.
    pub reached: u64,
    /// From the point it follows to its first observation; negative hops are ranked with the
    /// others.
    pub hop_ns: Option<Distribution>,
    /// From the journey's t0 to its first observation.
    pub since_start_ns: Option<Distribution>,
    /// Most journeys waiting for it at once, over the whole run.
    pub in_flight_max: Option<f64>,
    /// Hops that were negative.
    pub order_violations: u64,
    /// For a fan-out stage: from the journey's t0 to its first member, of journeys that reached it;
    /// `since_start_ns` is then that of the last one.
    pub first_member_ns: Option<Distribution>,
    /// Matched events by the trace they carry; `None` for a journey without one.
    pub trace: Option<TraceCounts>,
    /// Events that reached it or were one of its members.
    pub matched: u64,
    /// The same event again.
    pub duplicates: Duplicates,
    /// Matched events and duplicates per matched one: how often each event was delivered or
    /// published. `None` without any.
    pub deliveries_per_event: Option<f64>,
    /// Distribution of the hop, non-empty bins in ascending order; negative hops are not in it.
    pub hop_bins: Vec<Bin>,
    /// For a polled stage: the interval, which is the reading error.
    pub poll_ns: Option<u64>,
    /// For a polled stage: requests made.
    pub poll_requests: Option<u64>,
    /// For a polled stage: how long its polls waited that found the budget used up, with their
    /// count; `None` when none did. The reading error of those is greater by as much.
    pub poll_waited_ns: Option<Distribution>,
}

/// Duplicates by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Duplicates {
    /// Same message id.
    pub redelivery: u64,
    /// Another message id.
    pub republication: u64,
    /// No message id to tell by.
    pub unknown: u64,
}

impl Duplicates {
    /// Of every kind.
    pub fn total(&self) -> u64 {
        self.redelivery + self.republication + self.unknown
    }
}
