//! The journeys that are shown whole: the median one, the slowest, every lost, failed, late,
//! duplicated and out-of-order one.

use std::cmp::Reverse;

use sojourn_record::{
    JourneyRecord, JourneyShape, KEPT_AS_ALL, KeptAs, MessageSample, StageInstant,
};

use super::{lookup::Lookup, rfc3339};
use crate::model::{Duplicate, KeptJourney, KeptMessage, OrderViolation, Span, SpanKind};

/// Slowest journeys that are told where the file keeps all and marks none.
const SLOWEST_MAX: usize = 20;

/// The telling ones, each once, under the first role that fits it.
pub(super) fn kept(
    lookup: &Lookup<'_>,
    shape: &JourneyShape,
    p50_ns: Option<u64>,
) -> Vec<KeptJourney> {
    let telling = in_order(lookup, shape, p50_ns).into_iter().filter(|(role, _)| *role != SAMPLE);
    telling.map(|(role, record)| journey(lookup, role, record, shape)).collect()
}

/// All that the file keeps, the telling ones first.
pub(super) fn every(
    lookup: &Lookup<'_>,
    shape: &JourneyShape,
    p50_ns: Option<u64>,
) -> Vec<KeptJourney> {
    let all = in_order(lookup, shape, p50_ns).into_iter();
    all.map(|(role, record)| journey(lookup, role, record, shape)).collect()
}

const SAMPLE: &str = "sample";

/// Whether a role fits a journey.
type Fits = fn(&JourneyRecord, &JourneyShape) -> bool;

/// Every kept journey with its role.
fn in_order<'a>(
    lookup: &Lookup<'a>,
    shape: &JourneyShape,
    p50_ns: Option<u64>,
) -> Vec<(&'static str, &'a JourneyRecord)> {
    let own = lookup.run.journeys.iter().enumerate();
    let own: Vec<(usize, &JourneyRecord)> =
        own.filter(|(_, record)| record.journey == shape.name).collect();
    let complete = || own.iter().copied().filter(|(_, record)| is_complete(record));
    let median =
        p50_ns.and_then(|p50_ns| complete().min_by_key(|(_, it)| duration_ns(it).abs_diff(p50_ns)));
    let mut slowest: Vec<_> =
        complete().filter(|(_, it)| it.is_kept_as(KeptAs::Slowest.name())).collect();
    slowest.sort_by_key(|(_, record)| Reverse(duration_ns(record)));
    if slowest.is_empty() {
        let keeps_all = own.iter().any(|(_, record)| record.kept_as == KEPT_AS_ALL);
        slowest = complete().collect();
        slowest.sort_by_key(|(_, record)| Reverse(duration_ns(record)));
        slowest.truncate(if keeps_all { SLOWEST_MAX } else { 1 });
    }
    let mut is_told = vec![false; lookup.run.journeys.len()];
    let mut told = Vec::with_capacity(own.len());
    let mut tell = |role: &'static str, (at, record): (usize, &'a JourneyRecord)| {
        if !std::mem::replace(&mut is_told[at], true) {
            told.push((role, record));
        }
    };
    median.into_iter().for_each(|it| tell("median", it));
    slowest.into_iter().for_each(|it| tell("slowest", it));
    let roles: [(&str, Fits); 8] = [
        ("lost", |it, _| it.class == "lost"),
        ("failed", |it, _| it.class == "failed"),
        ("failed", |it, _| it.class == "root_failed"),
        ("late", |it, _| it.class == "late"),
        ("duplicated", |it, _| !it.duplicates.is_empty() || it.duplicates_beyond > 0),
        ("out of order", |it, shape| !violations(it, shape).is_empty()),
        ("in flight", |it, _| it.class == "in_flight_at_cutoff"),
        (SAMPLE, |_, _| true),
    ];
    for (role, fits) in roles {
        own.iter().filter(|(_, it)| fits(it, shape)).for_each(|&it| tell(role, it));
    }
    told
}

fn is_complete(record: &JourneyRecord) -> bool {
    matches!(record.class.as_str(), "completed" | "late") && record.phase == "steady"
}

fn duration_ns(record: &JourneyRecord) -> u64 {
    record.end_ns.saturating_sub(record.t0_ns)
}

fn journey(
    lookup: &Lookup<'_>,
    role: &str,
    record: &JourneyRecord,
    shape: &JourneyShape,
) -> KeptJourney {
    let relative = |instant_ns: u64| relative(instant_ns, record.t0_ns);
    let last_seen = record
        .stages
        .iter()
        .filter(|stage| stage.seen_ns.is_some())
        .max_by_key(|stage| stage.seen_ns)
        .map(|stage| stage.name.clone());
    let duplicate = |it: &sojourn_record::DuplicateInstant| Duplicate {
        stage: it.stage.clone(),
        kind: it.kind.clone(),
        at_ns: relative(it.seen_ns),
    };
    let start_unix_ns = lookup.run.identity.start_unix_ns;
    KeptJourney {
        role: role.to_owned(),
        journey: record.journey.clone(),
        poison_of: shape.poison.as_ref().map(|poison| poison.of.clone()),
        id: record.id,
        key: record.key.clone(),
        class: record.class.clone(),
        kept_as: std::iter::once(&record.kept_as).chain(&record.also_kept_as).cloned().collect(),
        phase: record.phase.clone(),
        t0: rfc3339(start_unix_ns.saturating_add(record.t0_ns)),
        t0_ns: record.t0_ns,
        t1_ns: relative(record.t1_ns),
        t2_ns: record.t2_ns.map(relative),
        duration_ns: duration_ns(record),
        spans: spans(record, shape),
        duplicates: record.duplicates.iter().map(duplicate).collect(),
        duplicates_beyond: record.duplicates_beyond,
        order_violations: violations(record, shape),
        last_seen,
        reason: record.reason.clone(),
        label: record.label.clone(),
        trace_id: record.trace_id.clone(),
        messages: record.messages.iter().map(|it| message(it, relative(it.seen_ns))).collect(),
    }
}

/// Steps, then stages.
fn spans(record: &JourneyRecord, shape: &JourneyShape) -> Vec<Span> {
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
        from_ns: record.predecessor_ns(shape, stage).map(relative),
        to_ns: stage.seen_ns.map(relative),
        status: None,
    }));
    spans
}

/// Stages seen before the point that they follow.
fn violations(record: &JourneyRecord, shape: &JourneyShape) -> Vec<OrderViolation> {
    let of = |stage: &StageInstant| {
        let seen_ns = stage.seen_ns?;
        let from_ns = record.predecessor_ns(shape, stage)?;
        (seen_ns < from_ns).then(|| OrderViolation {
            stage: stage.name.clone(),
            hop_ns: relative(seen_ns, from_ns),
        })
    };
    record.stages.iter().filter_map(of).collect()
}

fn message(sample: &MessageSample, at_ns: i64) -> KeptMessage {
    let head = sample.head.clone().unwrap_or_default();
    KeptMessage {
        stage: sample.stage.clone(),
        at_ns,
        is_held: sample.head.is_some(),
        topic: head.topic,
        key: head.key,
        headers: head.headers,
        body: head.body,
        is_text: head.is_text,
        bytes: head.bytes,
    }
}

fn relative(instant_ns: u64, t0_ns: u64) -> i64 {
    let difference = i128::from(instant_ns) - i128::from(t0_ns);
    i64::try_from(difference).unwrap_or(if difference < 0 { i64::MIN } else { i64::MAX })
}
