//! Instants from intensity.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Amendment, Profile,
    amendment::{Amendments, Turn},
    curve::{Curve, snapped},
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

/// The instants of a load's arrivals, ascending, amendments included.
#[derive(Clone, Debug)]
pub struct Schedule {
    curve: Curve,
    placement: Placement,
    amendments: Amendments,
    /// The arrival last asked for.
    last: u64,
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
            amendments: Amendments::default(),
            last: 0,
            seed,
            limit: limit.unwrap_or(u64::MAX),
        }
    }

    /// Amends the rate from an instant on. Arrivals before it stay exactly where they were, the
    /// others are at or after it. False, and nothing changes, when the factor is no number from
    /// zero up, when the instant is before that of an earlier amendment, or after ten thousand of
    /// them. That no arrival at or after the instant has been reached is the caller's to see to.
    ///
    /// A profile keeps its length; the last replayed arrival comes sooner or later.
    pub fn amend(&mut self, amendment: Amendment) -> bool {
        if !self.amendments.admits(&amendment) {
            return false;
        }
        let Amendment { from_ns, rate_factor } = amendment;
        let last = self.amendments.last();
        let declared = match &self.placement {
            Placement::Replay(_) => last.declared + last.factor * (from_ns - last.from_ns) as f64,
            _ => self.curve.level(from_ns),
        };
        let amended = snapped(last.amended_at(declared));
        self.amendments.push(Turn { from_ns, factor: rate_factor, declared, amended });
        self.amendments.restart();
        true
    }

    /// Offset of arrival `k` from the start of the load, nanoseconds; `None` past the end.
    /// Cheapest when `k` does not go back; going back restarts a Poisson walk.
    pub fn at(&mut self, k: u64) -> Option<u64> {
        if k >= self.limit {
            return None;
        }
        if k < self.last {
            self.amendments.restart();
        }
        self.last = k;
        let end = self.end_level();
        let level = match &mut self.placement {
            Placement::Constant => k as f64,
            Placement::Poisson(walk) => walk.level_of(k, self.seed, end),
            Placement::Replay(offsets) => {
                let offset_ns = *offsets.get(usize::try_from(k).ok()?)?;
                return self.amendments.instant(|turn| replayed_ns(offset_ns, turn));
            }
        };
        if level >= end {
            return None;
        }
        // What has a level below the end has an instant, whatever the division's rounding says.
        let most = self.curve.total().next_down();
        let curve = &mut self.curve;
        self.amendments.instant(|turn| curve.instant_ns(turn.declared_at(level)?.min(most)))
    }

    /// Whether the last amendment is a pause, which a further one could end.
    pub fn is_paused(&self) -> bool {
        self.amendments.last().factor == 0.0
    }

    /// Length of the load, nanoseconds: the profile's, whether or not the limit ends it earlier (a
    /// replay's: its last instant).
    pub fn duration_ns(&self) -> u64 {
        match &self.placement {
            Placement::Replay(offsets) => {
                let last = self.replayed(offsets).checked_sub(1).map(|last| offsets[last]);
                let mut amendments = self.amendments.clone();
                amendments.restart();
                last.and_then(|last| amendments.instant(|turn| replayed_ns(last, turn)))
                    .unwrap_or(0)
            }
            _ => self.curve.duration_ns(),
        }
    }

    /// How many arrivals the whole schedule has: exact for constant and replay, the mean for
    /// Poisson (the amended integral), and never above the limit.
    pub fn expected_count(&self) -> f64 {
        let count = match &self.placement {
            // Levels 0, 1, 2 … below the end.
            Placement::Constant => self.end_level().ceil(),
            Placement::Poisson(_) => self.end_level(),
            Placement::Replay(offsets) => self.replayed(offsets) as f64,
        };
        count.min(self.limit as f64)
    }

    /// The amended integral at the end.
    fn end_level(&self) -> f64 {
        snapped(self.amendments.last().amended_at(self.curve.total()))
    }

    /// How many of the replayed arrivals come: all but those that a pause without end holds back.
    fn replayed(&self, offsets: &[u64]) -> usize {
        let last = self.amendments.last();
        match last.factor > 0.0 {
            true => offsets.len(),
            false => offsets.partition_point(|&offset_ns| (offset_ns as f64) < last.declared),
        }
    }
}

/// When a replayed arrival comes, on the stretch that begins at `turn`.
fn replayed_ns(offset_ns: u64, turn: &Turn) -> Option<u64> {
    if turn.is_start() {
        return Some(offset_ns);
    }
    let after_ns = turn.stretched(offset_ns as f64)?;
    Some(turn.from_ns.saturating_add(after_ns.round() as u64))
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
mod amendment_tests;
#[cfg(test)]
mod tests;
