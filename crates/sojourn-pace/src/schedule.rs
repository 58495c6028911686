//! Instants from intensity.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Profile;

/// How arrivals are placed within a [`Profile`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Arrivals {
    /// Arrival k at the instant when the profile's integral reaches k: evenly paced.
    Constant,
    /// A Poisson process of the profile's intensity: exponential unit gaps mapped through the
    /// inverse of its integral.
    Poisson,
    /// The given offsets, nanoseconds, ascending; the profile is not used.
    Replay(Arc<[u64]>),
}

/// The instants of a load's arrivals.
#[derive(Clone, Debug)]
pub struct Schedule {
    _profile: Profile,
    _arrivals: Arrivals,
    _seed: u64,
    _limit: Option<u64>,
}

impl Schedule {
    /// A schedule; `limit` ends it after so many arrivals even if the profile goes on.
    pub fn new(profile: Profile, arrivals: Arrivals, seed: u64, limit: Option<u64>) -> Self {
        Self {
            _profile: profile,
            _arrivals: arrivals,
            _seed: seed,
            _limit: limit,
        }
    }

    /// Offset of arrival `k` from the start of the load, nanoseconds; `None` past the end.
    /// Cheapest when `k` does not go back; going back restarts a Poisson walk.
    pub fn at(&mut self, _k: u64) -> Option<u64> {
        None
    }

    /// Length of the load, nanoseconds (a replay's: its last offset).
    pub fn duration_ns(&self) -> u64 {
        0
    }

    /// How many arrivals the whole schedule has: exact for constant and replay, the mean for Poisson.
    pub fn expected_count(&self) -> f64 {
        0.0
    }
}
