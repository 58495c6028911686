//! A change of rate while the run went on.

use serde::{Deserialize, Serialize};

/// One change of the load's rate. Arrivals scheduled before it are the plan's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AmendmentRecord {
    /// From when, relative to the run's start, nanoseconds.
    pub from_ns: u64,
    /// How many times the rate that the plan declares.
    pub rate_factor: f64,
    /// Who asked.
    pub by: String,
}
