//! Which journeys are kept with their whole timeline: every lost and failed one up to a cap, the
//! slowest, and a sample from which the report takes its median journey.

use std::{cmp::Reverse, collections::BinaryHeap, sync::Arc};

use sojourn_ledger::{FinishClass, Finished, Phase, Reason, TraceSeed};
use sojourn_pace::random_u64;
use sojourn_plan::{Plan, StageKind};
use sojourn_record::{JourneyRecord, StageInstant, StepInstant};

use crate::RunOptions;

/// Lost and failed journeys kept per run; of poisoned ones as many again.
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
    /// Kept so far: of poisoned journeys, which mostly fail, apart from the others.
    failed: [u64; 2],
    failed_beyond: u64,
    kinds: Vec<KindAudit>,
    /// Records made.
    #[cfg(test)]
    made: std::cell::Cell<u64>,
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
    /// Whether the journey is not complete without the stage.
    required: Vec<bool>,
    /// Groups of alternatives.
    groups: Vec<Vec<usize>>,
    trace: Option<TraceSeed>,
    is_poisoned: bool,
}

impl Audit {
    pub(crate) fn new(plan: &Plan, start_ns: u64, options: &RunOptions) -> Self {
        let trace = TraceSeed::of(plan.seed, &options.run_id);
        let shapes = plan
            .journeys
            .iter()
            .zip(super::series::groups(plan))
            .map(|(journey, groups)| Shape {
                trace: journey.trace.then_some(trace),
                is_poisoned: journey.poison.is_some(),
                groups,
                journey: journey.name.clone(),
                steps: journey.steps.iter().map(|step| step.name.as_str().into()).collect(),
                first_step: journey.steps.iter().position(|step| step.after.is_none()).unwrap_or(0),
                stages: journey.stages.iter().map(|stage| stage.name.as_str().into()).collect(),
                required: journey
                    .stages
                    .iter()
                    .map(|stage| stage.kind == StageKind::Required)
                    .collect(),
            })
            .collect();
        Self {
            shapes,
            start_ns,
            seed: plan.seed,
            keep_all: options.keep_all,
            failed: [0; 2],
            failed_beyond: 0,
            kinds: plan.journeys.iter().map(|_| KindAudit::default()).collect(),
            #[cfg(test)]
            made: std::cell::Cell::default(),
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
            _ if self.failed[self.is_poisoned(&finished)] < FAILED_MAX => {
                self.failed[self.is_poisoned(&finished)] += 1;
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

    /// Which of the two counts of kept journeys a failed one is of.
    fn is_poisoned(&self, finished: &Finished) -> usize {
        usize::from(self.shapes[usize::from(finished.kind)].is_poisoned)
    }

    /// Lost and failed journeys beyond those that are kept.
    pub(crate) fn not_kept(&self) -> u64 {
        self.failed_beyond
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
        let duration_ns = finished.end_ns.saturating_sub(finished.t0_ns);
        let number = finished.journey.0;
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
        }
        // Reservoir sampling (algorithm R, Vitter 1985): every journey has the same chance.
        let place = match kind.sample.len() {
            len if len < SAMPLE_MAX => len,
            _ => (random_u64(self.seed, 0xA0D17, number) % kind.seen) as usize,
        };
        let is_sampled = place < SAMPLE_MAX;
        // Most journeys are neither: what they would look like is not made.
        let slow = is_slow.then(|| self.record(finished, "slowest"));
        let sampled = is_sampled.then(|| self.record(finished, "sample"));
        let kind = &mut self.kinds[usize::from(finished.kind)];
        kind.slowest_records.extend(slow);
        match (sampled, kind.sample.get_mut(place)) {
            (Some(record), Some(former)) => *former = record,
            (Some(record), None) => kind.sample.push(record),
            (None, _) => {}
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
        #[cfg(test)]
        self.made.set(self.made.get() + 1);
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
            reason: shape.reason(finished),
            trace_id: shape.trace.map(|seed| seed.id(finished.journey).to_string()),
        }
    }
}

impl Shape {
    /// Why it did not complete, in words; `None` when it did.
    fn reason(&self, finished: &Finished) -> Option<String> {
        let stage = |at: u8| self.stages.get(usize::from(at)).map_or("?", |name| name);
        let words = match (finished.class, finished.reason) {
            (FinishClass::Completed | FinishClass::Late, _) => return None,
            (_, Some(Reason::Stage(at))) => match &finished.said {
                Some(said) => format!("stage {} was reached: {said}", stage(at)),
                None => format!("stage {} was reached", stage(at)),
            },
            (_, Some(Reason::Check(at))) => {
                format!("a check of stage {} did not hold", stage(at))
            }
            (_, Some(Reason::FollowUp)) => {
                format!("step {} failed", self.step_begun_last(finished))
            }
            (_, Some(Reason::Root)) => {
                format!("step {} was refused or not answered", self.step_begun_last(finished))
            }
            (FinishClass::Failed, Some(Reason::KeyReused)) => {
                "a further key of it was in flight already".to_owned()
            }
            (_, Some(Reason::KeyReused)) => "its key was in flight already".to_owned(),
            (_, Some(Reason::NoRoom)) => "the ledger had no room for it".to_owned(),
            (_, None) => self.missing(finished),
        };
        Some(words)
    }

    /// What a lost journey still waited for.
    fn missing(&self, finished: &Finished) -> String {
        let is_seen = |at: usize| finished.stage_ns.get(at).is_some_and(|&seen_ns| seen_ns > 0);
        let unseen = (0..self.stages.len()).filter(|&at| self.required[at] && !is_seen(at));
        let mut missing: Vec<String> =
            unseen.map(|at| format!("stage {}{}", self.stages[at], come(finished, at))).collect();
        for group in self.groups.iter().filter(|group| !group.iter().any(|&at| is_seen(at))) {
            let names: Vec<&str> = group.iter().map(|&at| &*self.stages[at]).collect();
            missing.push(format!("stage {}", names.join(" or ")));
        }
        if finished.t2_ns.is_none() {
            missing.insert(0, format!("the answer to {}", self.step_begun_last(finished)));
        }
        match missing.is_empty() {
            true => "waited for its deadline or a later step".to_owned(),
            false => format!("not seen: {}", missing.join(", ")),
        }
    }

    fn step_begun_last(&self, finished: &Finished) -> String {
        let number = finished.later_steps.last().map(|span| usize::from(span.step));
        self.step(number.unwrap_or(self.first_step))
    }

    fn step(&self, number: usize) -> String {
        self.steps.get(number).map_or_else(String::new, |name| (**name).to_owned())
    }
}

/// How far a fan-out stage came, behind its name.
fn come(finished: &Finished, stage: usize) -> String {
    let members = finished.members.iter().find(|members| usize::from(members.stage) == stage);
    match members.map(|members| (members.seen, members.expected)) {
        None => String::new(),
        Some((seen, Some(expected))) => format!(" ({seen} of {expected} members)"),
        Some((seen, None)) => format!(" ({seen} members; how many there are was never told)"),
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

#[cfg(test)]
mod tests {
    use smallvec::SmallVec;
    use sojourn_ledger::{JourneyId, MembersSeen};

    use super::*;
    use crate::testing::{PAYMENT, finished, plan};

    fn audit() -> Audit {
        let options = RunOptions::new(None, "test".to_owned());
        Audit::new(&plan(PAYMENT, "http://127.0.0.1:1"), 0, &options)
    }

    fn completed(number: u64, duration_ns: u64) -> Finished {
        Finished {
            t2_ns: Some(1_000 + duration_ns),
            stage_ns: SmallVec::from_elem(1_000 + duration_ns, 1),
            end_ns: 1_000 + duration_ns,
            ..finished(JourneyId(number), Phase::Steady)
        }
    }

    #[test]
    fn no_record_is_made_of_a_completed_journey_that_is_not_kept() {
        let mut audit = audit();
        // Ever faster: after the first twenty none is among the slowest.
        for number in 0..10_000 {
            assert!(audit.take(completed(number, 1_000_000 - number)).is_none());
        }
        // A reservoir of 100 takes about 100 · (1 + ln(10,000 / 100)) = 561 of them.
        let made = audit.made.get();
        assert!((120..1_000).contains(&made), "{made} records");
        let kept = audit.rest();
        let of = |role: &str| kept.iter().filter(|record| record.kept_as == role).count();
        assert_eq!((of("slowest"), of("sample")), (SLOWEST_MAX, SAMPLE_MAX));
        let slowest = kept.iter().filter(|record| record.kept_as == "slowest");
        assert_eq!(slowest.map(|record| record.id).max(), Some(SLOWEST_MAX as u64 - 1));
    }

    #[test]
    fn a_journey_that_did_not_complete_is_kept_with_the_reason() {
        let mut audit = audit();
        let mut reason = |class, reason, unseen: bool, answered: bool| {
            let mut finished = Finished { class, reason, ..completed(1, 5) };
            if unseen {
                finished.stage_ns[0] = 0;
            }
            finished.t2_ns = finished.t2_ns.filter(|_| answered);
            audit.take(finished).unwrap().reason.unwrap()
        };
        use FinishClass::{Failed, Lost, RootFailed};
        assert_eq!(reason(Lost, None, true, true), "not seen: stage created");
        let both = reason(Lost, None, true, false);
        assert!(both.starts_with("not seen: the answer to ") && both.ends_with("stage created"));
        let members = vec![MembersSeen { stage: 0, seen: 2, expected: Some(5) }];
        let mut far = Finished { class: Lost, members, ..completed(1, 5) };
        far.stage_ns[0] = 0;
        let reason_of = audit.take(far).unwrap().reason.unwrap();
        assert_eq!(reason_of, "not seen: stage created (2 of 5 members)");
        let mut reason = |class, reason, unseen: bool, answered: bool| {
            let mut finished = Finished { class, reason, ..completed(1, 5) };
            if unseen {
                finished.stage_ns[0] = 0;
            }
            finished.t2_ns = finished.t2_ns.filter(|_| answered);
            audit.take(finished).unwrap().reason.unwrap()
        };
        let failed = [
            (Failed, Reason::KeyReused, "a further key of it was in flight already"),
            (Failed, Reason::Stage(0), "stage created was reached"),
            (Failed, Reason::Check(0), "a check of stage created did not hold"),
            (RootFailed, Reason::KeyReused, "its key was in flight already"),
            (RootFailed, Reason::NoRoom, "the ledger had no room for it"),
        ];
        for (class, why, words) in failed {
            assert_eq!(reason(class, Some(why), false, true), words);
        }
        let root = reason(RootFailed, Some(Reason::Root), false, false);
        assert!(root.ends_with("was refused or not answered"), "{root}");
    }
}
