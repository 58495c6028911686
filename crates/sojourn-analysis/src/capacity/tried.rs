//! A step that was made, and what it said.

use serde::Serialize;

use super::{Growth, Limit, Step};

/// A step with its judgement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tried {
    /// What was asked.
    pub step: Step,
    /// What it said.
    pub judgement: Judgement,
    /// How fast the backlog grew; `None` where that was not to be seen.
    pub growth: Option<Growth>,
}

/// Why a step is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Doubling until something fails.
    Rise,
    /// Below the first rate, which failed.
    Descend,
    /// Within the bracket.
    Narrow,
    /// The rate that held, once more and for longer.
    Confirm,
}

impl Purpose {
    /// As it is printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Rise => "rise",
            Self::Descend => "descend",
            Self::Narrow => "narrow",
            Self::Confirm => "confirm",
        }
    }
}

/// What a step says.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "says")]
pub enum Judgement {
    /// The system carries this rate.
    Held {
        /// That the backlog does not grow was not certain, but the likelier of the two.
        likely: bool,
    },
    /// It does not.
    Failed {
        /// Why.
        limit: Limit,
    },
    /// Too short to tell.
    Undecided {
        /// Why, as a fragment.
        reason: String,
        /// How many times as long it should be.
        longer: f64,
    },
    /// The figures may not be believed.
    Void {
        /// This machine could not keep up.
        by_generator: bool,
        /// What was measured.
        cause: String,
    },
}

impl Judgement {
    /// As it is printed.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Held { likely: false } => "held",
            Self::Held { likely: true } => "held, likely",
            Self::Failed { .. } => "failed",
            Self::Undecided { .. } => "too short",
            Self::Void { .. } => "void",
        }
    }
}
