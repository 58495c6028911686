//! From a scenario as written to its plan: defaults, and what makes no sense.

use crate::{
    duration::Nanos,
    executors::{
        ConstantArrivals, Executor, ExecutorKind, RampingArrivals, RampingVus, Scenario, Stripes,
    },
    options::{ScenarioOptions, Stage},
};

/// Most virtual users of a scenario, which bounds what planning costs.
const VUS_MAX: u64 = 1_000_000;
/// Most steps that a ramp of users may make.
const STEPS_MAX: u64 = 4_000_000;

const GRACE: Nanos = Nanos::from_s(30);
const MAX_DURATION: Nanos = Nanos::from_s(600);
const TIME_UNIT: Nanos = Nanos::from_s(1);
const DURATION_MIN: Nanos = Nanos::from_s(1);

impl Scenario {
    /// The plan that a scenario of this name means.
    ///
    /// # Errors
    /// What makes no sense, a text each.
    pub fn plan(name: &str, written: &ScenarioOptions) -> Result<Self, Vec<String>> {
        let mut checks = Checks::default();
        checks.name(name);
        let grace = checks.length("gracefulStop timeout", written.graceful_stop.unwrap_or(GRACE));
        let start_time_ns = checks.length("startTime", written.start_time.unwrap_or_default());
        let exec = written.exec.clone().unwrap_or_else(|| "default".to_owned());
        checks.must(!exec.is_empty(), || "exec value cannot be empty".to_owned());
        let kind = written.executor.unwrap_or(ExecutorKind::PerVuIterations);
        let executor = checks.executor(kind, written);
        // Only its own end, or somebody from outside, ends it.
        let graceful_stop_ns = if kind == ExecutorKind::ExternallyControlled { 0 } else { grace };
        let scenario = Self {
            name: name.to_owned(),
            executor,
            start_time_ns,
            graceful_stop_ns,
            exec,
            is_exec_written: written.exec.is_some(),
            env: written.env.clone().unwrap_or_default(),
            tags: written.tags.clone().unwrap_or_default(),
            stripes: Stripes::default(),
            share: 1.0,
            options: written.options.clone().unwrap_or_default(),
        };
        if checks.problems.is_empty() { Ok(scenario) } else { Err(checks.problems) }
    }
}

/// Gathers what makes no sense.
#[derive(Default)]
struct Checks {
    problems: Vec<String>,
}

impl Checks {
    fn must(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        if !holds {
            self.problems.push(problem());
        }
    }

    fn name(&mut self, name: &str) {
        self.must(!name.is_empty(), || "scenario name can't be empty".to_owned());
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        self.must(!name.is_empty() && name.chars().all(is_plain), || {
            "the scenario name should contain only numbers, latin letters, underscores, and dashes"
                .to_owned()
        });
    }

    /// A duration that must not be negative.
    fn length(&mut self, name: &str, duration: Nanos) -> u64 {
        self.must(duration.0 >= 0, || format!("the {name} can't be negative"));
        duration.ns()
    }

    fn executor(&mut self, kind: ExecutorKind, written: &ScenarioOptions) -> Executor {
        match kind {
            ExecutorKind::ConstantVus => Executor::ConstantVus {
                vus: self.vus(written.vus),
                duration_ns: self.duration(written.duration),
            },
            ExecutorKind::RampingVus => self.ramping_vus(written),
            ExecutorKind::SharedIterations | ExecutorKind::PerVuIterations => {
                self.iterations(kind, written)
            }
            ExecutorKind::ConstantArrivalRate => self.constant_arrivals(written),
            ExecutorKind::RampingArrivalRate => self.ramping_arrivals(written),
            ExecutorKind::ExternallyControlled => self.externally_controlled(written),
        }
    }

    fn vus(&mut self, vus: Option<i64>) -> u64 {
        let vus = vus.unwrap_or(1);
        self.must(vus > 0, || "the number of VUs must be more than 0".to_owned());
        self.bounded_vus(vus)
    }

    fn bounded_vus(&mut self, vus: i64) -> u64 {
        let vus = count(vus);
        self.must(vus <= VUS_MAX, || {
            format!("{vus} VUs are more than the {VUS_MAX} that are possible")
        });
        vus.min(VUS_MAX)
    }

