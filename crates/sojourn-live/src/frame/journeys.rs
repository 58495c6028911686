//! Journeys, their ledger and their stages.

use sojourn_metrics::{Store, names};
use sojourn_plan::{Journey, Plan, StageKind, StageSource};

use super::{
    Counts, Frame, JourneyFrame, StageFrame,
    lookup::{Lookup, count},
    steps,
};

/// What a plan says of a journey.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    pub(super) name: String,
    pub(super) within_ns: Option<u64>,
    steps: Vec<String>,
    pub(super) stages: Vec<StageShape>,
}

/// What a plan says of a stage.
#[derive(Clone, Debug, Default)]
pub(super) struct StageShape {
    pub(super) name: String,
    channel: Option<String>,
    after: Option<String>,
    is_required: bool,
}

/// The plan's journeys. One without stages and steps of its own, as attacks and sessions have, is
/// known by its figures alone.
pub(super) fn shapes(plan: &Plan) -> Vec<Shape> {
    plan.journeys.iter().map(|journey| shape(plan, journey)).collect()
}

fn shape(plan: &Plan, journey: &Journey) -> Shape {
    let stage = |stage: &sojourn_plan::Stage| StageShape {
        name: stage.name.clone(),
        channel: match &stage.source {
            StageSource::Event { channel, .. } => {
                plan.channels.get(*channel).map(|channel| channel.name.clone())
            }
            StageSource::Poll(_) => None,
        },
        after: stage.after.and_then(|at| journey.stages.get(at)).map(|it| it.name.clone()),
        is_required: matches!(stage.kind, StageKind::Required | StageKind::Branch(_)),
    };
    Shape {
        name: journey.name.clone(),
        within_ns: Some(journey.within_ns),
        steps: journey.steps.iter().map(|step| step.name.clone()).collect(),
        stages: journey.stages.iter().map(stage).collect(),
    }
}

/// Every journey.
pub(super) fn journeys(lookup: &Lookup<'_>, shapes: &[Shape]) -> Vec<JourneyFrame> {
    shapes.iter().take(Frame::JOURNEYS_MAX).map(|shape| journey(lookup, shape)).collect()
}

/// Journeys of the run that no shape is of: those that scripts declare while it goes on.
pub(super) fn unknown(lookup: &Lookup<'_>, known: &[Shape]) -> Vec<Shape> {
    let named = lookup.values(names::JOURNEYS_STARTED, names::JOURNEY, &[]);
    let is_new = |name: &String| known.iter().all(|shape| shape.name != *name);
    named.into_iter().filter(is_new).map(|name| Shape { name, ..Shape::default() }).collect()
}

fn journey(lookup: &Lookup<'_>, shape: &Shape) -> JourneyFrame {
    let name = shape.name.as_str();
    let tags = [(names::JOURNEY, name)];
    let counts = counts(|metric| lookup.count(metric, &tags));
    let (duration, duration_so_far) = lookup.durations(name);
    let (steps, steps_beyond) = steps::steps(lookup, name, &shape.steps);
    let level = lookup.level(names::JOURNEYS_IN_FLIGHT, &tags);
    JourneyFrame {
        name: shape.name.clone(),
        within_ns: shape.within_ns,
        counts,
        started_per_s: lookup.per_s(names::JOURNEYS_STARTED, &tags),
        completed_per_s: lookup.per_s(names::JOURNEYS_COMPLETED, &tags)
            + lookup.per_s(names::JOURNEYS_LATE, &tags),
        in_flight: level.map_or_else(|| counts.in_flight(), |level| level.max(0.0) as u64),
        duration,
        duration_so_far,
        stages: stages(lookup, shape),
        steps,
        steps_beyond,
    }
}

/// Stages of the shape, or, where it has none, those that figures are of.
fn stages(lookup: &Lookup<'_>, shape: &Shape) -> Vec<StageFrame> {
    let name = shape.name.as_str();
    if !shape.stages.is_empty() {
        return shape.stages.iter().map(|declared| stage(lookup, name, declared)).collect();
    }
    let found = lookup.values(names::STAGE_REACHED, names::STAGE, &[(names::JOURNEY, name)]);
    let found = found.into_iter().map(|name| StageShape {
        name,
        is_required: true,
        ..StageShape::default()
    });
    found.map(|found| stage(lookup, name, &found)).collect()
}

fn stage(lookup: &Lookup<'_>, journey: &str, shape: &StageShape) -> StageFrame {
    let tags = [(names::JOURNEY, journey), (names::STAGE, shape.name.as_str())];
    let (hop, hop_so_far) = lookup.hops(journey, &shape.name);
    let waiting = lookup.level(names::STAGE_IN_FLIGHT, &tags);
    StageFrame {
        name: shape.name.clone(),
        channel: shape.channel.clone(),
        after: shape.after.clone(),
        is_required: shape.is_required,
        reached: lookup.count(names::STAGE_REACHED, &tags),
        reached_per_s: lookup.per_s(names::STAGE_REACHED, &tags),
        waiting: waiting.map_or(0, |level| level.max(0.0) as u64),
        hop,
        hop_so_far,
        duplicates: lookup.count(names::STAGE_DUPLICATES, &tags),
    }
}

/// Of all journeys together, but for poisoned ones: those that fail do as they should.
pub(super) fn totals(store: &Store) -> Counts {
    counts(|metric| count(store, metric, &[]))
}

fn counts(of: impl Fn(&str) -> u64) -> Counts {
    Counts {
        scheduled: of(names::JOURNEYS_SCHEDULED),
        missed: of(names::JOURNEYS_MISSED),
        started: of(names::JOURNEYS_STARTED),
        completed: of(names::JOURNEYS_COMPLETED),
        late: of(names::JOURNEYS_LATE),
        lost: of(names::JOURNEYS_LOST),
        failed: of(names::JOURNEYS_FAILED),
        root_failed: of(names::JOURNEYS_ROOT_FAILED),
        in_flight_at_cutoff: of(names::JOURNEYS_IN_FLIGHT_AT_CUTOFF),
    }
}

impl Counts {
    /// Those that ended, however.
    pub fn ended(&self) -> u64 {
        self.completed
            + self.late
            + self.lost
            + self.failed
            + self.root_failed
            + self.in_flight_at_cutoff
    }

    /// Those that have not ended.
    pub fn in_flight(&self) -> u64 {
        self.started.saturating_sub(self.ended())
    }
}
