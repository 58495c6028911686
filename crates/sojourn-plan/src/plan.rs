//! The plan itself.

use std::sync::Arc;

use sojourn_metrics::Threshold;

use crate::{Channel, DataSource, Journey, Limit, Load, Resource, Step};

/// All that a run will do.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Name, for reports.
    pub name: String,
    /// Suite, where given.
    pub suite: Option<String>,
    /// Labels, from the file; the command line adds its own.
    pub labels: Vec<(String, String)>,
    /// Seed of everything random.
    pub seed: u64,
    /// Channels in declared order.
    pub channels: Vec<Channel>,
    /// Journeys in declared order.
    pub journeys: Vec<Journey>,
    /// Load entries: independent streams of arrivals, all starting at the run's start.
    pub load: Vec<Load>,
    /// Names of foreign clocks.
    pub clocks: Vec<String>,
    /// Limits that the system is said to keep.
    pub limits: Vec<Limit>,
    /// What is read of the system's own resources while the load goes on.
    pub resources: Vec<Resource>,
    /// Conditions the run must hold.
    pub thresholds: Vec<Threshold>,
    /// Steps run once before the load; values they extract are journeys' variables.
    pub setup: Vec<Step>,
    /// Steps run once after it, whatever happened.
    pub teardown: Vec<Step>,
    /// Steps repeated during the run.
    pub refresh: Vec<Refresh>,
    /// Data read from files.
    pub data: Vec<Arc<DataSource>>,
    /// Names of variables; a [`crate::VariableId`] indexes it.
    pub variables: Vec<String>,
    /// When a run is void.
    pub health: HealthLimits,
    /// Hosts that redirects may go to besides those the plan names.
    pub allowed_hosts: Vec<String>,
    /// The file's text as it was run, secrets replaced by `***`.
    pub text: String,
    /// Warnings for the user: what is odd but can run.
    pub warnings: Vec<String>,
}

/// A step repeated on an interval, such as a token's renewal.
#[derive(Clone, Debug)]
pub struct Refresh {
    /// How often, nanoseconds.
    pub every_ns: u64,
    /// What.
    pub step: Step,
}

/// Limits beyond which a run is void. Fractions are 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct HealthLimits {
    /// Most arrivals missed, as a fraction of those scheduled.
    pub missed_max: f64,
    /// Least delivered, as a fraction of those scheduled.
    pub delivered_min: f64,
    /// Most lag at p99, nanoseconds…
    pub lag_p99_max_ns: u64,
    /// …or this fraction of the response p50, when that is larger.
    pub lag_share_max: f64,
    /// Most of a generator thread's time on or waiting for a processor, as a fraction…
    pub busy_max: f64,
    /// …for so long, nanoseconds.
    pub busy_for_ns: u64,
    /// Most a tap may be behind, nanoseconds.
    pub tap_behind_max_ns: u64,
    /// How long a source may be silent, nanoseconds.
    pub silent_max_ns: u64,
}

impl Default for HealthLimits {
    fn default() -> Self {
        Self {
            missed_max: 0.001,
            delivered_min: 0.995,
            lag_p99_max_ns: 10_000_000,
            lag_share_max: 0.1,
            busy_max: 0.95,
            busy_for_ns: 10_000_000_000,
            tap_behind_max_ns: 1_000_000_000,
            silent_max_ns: 1_000_000_000,
        }
    }
}