    fn duration(&mut self, duration: Option<Nanos>) -> u64 {
        let Some(duration) = duration else {
            self.problems.push("the duration is unspecified".to_owned());
            return 0;
        };
        self.must(duration >= DURATION_MIN, || {
            format!("the duration must be at least {DURATION_MIN}, but is {duration}")
        });
        duration.ns()
    }

    fn iterations(&mut self, kind: ExecutorKind, written: &ScenarioOptions) -> Executor {
        let vus = self.vus(written.vus);
        let iterations = written.iterations.unwrap_or(1);
        let max_duration = written.max_duration.unwrap_or(MAX_DURATION);
        let shared = kind == ExecutorKind::SharedIterations;
        if shared {
            self.must(count(iterations) >= vus, || {
                format!(
                    "the number of iterations ({iterations}) can't be less than the number of \
                     VUs ({vus})"
                )
            });
        } else {
            self.must(iterations > 0, || "the number of iterations must be more than 0".to_owned());
        }
        self.must(max_duration >= DURATION_MIN, || {
            format!("the maxDuration must be at least {DURATION_MIN}, but is {max_duration}")
        });
        let (iterations, max_duration_ns) = (count(iterations), max_duration.ns());
        if shared {
            Executor::SharedIterations { vus, iterations, max_duration_ns }
        } else {
            Executor::PerVuIterations { vus, iterations, max_duration_ns }
        }
    }

    fn stages(&mut self, stages: Option<&Vec<Stage>>) -> Vec<(u64, u64)> {
        let stages = stages.map(Vec::as_slice).unwrap_or_default();
        self.must(!stages.is_empty(), || "at least one stage has to be specified".to_owned());
        let mut checked = Vec::with_capacity(stages.len());
        for (number, stage) in (1..).zip(stages) {
            match stage.duration {
                None => self.problems.push(format!("stage {number} doesn't have a duration")),
                Some(duration) => self.must(duration.0 >= 0, || {
                    format!("the duration for stage {number} can't be negative")
                }),
            }
            match stage.target {
                None => self.problems.push(format!("stage {number} doesn't have a target")),
                Some(target) => self.must(target >= 0, || {
                    format!("the target for stage {number} can't be negative")
                }),
            }
            let target = count(stage.target.unwrap_or(0));
            checked.push((stage.duration.unwrap_or_default().ns(), target));
        }
        checked
    }

    fn ramping_vus(&mut self, written: &ScenarioOptions) -> Executor {
        let start_vus = written.start_vus.unwrap_or(1);
        self.must(start_vus >= 0, || "the number of start VUs can't be negative".to_owned());
        let mut stages = self.stages(written.stages.as_ref());
        for (_, target) in &mut stages {
            *target = self.bounded_vus(i64::try_from(*target).unwrap_or(i64::MAX));
        }
        let peak = stages.iter().map(|(_, target)| *target).fold(count(start_vus), u64::max);
        self.must(peak > 0, || {
            "either startVUs or one of the stages' target values must be greater than 0".to_owned()
        });
        // What is negative counts as none, as with k6.
        let ramp_down = written.graceful_ramp_down.unwrap_or(GRACE).ns();
        let ramping = RampingVus::new(self.bounded_vus(start_vus), stages, ramp_down);
        let steps = ramping.ramp.steps();
        self.must(steps <= STEPS_MAX, || {
            format!("the stages make {steps} steps, more than the {STEPS_MAX} that are possible")
        });
        Executor::RampingVus(ramping)
    }

    fn pool(&mut self, written: &ScenarioOptions) -> (u64, u64) {
        let Some(pre_allocated) = written.pre_allocated_vus else {
            self.problems.push("the number of preAllocatedVUs isn't specified".to_owned());
            return (0, 0);
        };
        self.must(pre_allocated >= 0, || {
            "the number of preAllocatedVUs can't be negative".to_owned()
        });
        let max = written.max_vus.unwrap_or(pre_allocated);
        self.must(max >= pre_allocated, || "maxVUs can't be less than preAllocatedVUs".to_owned());
        (self.bounded_vus(pre_allocated), self.bounded_vus(max))
    }

    fn time_unit(&mut self, unit: Option<Nanos>) -> u64 {
        let unit = unit.unwrap_or(TIME_UNIT);
        self.must(unit.0 > 0, || "the timeUnit must be more than 0".to_owned());
        unit.ns()
    }

