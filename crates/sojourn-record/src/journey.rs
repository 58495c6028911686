//! One journey's timeline, kept as an example or because it was lost.

use serde::{Deserialize, Serialize};

/// A journey that was kept. Instants are nanoseconds relative to the run's start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JourneyRecord {
    /// Journey's name.
    pub journey: String,
    /// Its number.
    pub id: u64,
    /// Its key, where known.
    pub key: Option<String>,
    /// `completed`, `late`, `lost`, `failed`, `root_failed`, `in_flight_at_cutoff`.
    pub class: String,
    /// `warm_up` or `steady`.
    pub phase: String,
    /// Why it was kept: `lost`, `failed`, `slowest`, `sample`.
    pub kept_as: String,
    /// Scheduled instant.
    pub t0_ns: u64,
    /// Action begun.
    pub t1_ns: u64,
    /// Root completed.
    pub t2_ns: Option<u64>,
    /// When it ended.
    pub end_ns: u64,
    /// HTTP steps in the order they began, where known.
    pub steps: Vec<StepInstant>,
    /// Stages in declared order, reached or not.
    pub stages: Vec<StageInstant>,
    /// The failure in words, where there was one.
    pub reason: Option<String>,
    /// Its trace id in hexadecimal, where it has one. Absent in files of before there was any.
    #[serde(default)]
    pub trace_id: Option<String>,
}

/// One step of a kept journey.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepInstant {
    /// Step's name.
    pub name: String,
    /// Begun.
    pub began_ns: u64,
    /// Ended; `None` when the journey ended before it.
    pub ended_ns: Option<u64>,
    /// HTTP status, where there was one.
    pub status: Option<u16>,
}

/// One stage of a kept journey.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageInstant {
    /// Stage's name.
    pub name: String,
    /// First observation; `None` when not reached.
    pub seen_ns: Option<u64>,
}
