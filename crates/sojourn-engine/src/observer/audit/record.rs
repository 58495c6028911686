//! What is written of a journey: its timeline with names, and why it did not complete.

use std::sync::Arc;

use sojourn_ledger::{
    Again, DuplicateKind, FinishClass, Finished, Key, Phase, Reason, TraceId, TraceSeed,
};
use sojourn_plan::{Journey, Plan, Selector, StageKind, StageSource, Step, Test};
use sojourn_record::{
    DuplicateInstant, DuplicateRecord, JourneyRecord, KeptAs, MessageSample, StageInstant,
    StepInstant,
};

use super::MessageRing;
use crate::observer::series::groups_of;

/// A duplicate, as the ledger told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Repeat {
    stage: u8,
    channel: u16,
    how: DuplicateKind,
    stamp_ns: u64,
}

impl Repeat {
    pub(super) fn of(again: &Again) -> Self {
        let Again { stage, channel, how, stamp_ns, .. } = *again;
        Self { stage, channel, how, stamp_ns }
    }
}

/// Duplicates of one journey.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeats {
    pub(super) listed: Vec<Repeat>,
    /// Further ones.
    pub(super) beyond: u64,
}

impl Repeats {
    /// Of a journey for which there was no room: one at least.
    pub(super) const FORGOTTEN: Self = Self { listed: Vec::new(), beyond: 1 };

    pub(super) fn of(repeat: Repeat) -> Self {
        Self { listed: vec![repeat], beyond: 0 }
    }
}

/// Makes records.
pub(super) struct Records {
    shapes: Vec<Shape>,
    start_ns: u64,
    /// Of each channel, the messages that its tap holds; empty where none does.
    rings: Vec<MessageRing>,
    trace: TraceSeed,
}

/// What a record needs of the plan.
struct Shape {
    journey: String,
    /// In the plan's order.
    steps: Vec<StepShape>,
    /// The step that starts it.
    first_step: usize,
    stages: Vec<StageShape>,
    /// Groups of alternatives.
    groups: Vec<Vec<usize>>,
    trace: Option<TraceSeed>,
}

struct StepShape {
    name: Arc<str>,
    /// The one status that it ends well with, where the plan asks for one.
    status: Option<u16>,
}

struct StageShape {
    name: Arc<str>,
    /// Where its events come; `None` for a polled one.
    channel: Option<usize>,
    /// Whether the journey is not complete without it.
    is_required: bool,
}

impl Records {
    pub(super) fn new(plan: &Plan, start_ns: u64, run_id: &str, rings: Vec<MessageRing>) -> Self {
        let trace = TraceSeed::of(plan.seed, run_id);
        let mut records = Self { shapes: Vec::new(), start_ns, rings, trace };
        plan.journeys.iter().for_each(|journey| records.add(journey));
        records
    }

    /// Takes a further journey in.
    pub(super) fn add(&mut self, journey: &Journey) {
        self.shapes.push(Shape {
            trace: journey.trace.then_some(self.trace),
            groups: groups_of(journey),
            journey: journey.name.clone(),
            steps: journey.steps.iter().map(StepShape::of).collect(),
            first_step: journey.steps.iter().position(|step| step.after.is_none()).unwrap_or(0),
            stages: journey.stages.iter().map(StageShape::of).collect(),
        });
    }

    /// The record of a journey, kept for the first of `kept_as` and for the others besides.
    pub(super) fn make(
        &self,
        finished: &Finished,
        (kept_as, also): (&str, &[KeptAs]),
        repeats: &Repeats,
    ) -> JourneyRecord {
        #[cfg(test)]
        super::tests::MADE.with(|made| made.set(made.get() + 1));
        let shape = &self.shapes[usize::from(finished.kind)];
        let relative = |instant_ns: u64| self.relative(instant_ns);
        let text = |key: &Key| String::from_utf8_lossy(key.as_bytes()).into_owned();
        JourneyRecord {
            journey: shape.journey.clone(),
            id: finished.journey.0,
            key: finished.key.as_ref().map(text),
            class: finished.class.name().to_owned(),
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
                .map(|(stage, &seen_ns)| StageInstant {
                    name: stage.name.to_string(),
                    seen_ns: (seen_ns > 0).then(|| relative(seen_ns)),
                })
                .collect(),
            reason: shape.reason(finished),
            trace_id: shape.trace_id(finished).map(|id| id.to_string()),
            label: finished.label.as_ref().map(text),
            also_kept_as: also.iter().map(|role| role.name().to_owned()).collect(),
            negative_hops: finished.negative_hops,
            duplicates: repeats.listed.iter().map(|it| self.instant(shape, it)).collect(),
            duplicates_beyond: repeats.beyond,
            messages: self.messages(finished, shape, repeats),
        }
    }

    /// The record of a duplicate that came after its journey's end.
    pub(super) fn duplicate(&self, again: &Again) -> DuplicateRecord {
        let shape = &self.shapes[usize::from(again.kind)];
        let repeat = Repeat::of(again);
        DuplicateRecord {
            id: again.journey.0,
            duplicate: self.instant(shape, &repeat),
            message: self.message_again(shape, &repeat),
        }
    }

    fn relative(&self, instant_ns: u64) -> u64 {
        instant_ns.saturating_sub(self.start_ns)
    }

    fn instant(&self, shape: &Shape, repeat: &Repeat) -> DuplicateInstant {
        DuplicateInstant {
            stage: shape.stage(repeat.stage).to_owned(),
            kind: duplicate_name(repeat.how).to_owned(),
            seen_ns: self.relative(repeat.stamp_ns),
        }
    }

