//! A scenario's plan.

use serde_json::Value;

use crate::{
    executors::{ExecutorKind, Span, Stripes, ramp::Ramp},
    options::Tags,
};

/// A scenario with everything decided. Durations are nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// What it does.
    pub executor: Executor,
    /// When it begins, from the run's start.
    pub start_time_ns: u64,
    /// How long iterations may go on after its end.
    pub graceful_stop_ns: u64,
    /// Which exported function it runs.
    pub exec: String,
    /// Whether that was written, and not the default.
    pub(crate) is_exec_written: bool,
    /// Added to `__ENV`.
    pub env: Tags,
    /// Tags of its samples.
    pub tags: Tags,
    /// Which iterations are this process's, of all that segments make together. A segment's `k`-th
    /// iteration is number `stripes.number(k)` of the whole test.
    pub stripes: Stripes,
    /// How long its segment is, of 1.
    pub(crate) share: f64,
    /// Its `options` as written (k6's browser); null without.
    pub options: Value,
}

/// What a scenario does.
#[derive(Clone, Debug, PartialEq)]
pub enum Executor {
    /// So many users loop for so long.
    ConstantVus {
        /// Users.
        vus: u64,
        /// How long.
        duration_ns: u64,
    },
    /// A number of users that follows stages.
    RampingVus(RampingVus),
    /// So many iterations in all.
    SharedIterations {
        /// Users.
        vus: u64,
        /// Iterations in all.
        iterations: u64,
        /// How long at most.
        max_duration_ns: u64,
    },
    /// So many iterations of each user; those not begun in time are dropped.
    PerVuIterations {
        /// Users.
        vus: u64,
        /// Iterations of each.
        iterations: u64,
        /// How long at most.
        max_duration_ns: u64,
    },
    /// Iterations at a constant rate.
    ConstantArrivalRate(ConstantArrivals),
    /// Iterations at a rate that follows stages.
    RampingArrivalRate(RampingArrivals),
    /// Users looping, their number told from outside.
    ExternallyControlled {
        /// Users at the start.
        vus: u64,
        /// Most users.
        max_vus: u64,
        /// How long; `None`: until stopped.
        duration_ns: Option<u64>,
    },
}

/// A ramp of virtual users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RampingVus {
    pub(crate) ramp: Ramp,
    /// Which slots of the whole ramp are this process's.
    pub(crate) stripes: Stripes,
    /// How long iterations may go on after their user was ramped down.
    pub graceful_ramp_down_ns: u64,
}

impl RampingVus {
    /// From a number of users through stages: (length in nanoseconds, users at its end).
    pub fn new(
        start_vus: u64,
        stages: impl IntoIterator<Item = (u64, u64)>,
        graceful_ramp_down_ns: u64,
    ) -> Self {
        Self {
            ramp: Ramp::new(start_vus, stages),
            stripes: Stripes::default(),
            graceful_ramp_down_ns,
        }
    }
}

impl RampingVus {
    /// The most users at one time.
    pub fn peak(&self) -> u64 {
        self.stripes.scale(self.ramp.peak())
    }
}

/// Iterations at a constant rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstantArrivals {
    /// Iterations per `time_unit_ns`, of all segments together.
    pub rate: u64,
    /// What the rate is counted by.
    pub time_unit_ns: u64,
    /// How long.
    pub duration_ns: u64,
    /// Users made before the start.
    pub pre_allocated_vus: u64,
    /// Most users.
    pub max_vus: u64,
}

/// Iterations at a rate that follows stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RampingArrivals {
    /// Iterations per `time_unit_ns` at the start, of all segments together, as in `stages`.
    pub start_rate: u64,
    /// What rates are counted by.
    pub time_unit_ns: u64,
    /// Stages: length in nanoseconds, rate at the end.
    pub stages: Vec<(u64, u64)>,
    /// Users made before the start.
    pub pre_allocated_vus: u64,
    /// Most users.
    pub max_vus: u64,
}

impl Scenario {
    /// Which executor it has.
    pub fn kind(&self) -> ExecutorKind {
        match self.executor {
            Executor::ConstantVus { .. } => ExecutorKind::ConstantVus,
            Executor::RampingVus(_) => ExecutorKind::RampingVus,
            Executor::SharedIterations { .. } => ExecutorKind::SharedIterations,
            Executor::PerVuIterations { .. } => ExecutorKind::PerVuIterations,
            Executor::ConstantArrivalRate(_) => ExecutorKind::ConstantArrivalRate,
            Executor::RampingArrivalRate(_) => ExecutorKind::RampingArrivalRate,
            Executor::ExternallyControlled { .. } => ExecutorKind::ExternallyControlled,
        }
    }

