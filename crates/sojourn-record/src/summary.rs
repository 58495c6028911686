//! How a run ended.

use serde::{Deserialize, Serialize};
use sojourn_metrics::ThresholdOutcome;

use crate::FleetRecord;

/// Written last. A file without one was cut off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The verdict.
    pub verdict: Verdict,
    /// Why, when it is not a plain pass; every cause, the gravest first.
    pub causes: Vec<Cause>,
    /// Thresholds and what became of them.
    pub thresholds: Vec<ThresholdOutcome>,
    /// Stopped by the user before its end. (An aborting threshold is among the notes.)
    pub interrupted: bool,
    /// When arrivals ended, relative to the run's start, nanoseconds.
    pub arrivals_end_ns: u64,
    /// When the load ended, relative to the run's start, nanoseconds: as declared, or when it was
    /// stopped, or with the last arrival of a load that is counted. Rates are per second up to
    /// here.
    pub load_end_ns: u64,
    /// When the run ended, relative to the run's start, nanoseconds.
    pub end_ns: u64,
    /// From the last arrival until nothing was in flight, nanoseconds; `None` when it never was.
    pub drain_ns: Option<u64>,
    /// Remarks for the reader: residual backlog, unsettled warm-up, what could not be measured.
    pub notes: Vec<String>,
    /// How generators that had dialled in kept together; `None` without any. Absent in files of
    /// before there were any.
    #[serde(default)]
    pub fleet: Option<FleetRecord>,
}

/// Whether the run passed, failed, or may not be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Ran, every threshold held.
    Pass,
    /// A threshold failed.
    Fail,
    /// The numbers may not be believed.
    Void,
}

/// One reason for a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// Short name, such as `missed arrivals`.
    pub name: String,
    /// With figures: what was measured, and the limit.
    pub detail: String,
}
