//! Changes of a schedule's rate while it runs.
//!
//! From its instant on, an amendment makes the intensity so many times what the profile says, until
//! the next one. With the profile's integral Λ, amendments at a₁ ≤ a₂ ≤ … with factors f₁, f₂, …,
//! and a₀ = 0, f₀ = 1, the amended integral is again piecewise:
//!
//! ```text
//! M(t)       = Mᵢ + fᵢ · (Λ(t) − Λ(aᵢ))          for aᵢ ≤ t < aᵢ₊₁,  Mᵢ = M(aᵢ)
//! instant(x) = Λ⁻¹(Λ(aᵢ) + (x − Mᵢ) / fᵢ)        for the i in whose stretch it falls
//! ```
//!
//! so arrival k is still one expression, and an arrival before aᵢ is one that no later term
//! touches. Which stretch a level falls into is decided by the instants themselves and not by
//! comparing levels: rounding can't move an arrival across an amendment.
//!
//! Replayed arrivals have no intensity; they come so many times as fast. Their place in the
//! recording takes the part of Λ: pᵢ₊₁ = pᵢ + fᵢ · (aᵢ₊₁ − aᵢ), instant = aᵢ + (offset − pᵢ) / fᵢ.

use serde::{Deserialize, Serialize};

/// A change of rate, from an instant on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Amendment {
    /// From when, nanoseconds from the load's start.
    pub from_ns: u64,
    /// How many times the declared rate; zero: a pause.
    pub rate_factor: f64,
}

/// Most amendments of one schedule.
const AMENDMENTS_MAX: usize = 10_000;

/// The amendments of a schedule, and where it stood at each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Amendments {
    turns: Vec<Turn>,
    /// How many of them the last instant that was asked for had passed.
    passed: usize,
}

/// One amendment: where it falls on the unamended course, and where on the amended one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) from_ns: u64,
    pub(crate) factor: f64,
    /// Λ(a), or the place in a recording, nanoseconds.
    pub(crate) declared: f64,
    /// M(a).
    pub(crate) amended: f64,
}

impl Turn {
    /// Where every course begins.
    const START: Self = Self { from_ns: 0, factor: 1.0, declared: 0.0, amended: 0.0 };

    pub(crate) fn is_start(&self) -> bool {
        self.from_ns == 0 && self.factor == 1.0
    }

    /// The unamended level at which the amended course passes `level`; `None` in a pause.
    pub(crate) fn declared_at(&self, level: f64) -> Option<f64> {
        let beyond = (level - self.amended).max(0.0);
        (self.factor > 0.0).then(|| self.declared + beyond / self.factor)
    }

    /// How long after its instant a place in a recording is reached; `None` in a pause.
    pub(crate) fn stretched(&self, place: f64) -> Option<f64> {
        let beyond = (place - self.declared).max(0.0);
        (self.factor > 0.0).then(|| beyond / self.factor)
    }

    /// The amended level where the unamended course passes `declared`.
    pub(crate) fn amended_at(&self, declared: f64) -> f64 {
        self.amended + self.factor * (declared - self.declared).max(0.0)
    }
}

impl Amendments {
    /// The last one, or the start of the course.
    pub(crate) fn last(&self) -> Turn {
        self.turns.last().copied().unwrap_or(Turn::START)
    }

    /// Whether this one may follow: it is a rate, it is not before the last one, and there is room.
    pub(crate) fn admits(&self, amendment: &Amendment) -> bool {
        amendment.rate_factor.is_finite()
            && amendment.rate_factor >= 0.0
            && amendment.from_ns >= self.last().from_ns
            && self.turns.len() < AMENDMENTS_MAX
    }

    pub(crate) fn push(&mut self, turn: Turn) {
        self.turns.push(turn);
    }

    /// The instant that `instant_ns` gives within the stretch that it falls into. Instants must be
    /// asked for in ascending order; [`Self::restart`] begins again.
    pub(crate) fn instant(
        &mut self,
        mut instant_ns: impl FnMut(&Turn) -> Option<u64>,
    ) -> Option<u64> {
        loop {
            let turn = match self.passed {
                0 => Turn::START,
                passed => self.turns[passed - 1],
            };
            let at_ns = instant_ns(&turn).map(|at_ns| at_ns.max(turn.from_ns));
            match self.turns.get(self.passed) {
                Some(next) if at_ns.is_none_or(|at_ns| at_ns >= next.from_ns) => self.passed += 1,
                _ => return at_ns,
            }
        }
    }

    /// Asks from the beginning again.
    pub(crate) fn restart(&mut self) {
        self.passed = 0;
    }
}