    /// How long it takes, grace apart, from its own start; `u64::MAX` where nothing ends it.
    pub fn duration_ns(&self) -> u64 {
        match &self.executor {
            Executor::ConstantVus { duration_ns, .. } => *duration_ns,
            Executor::RampingVus(ramping) => ramping.ramp.duration_ns(),
            Executor::SharedIterations { max_duration_ns, .. }
            | Executor::PerVuIterations { max_duration_ns, .. } => *max_duration_ns,
            Executor::ConstantArrivalRate(arrivals) => arrivals.duration_ns,
            Executor::RampingArrivalRate(arrivals) => arrivals.duration_ns(),
            Executor::ExternallyControlled { duration_ns, .. } => duration_ns.unwrap_or(u64::MAX),
        }
    }

    /// When it ends at the latest, grace included, from its own start. A ramp may be over before
    /// its last stages are, if these want nobody.
    pub fn cut_ns(&self) -> u64 {
        match &self.executor {
            // Slot 0 runs whenever any does.
            Executor::RampingVus(ramping) => {
                let holds = self.holds(ramping, 0);
                holds.last().map_or(0, |span| span.cut_ns)
            }
            _ => self.duration_ns().saturating_add(self.graceful_stop_ns),
        }
    }

    /// When a slot of a ramp is held, spans of no length included.
    pub(crate) fn holds(&self, ramping: &RampingVus, slot: u64) -> Vec<Span> {
        let Some(slot) = ramping.stripes.number(slot) else { return Vec::new() };
        ramping.ramp.spans(slot, ramping.graceful_ramp_down_ns, self.graceful_stop_ns)
    }

    /// Most virtual users that it may have.
    pub fn max_vus(&self) -> u64 {
        match &self.executor {
            Executor::ConstantVus { vus, .. }
            | Executor::SharedIterations { vus, .. }
            | Executor::PerVuIterations { vus, .. } => *vus,
            Executor::RampingVus(ramping) => ramping.peak(),
            Executor::ConstantArrivalRate(arrivals) => arrivals.max_vus,
            Executor::RampingArrivalRate(arrivals) => arrivals.max_vus,
            Executor::ExternallyControlled { max_vus, .. } => *max_vus,
        }
    }

    /// Virtual users that it has from the beginning.
    pub fn planned_vus(&self) -> u64 {
        match &self.executor {
            Executor::ConstantArrivalRate(arrivals) => arrivals.pre_allocated_vus,
            Executor::RampingArrivalRate(arrivals) => arrivals.pre_allocated_vus,
            _ => self.max_vus(),
        }
    }

    /// How many slots loop; zero for arrival rates, whose users have no slots.
    pub fn slots(&self) -> u64 {
        match self.executor {
            Executor::ConstantArrivalRate(_) | Executor::RampingArrivalRate(_) => 0,
            _ => self.max_vus(),
        }
    }

    /// When a slot runs, in order. No span of a slot that there is not.
    ///
    /// Where users do a number of iterations, they may be done before the span ends. Slots of an
    /// externally controlled scenario below its `vus` run all the time, unless somebody outside
    /// decides otherwise.
    pub fn spans(&self, slot: u64) -> Vec<Span> {
        let (end_ns, cut_ns) = (self.duration_ns(), self.cut_ns());
        match &self.executor {
            Executor::RampingVus(ramping) => {
                let mut spans = self.holds(ramping, slot);
                spans.retain(|span| span.start_ns < span.end_ns);
                spans
            }
            Executor::ConstantVus { vus, .. }
            | Executor::SharedIterations { vus, .. }
            | Executor::PerVuIterations { vus, .. }
            | Executor::ExternallyControlled { vus, .. }
                if slot < *vus =>
            {
                vec![Span { start_ns: 0, end_ns, cut_ns }]
            }
            _ => Vec::new(),
        }
    }

    /// How many slots are to run at an instant, for the progress line.
    pub fn wanted(&self, at_ns: u64) -> u64 {
        match &self.executor {
            _ if at_ns >= self.duration_ns() => 0,
            Executor::RampingVus(ramping) => ramping.stripes.scale(ramping.ramp.level(at_ns)),
            Executor::ConstantVus { vus, .. }
            | Executor::SharedIterations { vus, .. }
            | Executor::PerVuIterations { vus, .. }
            | Executor::ExternallyControlled { vus, .. } => *vus,
            Executor::ConstantArrivalRate(_) | Executor::RampingArrivalRate(_) => 0,
        }
    }

    /// How many iterations it makes: in all, where that is known beforehand.
    pub fn iterations(&self) -> Option<u64> {
        match &self.executor {
            Executor::SharedIterations { iterations, .. } => Some(*iterations),
            Executor::PerVuIterations { vus, iterations, .. } => {
                Some(vus.saturating_mul(*iterations))
            }
            _ => None,
        }
    }
}
