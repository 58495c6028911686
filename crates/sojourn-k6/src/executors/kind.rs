//! The seven executors' names and fields.

use serde_json::Value;

use crate::options::{Kind, Wrong};

/// Which executor a scenario has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExecutorKind {
    /// So many users loop for so long.
    ConstantVus,
    /// A number of users that follows stages, each looping.
    RampingVus,
    /// So many iterations in all, shared among users.
    SharedIterations,
    /// So many iterations of each user.
    PerVuIterations,
    /// So many iterations begun per second.
    ConstantArrivalRate,
    /// Iterations begun at a rate that follows stages.
    RampingArrivalRate,
    /// Users looping, their number told from outside (k6 before 2.0).
    ExternallyControlled,
}

impl ExecutorKind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::ConstantVus,
        Self::RampingVus,
        Self::SharedIterations,
        Self::PerVuIterations,
        Self::ConstantArrivalRate,
        Self::RampingArrivalRate,
        Self::ExternallyControlled,
    ];

    /// As written in options.
    pub fn name(self) -> &'static str {
        match self {
            Self::ConstantVus => "constant-vus",
            Self::RampingVus => "ramping-vus",
            Self::SharedIterations => "shared-iterations",
            Self::PerVuIterations => "per-vu-iterations",
            Self::ConstantArrivalRate => "constant-arrival-rate",
            Self::RampingArrivalRate => "ramping-arrival-rate",
            Self::ExternallyControlled => "externally-controlled",
        }
    }

    /// Whether iterations are due at instants that are known beforehand: users who loop begin when
    /// they can.
    pub fn has_schedule(self) -> bool {
        matches!(self, Self::ConstantArrivalRate | Self::RampingArrivalRate)
    }

    /// The fields that it has beside those of every scenario, in the order in which k6 shows them.
    pub(crate) fn keys(self) -> &'static [&'static str] {
        match self {
            Self::ConstantVus => &["vus", "duration"],
            Self::RampingVus => &["startVUs", "stages", "gracefulRampDown"],
            Self::SharedIterations | Self::PerVuIterations => &["vus", "iterations", "maxDuration"],
            Self::ConstantArrivalRate => {
                &["rate", "timeUnit", "duration", "preAllocatedVUs", "maxVUs"]
            }
            Self::RampingArrivalRate => {
                &["startRate", "timeUnit", "stages", "preAllocatedVUs", "maxVUs"]
            }
            Self::ExternallyControlled => &["vus", "duration", "maxVUs"],
        }
    }
}

impl Kind for ExecutorKind {
    fn from_json(value: &Value) -> Result<Self, Wrong> {
        let name = String::from_json(value)?;
        let known = Self::ALL.into_iter().find(|kind| kind.name() == name);
        known.ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|kind| kind.name()).collect();
            Wrong::new(format!("there is no executor `{name}`, there are {}", names.join(", ")))
        })
    }

    fn to_json(&self) -> Value {
        self.name().into()
    }
}
