//! A plan as the ledger sees it.

use sojourn_clock::SECOND_NS;
use sojourn_ledger::{JourneySpec, LedgerSpec, Predecessor, StageKind, StageSpec, TOLD, TraceSeed};
use sojourn_plan::{Expect, Journey, Plan, Stage, Step};

use crate::follow;

/// Journeys in flight at most: with some 200 bytes each, half a gigabyte.
pub(crate) const JOURNEYS_MAX: usize = 2_000_000;
/// Events that wait for their journey at most.
const EARLY_MAX: usize = 500_000;
/// How long an event waits for a further key of its journey, at least.
const EARLY_WAIT_NS: u64 = 10 * SECOND_NS;
/// Members of fan-out stages remembered at most: 16 bytes each, an eighth of a gigabyte.
const MEMBERS_MAX: usize = 8_000_000;
/// Finished journeys remembered at most.
const TOMBSTONES_MAX: usize = 1_000_000;
/// How long a finished journey is remembered, at least.
const TOMBSTONE_TTL_NS_MIN: u64 = 60 * SECOND_NS;

/// The ledger's view of a plan.
pub(crate) fn ledger_spec(plan: &Plan, run_id: &str) -> LedgerSpec {
    let trace = TraceSeed::of(plan.seed, run_id);
    let observed = |journey: &Journey| journey.within_ns.saturating_add(journey.linger_ns);
    // The last answer of a journey, and the key in it, may come a time-out after its end.
    let answered = |journey: &Journey| {
        journey.steps.iter().map(Step::time_max_ns).fold(0, u64::saturating_add)
    };
    let longest_ns = plan.journeys.iter().map(|journey| observed(journey).max(answered(journey)));
    let longest_ns = longest_ns.max();
    LedgerSpec {
        journeys: plan.journeys.iter().map(|journey| journey_spec(journey, trace)).collect(),
        journeys_max: JOURNEYS_MAX,
        early_max: EARLY_MAX,
        tombstones_max: TOMBSTONES_MAX,
        tombstone_ttl_ns: longest_ns.unwrap_or(0).max(TOMBSTONE_TTL_NS_MIN),
        early_wait_ns: early_wait_ns(plan),
        members_max: MEMBERS_MAX,
    }
}

/// How long an event waits for its journey's key: for an answer the root's time-out, and where
/// events yield further keys at least ten seconds. Of journeys that are begun in hindsight only the
/// events wait.
fn early_wait_ns(plan: &Plan) -> u64 {
    if plan.journeys.iter().any(is_begun_in_hindsight) {
        return follow::EARLY_WAIT_NS;
    }
    let root_timeout_ns = |journey: &Journey| {
        let root = journey.steps.iter().filter(|step| step.after.is_none());
        root.map(Step::time_max_ns).fold(0, u64::saturating_add)
    };
    let longest_ns = plan.journeys.iter().map(root_timeout_ns).max();
    let mut stages = plan.journeys.iter().flat_map(|journey| &journey.stages);
    let least_ns = if stages.any(|stage| stage.rekey.is_some()) { EARLY_WAIT_NS } else { 0 };
    longest_ns.unwrap_or(EARLY_WAIT_NS).max(least_ns)
}

/// Whether it has stages, but no step of its own that would begin it.
fn is_begun_in_hindsight(journey: &Journey) -> bool {
    journey.steps.is_empty() && !journey.stages.is_empty()
}

/// The ledger's view of a journey.
pub(crate) fn journey_spec(journey: &Journey, trace: TraceSeed) -> JourneySpec {
    JourneySpec {
        within_ns: journey.within_ns,
        linger_ns: journey.linger_ns,
        stages: (0..journey.stages.len()).map(|index| stage_spec(journey, index)).collect(),
        has_follow_ups: journey.steps.iter().any(|step| step.after.is_some()),
        trace: journey.trace.then_some(trace),
    }
}

fn stage_spec(journey: &Journey, index: usize) -> StageSpec {
    let stage = &journey.stages[index];
    StageSpec {
        kind: match stage.kind {
            sojourn_plan::StageKind::Required => StageKind::Required,
            sojourn_plan::StageKind::Optional => StageKind::Optional,
            sojourn_plan::StageKind::Never => StageKind::Never,
            sojourn_plan::StageKind::Failure => StageKind::Failure,
            sojourn_plan::StageKind::Branch(group) => StageKind::Branch(group),
        },
        after: predecessor(stage),
        expect: match stage.expect {
            Expect::Members(members) => members,
            Expect::Told { .. } => TOLD,
        },
        shared: stage.shared,
        resumes: journey.steps.iter().any(|step| step.after == Some(index)),
    }
}

/// The reader has already put the declared order into `after`.
pub(crate) fn predecessor(stage: &Stage) -> Predecessor {
    stage.after.map_or(Predecessor::Step, |after| Predecessor::Stage(after as u8))
}