    fn constant_arrivals(&mut self, written: &ScenarioOptions) -> Executor {
        match written.rate {
            None => self.problems.push("the iteration rate isn't specified".to_owned()),
            Some(rate) => {
                self.must(rate > 0, || "the iteration rate must be more than 0".to_owned());
            }
        }
        let time_unit_ns = self.time_unit(written.time_unit);
        let duration_ns = self.duration(written.duration);
        let (pre_allocated_vus, max_vus) = self.pool(written);
        Executor::ConstantArrivalRate(ConstantArrivals {
            rate: count(written.rate.unwrap_or(0)),
            time_unit_ns,
            duration_ns,
            pre_allocated_vus,
            max_vus,
        })
    }

    fn ramping_arrivals(&mut self, written: &ScenarioOptions) -> Executor {
        let start_rate = written.start_rate.unwrap_or(0);
        self.must(start_rate >= 0, || "the startRate value can't be negative".to_owned());
        let time_unit_ns = self.time_unit(written.time_unit);
        let stages = self.stages(written.stages.as_ref());
        let (pre_allocated_vus, max_vus) = self.pool(written);
        Executor::RampingArrivalRate(RampingArrivals {
            start_rate: count(start_rate),
            time_unit_ns,
            stages,
            pre_allocated_vus,
            max_vus,
        })
    }

    fn externally_controlled(&mut self, written: &ScenarioOptions) -> Executor {
        self.must(written.graceful_stop.is_none(), || {
            "gracefulStop is not supported by the externally controlled executor".to_owned()
        });
        match written.duration {
            None => self
                .problems
                .push("the duration must be specified, for infinite duration use 0".to_owned()),
            Some(duration) => self.must(duration.0 >= 0, || {
                "the duration can't be negative, for infinite duration use 0".to_owned()
            }),
        }
        let vus = written.vus.unwrap_or(0);
        self.must(vus >= 0, || "the number of VUs can't be negative".to_owned());
        let max_vus = written.max_vus.unwrap_or(vus);
        self.must(max_vus > 0, || "the number of maxVUs must be more than 0".to_owned());
        self.must(max_vus >= vus, || {
            format!(
                "the number of active VUs ({vus}) must be less than or equal to the number of \
                 maxVUs ({max_vus})"
            )
        });
        let duration_ns = written.duration.unwrap_or_default().ns();
        Executor::ExternallyControlled {
            vus: self.bounded_vus(vus),
            max_vus: self.bounded_vus(max_vus),
            duration_ns: (duration_ns > 0).then_some(duration_ns),
        }
    }
}

/// What is negative, which was found wrong before, counts as none.
fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What k6 1.8 says; its second version has no such executor.
    #[test]
    fn externally_controlled_as_k6_1_has_it() {
        let written = |vus, max_vus, duration_s: Option<i64>| ScenarioOptions {
            vus,
            max_vus,
            duration: duration_s.map(Nanos::from_s),
            ..ScenarioOptions::new(ExecutorKind::ExternallyControlled)
        };
        let said = |written| match Scenario::plan("a", &written) {
            Ok(plan) => plan.line(),
            Err(problems) => problems.join(", "),
        };
        let words = "a: Externally controlled execution with";
        let active = "the number of active VUs (8) must be less than or equal to";
        for (written, expected) in [
            (
                written(Some(3), Some(6), Some(20)),
                format!("{words} 3 VUs, 6 max VUs, 20s duration"),
            ),
            (written(Some(3), None, Some(20)), format!("{words} 3 VUs, 3 max VUs, 20s duration")),
            (written(None, Some(3), Some(20)), format!("{words} 0 VUs, 3 max VUs, 20s duration")),
            (
                written(Some(3), Some(6), Some(0)),
                format!("{words} 3 VUs, 6 max VUs, infinite duration"),
            ),
            (
                written(Some(3), Some(6), None),
                "the duration must be specified, for infinite duration use 0".to_owned(),
            ),
            (written(Some(8), Some(6), Some(10)), format!("{active} the number of maxVUs (6)")),
        ] {
            assert_eq!(said(written), expected);
        }
        let graceful = ScenarioOptions {
            graceful_stop: Some(Nanos::from_s(5)),
            ..written(Some(3), Some(6), Some(10))
        };
        let expected = "gracefulStop is not supported by the externally controlled executor";
        assert_eq!(said(graceful), expected);
    }
}
