//! Instants from intensity.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Profile,
    curve::Curve,
    random::{GAPS_STREAM, random_unit},
};

/// How arrivals are placed within a [`Profile`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Arrivals {
    /// Arrival k at the instant when the profile's integral passes k: evenly paced.
    Constant,
    /// A Poisson process of the profile's intensity: exponential unit gaps mapped through the
    /// inverse of its integral.
    Poisson,
    /// The given offsets, nanoseconds, ascending; the profile is not used.
    Replay(Arc<[u64]>),
}

/// The instants of a load's arrivals, ascending.
#[derive(Clone, Debug)]
pub struct Schedule {
    curve: Curve,
    placement: Placement,
    seed: u64,
    limit: u64,
}

#[derive(Clone, Debug)]
enum Placement {
    Constant,
    Poisson(Walk),
    Replay(Arc<[u64]>),
}

/// Where a walk over Poisson gaps stands: the sum of the first `gaps` of them.
#[derive(Clone, Copy, Debug, Default)]
struct Walk {
    gaps: u64,
    level: f64,
}

impl Schedule {
    /// A schedule; `limit` ends it after so many arrivals even if the profile goes on. Replayed
    /// offsets that do not ascend are sorted.
    pub fn new(profile: Profile, arrivals: Arrivals, seed: u64, limit: Option<u64>) -> Self {
        Self {
            curve: Curve::new(&profile, seed),
            placement: match arrivals {
                Arrivals::Constant => Placement::Constant,
                Arrivals::Poisson => Placement::Poisson(Walk::default()),
                Arrivals::Replay(offsets) => Placement::Replay(ascending(offsets)),
            },
            seed,
            limit: limit.unwrap_or(u64::MAX),
        }
    }

    /// Offset of arrival `k` from the start of the load, nanoseconds; `None` past the end.
    /// Cheapest when `k` does not go back; going back restarts a Poisson walk.
    pub fn at(&mut self, k: u64) -> Option<u64> {
        if k >= self.limit {
            return None;
        }
        match &mut self.placement {
            Placement::Constant => self.curve.instant_ns(k as f64),
            Placement::Poisson(walk) => {
                let level = walk.level_of(k, self.seed, self.curve.total());
                self.curve.instant_ns(level)
            }
            Placement::Replay(offsets) => offsets.get(usize::try_from(k).ok()?).copied(),
        }
    }

    /// Length of the load, nanoseconds: the profile's, whether or not the limit ends it earlier (a
    /// replay's: its last offset).
    pub fn duration_ns(&self) -> u64 {
        match &self.placement {
            Placement::Replay(offsets) => offsets.last().copied().unwrap_or(0),
            _ => self.curve.duration_ns(),
        }
    }

    /// How many arrivals the whole schedule has: exact for constant and replay, the mean for
    /// Poisson (the profile's integral), and never above the limit.
    pub fn expected_count(&self) -> f64 {
        let count = match &self.placement {
            // Levels 0, 1, 2 … below the total.
            Placement::Constant => self.curve.total().ceil(),
            Placement::Poisson(_) => self.curve.total(),
            Placement::Replay(offsets) => offsets.len() as f64,
        };
        count.min(self.limit as f64)
    }
}

impl Walk {
    /// The level of arrival `k`, or some level not below `end` when it lies there.
    fn level_of(&mut self, k: u64, seed: u64, end: f64) -> f64 {
        if k.saturating_add(1) < self.gaps {
            *self = Self::default();
        }
        // Stops at the end, so that asking for a far arrival costs no more than the whole walk.
        while self.gaps <= k && self.level < end {
            self.level += -f64::ln_1p(-random_unit(seed, GAPS_STREAM, self.gaps));
            self.gaps += 1;
        }
        self.level
    }
}

fn ascending(offsets: Arc<[u64]>) -> Arc<[u64]> {
    if offsets.is_sorted() {
        return offsets;
    }
    let mut sorted = offsets.to_vec();
    sorted.sort_unstable();
    sorted.into()
}

#[cfg(test)]
mod tests;
