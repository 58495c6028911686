//! Whether the machine that makes the load kept up: what threads notice of themselves (`watch`),
//! and what it comes to at the end (`verdict`). Limits are those of runs of every kind.

mod verdict;
mod watch;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sojourn_clock::MachineCpu;
use sojourn_k6::metrics::Trend;

pub(crate) use verdict::{Told, verdict};
pub(crate) use watch::Watch;

/// What threads of one process have noticed; plain data for who is in another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Noticed {
    /// How late iterations with a schedule began since the last time, ms.
    lag: Trend,
    /// Threads by their numbers, each since the scenarios began.
    threads: BTreeMap<u64, Busy>,
    /// Of the machine, since the scenarios began.
    machine: Option<Machine>,
}

/// When a thread was busiest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Busy {
    /// The mean of its busiest stretch, on a processor or waiting for one, as a fraction.
    share: f64,
    /// Length of that stretch.
    seconds: usize,
    /// For how long in a row it was busier than it may be, seconds.
    longest_s: f64,
}

/// Processor time of a machine, as fractions of what all its processors have.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Machine {
    busy: f64,
    stolen: f64,
}

impl Default for Noticed {
    fn default() -> Self {
        Self { lag: Trend::new(false), threads: BTreeMap::new(), machine: None }
    }
}

impl Noticed {
    /// What another thread of the process has noticed, or what was noticed later.
    pub(crate) fn merge(&mut self, later: Self) {
        self.lag.merge(later.lag);
        self.threads.extend(later.threads);
        self.machine = later.machine.or(self.machine);
    }
}

impl From<MachineCpu> for Machine {
    fn from(spent: MachineCpu) -> Self {
        Self { busy: spent.busy_share(), stolen: spent.stolen_share() }
    }
}
