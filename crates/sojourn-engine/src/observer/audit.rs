//! Which journeys are kept with their whole timeline: every lost and failed one up to a cap, the
//! slowest, and a sample from which the report takes its median journey.

use std::{cmp::Reverse, collections::BinaryHeap, sync::Arc};

use sojourn_ledger::{FinishClass, Finished, Phase};
use sojourn_pace::random_u64;
use sojourn_plan::Plan;
use sojourn_record::{JourneyRecord, StageInstant, StepInstant};

/// Lost and failed journeys kept per run.
const FAILED_MAX: u64 = 10_000;
/// Slowest journeys kept per kind.
const SLOWEST_MAX: usize = 20;
/// Journeys sampled per kind.
const SAMPLE_MAX: usize = 100;

/// The choice of journeys to keep.
pub(crate) struct Audit {
    shapes: Vec<Shape>,
    start_ns: u64,
    seed: u64,
    keep_all: bool,
    failed: u64,
    failed_beyond: u64,
    kinds: Vec<KindAudit>,
}

#[derive(Default)]
struct KindAudit {
    /// Least slow on top: (duration, number).
    slowest: BinaryHeap<Reverse<(u64, u64)>>,
    slowest_records: Vec<JourneyRecord>,
    sample: Vec<JourneyRecord>,
    seen: u64,
}

struct Shape {
    journey: String,
    /// Names of the steps, in the plan's order.
    steps: Vec<Arc<str>>,
    /// The step that starts it.
    first_step: usize,
    stages: Vec<Arc<str>>,
}

impl Audit {
    pub(crate) fn new(plan: &Plan, start_ns: u64, keep_all: bool) -> Self {
        let shapes = plan
            .journeys
            .iter()
            .map(|journey| Shape {
                journey: journey.name.clone(),
                steps: journey.steps.iter().map(|step| step.name.as_str().into()).collect(),
                first_step: journey.steps.iter().position(|step| step.after.is_none()).unwrap_or(0),
                stages: journey.stages.iter().map(|stage| stage.name.as_str().into()).collect(),
            })
            .collect();
        Self {
            shapes,
            start_ns,
            seed: plan.seed,
            keep_all,
            failed: 0,
            failed_beyond: 0,
            kinds: plan.journeys.iter().map(|_| KindAudit::default()).collect(),
        }
    }

    /// Looks at a finished journey; returns it when it is to be kept at once.
    pub(crate) fn take(&mut self, finished: Finished) -> Option<JourneyRecord> {
        if self.keep_all {
            return Some(self.record(&finished, "all"));
        }
        match finished.class {
            FinishClass::Completed | FinishClass::Late => {
                if finished.phase == Phase::Steady {
                    self.sample(&finished);
                }
                None
            }
            _ if self.failed < FAILED_MAX => {
                self.failed += 1;
                let kept_as = match finished.class {
                    FinishClass::Lost => "lost",
                    FinishClass::InFlightAtCutoff => "in_flight_at_cutoff",
                    _ => "failed",
                };
                Some(self.record(&finished, kept_as))
            }
            _ => {
                self.failed_beyond += 1;
                None
            }
        }
    }

    /// The slowest and the sample, at the end.
    pub(crate) fn rest(&mut self) -> Vec<JourneyRecord> {
        let kinds = std::mem::take(&mut self.kinds);
        kinds
            .into_iter()
            .flat_map(|kind| kind.slowest_records.into_iter().chain(kind.sample))
            .collect()
    }

    fn sample(&mut self, finished: &Finished) {
        let duration_ns = finished.end_ns - finished.t0_ns;
        let number = finished.journey.0;
        let record_slow = self.record(finished, "slowest");
        let record_sample = self.record(finished, "sample");
        let kind = &mut self.kinds[usize::from(finished.kind)];
        kind.seen += 1;
        let is_slow = kind.slowest.len() < SLOWEST_MAX
            || kind.slowest.peek().is_some_and(|Reverse((least, _))| duration_ns > *least);
        if is_slow {
            if kind.slowest.len() == SLOWEST_MAX
                && let Some(Reverse((_, gone))) = kind.slowest.pop()
            {
                kind.slowest_records.retain(|record| record.id != gone);
            }
            kind.slowest.push(Reverse((duration_ns, number)));
            kind.slowest_records.push(record_slow);
        }
        // Reservoir sampling (algorithm R, Vitter 1985): every journey has the same chance.
        if kind.sample.len() < SAMPLE_MAX {
            kind.sample.push(record_sample);
        } else {
            let place = random_u64(self.seed, 0xA0D17, number) % kind.seen;
            if let Some(slot) = kind.sample.get_mut(place as usize) {
                *slot = record_sample;
            }
        }
    }

    fn steps(&self, finished: &Finished, shape: &Shape) -> Vec<StepInstant> {
        let relative = |instant_ns: u64| instant_ns.saturating_sub(self.start_ns);
        let first = StepInstant {
            name: shape.step(shape.first_step),
            began_ns: relative(finished.t1_ns),
            ended_ns: finished.first_step_ended_ns.map(relative),
            status: None,
        };
        let later = finished.later_steps.iter().map(|span| StepInstant {
            name: shape.step(usize::from(span.step)),
            began_ns: relative(span.began_ns),
            ended_ns: span.ended_ns.map(relative),
            status: None,
        });
        std::iter::once(first).chain(later).collect()
    }

    fn record(&self, finished: &Finished, kept_as: &str) -> JourneyRecord {
        let shape = &self.shapes[usize::from(finished.kind)];
        let relative = |instant_ns: u64| instant_ns.saturating_sub(self.start_ns);
        JourneyRecord {
            journey: shape.journey.clone(),
            id: finished.journey.0,
            key: finished
                .key
                .as_ref()
                .map(|key| String::from_utf8_lossy(key.as_bytes()).into_owned()),
            class: class_name(finished.class).to_owned(),
            phase: match finished.phase {
                Phase::WarmUp => "warm_up",
                Phase::Steady => "steady",
            }
            .to_owned(),
            kept_as: kept_as.to_owned(),
            t0_ns: relative(finished.t0_ns),
            t1_ns: relative(finished.t1_ns),
            t2_ns: finished.t2_ns.map(relative),
            end_ns: relative(finished.end_ns),
            steps: self.steps(finished, shape),
            stages: shape
                .stages
                .iter()
                .zip(&finished.stage_ns)
                .map(|(name, &seen_ns)| StageInstant {
                    name: name.to_string(),
                    seen_ns: (seen_ns > 0).then(|| relative(seen_ns)),
                })
                .collect(),
            reason: None,
        }
    }
}

impl Shape {
    fn step(&self, number: usize) -> String {
        self.steps.get(number).map_or_else(String::new, |name| (**name).to_owned())
    }
}

/// A class as run files have it.
fn class_name(class: FinishClass) -> &'static str {
    match class {
        FinishClass::Completed => "completed",
        FinishClass::Late => "late",
        FinishClass::Lost => "lost",
        FinishClass::Failed => "failed",
        FinishClass::RootFailed => "root_failed",
        FinishClass::InFlightAtCutoff => "in_flight_at_cutoff",
    }
}