    /// What the taps hold of the journey's messages.
    fn messages(
        &self,
        finished: &Finished,
        shape: &Shape,
        repeats: &Repeats,
    ) -> Vec<MessageSample> {
        if self.rings.is_empty() {
            return Vec::new();
        }
        let stages = shape.stages.iter().zip(&finished.stage_ns);
        let reached = stages.filter(|(_, seen_ns)| **seen_ns > 0);
        let first = reached
            .filter_map(|(stage, &seen_ns)| self.message((stage.channel?, &stage.name), seen_ns));
        let again = repeats.listed.iter().filter_map(|repeat| self.message_again(shape, repeat));
        first.chain(again).collect()
    }

    fn message_again(&self, shape: &Shape, repeat: &Repeat) -> Option<MessageSample> {
        self.message((usize::from(repeat.channel), shape.stage(repeat.stage)), repeat.stamp_ns)
    }

    /// The message that a channel's tap saw at this instant; `None` where no tap holds any.
    fn message(&self, (channel, stage): (usize, &str), seen_ns: u64) -> Option<MessageSample> {
        let ring = self.rings.get(channel)?;
        let head = ring.find(seen_ns);
        Some(MessageSample { stage: stage.to_owned(), seen_ns: self.relative(seen_ns), head })
    }

    fn steps(&self, finished: &Finished, shape: &Shape) -> Vec<StepInstant> {
        if shape.steps.is_empty() {
            return Vec::new();
        }
        let relative = |instant_ns: u64| self.relative(instant_ns);
        let spans =
            std::iter::once((shape.first_step, finished.t1_ns, finished.first_step_ended_ns))
                .chain(
                    finished
                        .later_steps
                        .iter()
                        .map(|span| (usize::from(span.step), span.began_ns, span.ended_ns)),
                );
        let last = finished.later_steps.len();
        let status = |at: usize, step: usize, is_ended: bool| match finished.reason {
            Some(Reason::Root | Reason::FollowUp) if at == last => {
                finished.refusal.as_ref().and_then(|refusal| refusal.status)
            }
            // Ended otherwise than by its answer.
            Some(Reason::KeyReused | Reason::NoRoom) if at == last => None,
            _ => shape.steps.get(step).filter(|_| is_ended).and_then(|step| step.status),
        };
        spans
            .enumerate()
            .map(|(at, (step, began_ns, ended_ns))| StepInstant {
                name: shape.step(step),
                began_ns: relative(began_ns),
                ended_ns: ended_ns.map(relative),
                status: status(at, step, ended_ns.is_some()),
            })
            .collect()
    }
}

impl StepShape {
    fn of(step: &Step) -> Self {
        let asked = step.expect.iter().find_map(|check| match (&check.selector, &check.test) {
            (Selector::Status, Test::Equals(value)) => value.as_u64(),
            _ => None,
        });
        let status = asked.and_then(|status| u16::try_from(status).ok());
        Self { name: step.name.as_str().into(), status }
    }
}

impl StageShape {
    fn of(stage: &sojourn_plan::Stage) -> Self {
        Self {
            name: stage.name.as_str().into(),
            channel: match &stage.source {
                StageSource::Event { channel, .. } => Some(*channel),
                StageSource::Poll(_) => None,
            },
            is_required: stage.kind == StageKind::Required,
        }
    }
}

impl Shape {
    fn trace_id(&self, finished: &Finished) -> Option<TraceId> {
        self.trace.map(|seed| seed.id(finished.journey))
    }

    fn stage(&self, at: u8) -> &str {
        self.stages.get(usize::from(at)).map_or("?", |stage| &stage.name)
    }

    /// Why it did not complete, in words; `None` when it did.
    fn reason(&self, finished: &Finished) -> Option<String> {
        let said =
            finished.refusal.as_ref().map_or_else(String::new, |it| format!(": {}", it.words));
        let words = match (finished.class, finished.reason) {
            (FinishClass::Completed | FinishClass::Late, _) => return None,
            (_, Some(Reason::Stage(at))) => match &finished.said {
                Some(said) => format!("stage {} was reached: {said}", self.stage(at)),
                None => format!("stage {} was reached", self.stage(at)),
            },
            (_, Some(Reason::Check(at))) => {
                format!("a check of stage {} did not hold", self.stage(at))
            }
            (_, Some(Reason::FollowUp)) => {
                format!("step {} failed{said}", self.step_begun_last(finished))
            }
            (_, Some(Reason::Root)) => {
                format!("step {} was refused or not answered{said}", self.step_begun_last(finished))
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
        let unseen =
            self.stages.iter().enumerate().filter(|(at, stage)| stage.is_required && !is_seen(*at));
        let mut missing: Vec<String> = unseen
            .map(|(at, stage)| format!("stage {}{}", stage.name, come(finished, at)))
            .collect();
        for group in self.groups.iter().filter(|group| !group.iter().any(|&at| is_seen(at))) {
            let names: Vec<&str> = group.iter().map(|&at| &*self.stages[at].name).collect();
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
        self.steps.get(number).map_or_else(String::new, |step| step.name.to_string())
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

/// A kind of duplicate as run files have it.
fn duplicate_name(how: DuplicateKind) -> &'static str {
    match how {
        DuplicateKind::Redelivery => "redelivery",
        DuplicateKind::Republication => "republication",
        DuplicateKind::Unknown => "unknown",
    }
}
