//! The journeys that are shown whole: the median one, the slowest, every lost and failed one.

use sojourn_record::{JourneyRecord, JourneyShape, StageInstant};

use super::lookup::Lookup;
use crate::model::{KeptJourney, Span, SpanKind};

pub(super) fn kept(
    lookup: &Lookup<'_>,
    shape: &JourneyShape,
    p50_ns: Option<u64>,
) -> Vec<KeptJourney> {
    let of_journey = || lookup.run.journeys.iter().filter(|record| record.journey == shape.name);
    let complete = || {
        of_journey().filter(|record| {
            matches!(record.class.as_str(), "completed" | "late") && record.phase == "steady"
        })
    };
    let median = p50_ns
        .and_then(|p50_ns| complete().min_by_key(|record| duration_ns(record).abs_diff(p50_ns)));
    let slowest = complete().max_by_key(|record| duration_ns(record));
    let class = |class: &'static str| of_journey().filter(move |record| record.class == class);
    let shown = |role: &str, record: &JourneyRecord| journey(role, record, shape);
    median
        .into_iter()
        .map(|record| shown("median", record))
        .chain(slowest.map(|record| shown("slowest", record)))
        .chain(class("lost").map(|record| shown("lost", record)))
        .chain(class("failed").map(|record| shown("failed", record)))
        .chain(class("root_failed").map(|record| shown("failed", record)))
        .chain(class("in_flight_at_cutoff").map(|record| shown("in flight", record)))
        .collect()
}

fn duration_ns(record: &JourneyRecord) -> u64 {
    record.end_ns.saturating_sub(record.t0_ns)
}

fn journey(role: &str, record: &JourneyRecord, shape: &JourneyShape) -> KeptJourney {
    let relative = |instant_ns: u64| relative(instant_ns, record.t0_ns);
    let mut spans: Vec<Span> = record
        .steps
        .iter()
        .map(|step| Span {
            name: step.name.clone(),
            kind: SpanKind::Step,
            from_ns: Some(relative(step.began_ns)),
            to_ns: step.ended_ns.map(relative),
            status: step.status,
        })
        .collect();
    if spans.is_empty() {
        spans.push(Span {
            name: shape.steps.first().map_or("root", String::as_str).to_owned(),
            kind: SpanKind::Step,
            from_ns: Some(relative(record.t1_ns)),
            to_ns: record.t2_ns.map(relative),
            status: None,
        });
    }
    spans.extend(record.stages.iter().map(|stage| Span {
        name: stage.name.clone(),
        kind: SpanKind::Stage,
        from_ns: predecessor_ns(record, shape, stage).map(relative),
        to_ns: stage.seen_ns.map(relative),
        status: None,
    }));
    let last_seen = record
        .stages
        .iter()
        .filter(|stage| stage.seen_ns.is_some())
        .max_by_key(|stage| stage.seen_ns)
        .map(|stage| stage.name.clone());
    KeptJourney {
        role: role.to_owned(),
        id: record.id,
        key: record.key.clone(),
        class: record.class.clone(),
        phase: record.phase.clone(),
        t0_ns: record.t0_ns,
        duration_ns: duration_ns(record),
        spans,
        last_seen,
        reason: record.reason.clone(),
        trace_id: record.trace_id.clone(),
    }
}

/// The instant that a stage's hop counts from: a stage's first observation, or the beginning of the
/// latest step that had begun when the stage was seen.
pub(super) fn predecessor_ns(
    record: &JourneyRecord,
    shape: &JourneyShape,
    stage: &StageInstant,
) -> Option<u64> {
    let declared = shape.stages.iter().find(|declared| declared.name == stage.name)?;
    if let Some(before) = record.stages.iter().find(|seen| seen.name == declared.after) {
        return before.seen_ns;
    }
    let begun = record.steps.iter().map(|step| step.began_ns);
    let before = begun.filter(|&began_ns| stage.seen_ns.is_none_or(|seen_ns| began_ns <= seen_ns));
    Some(before.max().unwrap_or(record.t1_ns))
}

fn relative(instant_ns: u64, t0_ns: u64) -> i64 {
    let difference = i128::from(instant_ns) - i128::from(t0_ns);
    i64::try_from(difference).unwrap_or(if difference < 0 { i64::MIN } else { i64::MAX })
}
