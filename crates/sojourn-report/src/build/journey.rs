//! A journey's figures and those of its stages.

use sojourn_analysis::{
    backlog::{self, Backlog, Level, Load},
    drain::{self, Completions},
    saturation::Saturation,
    share::{self, Hop},
};
use sojourn_metrics::names;
use sojourn_record::{JourneyShape, StageShape};

use super::{
    batch,
    figures::{bins, distribution, journey_quantiles, signed},
    findings::{self, Findings},
    given_up::{GivenUp, Spans},
    kept, label,
    lookup::Lookup,
    step, timeline,
};
use crate::model::{
    BranchRow, Duplicates, FailureRow, JourneyReport, POINTS_MAX, Quantile, StageRow, TraceCounts,
};

/// The kind of a stage that is one of several alternatives.
pub(super) const BRANCH: &str = "branch";
/// The kind of a stage without which a journey is not complete.
pub(super) const REQUIRED: &str = "required";

pub(super) fn report(lookup: &Lookup<'_>, shape: &JourneyShape) -> JourneyReport {
    let tags = [(names::JOURNEY, shape.name.as_str())];
    let durations = lookup.trend(names::JOURNEY_DURATION, &tags);
    let lost = lookup.steady(names::JOURNEYS_LOST, &tags);
    let quantiles = journey_quantiles(durations, lost, shape.within_ns);
    let stages: Vec<StageRow> =
        shape.stages.iter().map(|stage| stage_row(lookup, &shape.name, stage)).collect();
    let hops: Vec<Hop> = stages
        .iter()
        // What a journey waits for: not the stages it may or must not reach.
        .filter(|stage| stage.kind == REQUIRED)
        .filter_map(|stage| {
            let hop_ns = stage.hop_ns.as_ref()?;
            Some(Hop { name: stage.name.clone(), p50_ns: hop_ns.p50, p95_ns: hop_ns.p95 })
        })
        .collect();
    let mut batches = batch::reports(lookup, shape).into_iter();
    let given_up = GivenUp::of(lookup, shape);
    let Findings { growths, saturation, timers, changes, stalls, correlations } =
        findings::findings(lookup, shape, &given_up);
    let completed_p99_ns = durations.and_then(|durations| durations.quantile(0.99));
    let p99_ns = seen(&quantiles, 0.99).or(completed_p99_ns);
    let backlog =
        backlog(lookup, &shape.name, p99_ns, (saturation.as_ref(), &given_up.in_flight()));
    let oldest_age_ms = lookup.gauge(names::JOURNEYS_OLDEST_AGE_MS, &tags).map(|(_, _, max)| max);
    let shares = share::shares(&hops, seen(&quantiles, 0.5), seen(&quantiles, 0.95));
    JourneyReport {
        name: shape.name.clone(),
        within_ns: shape.within_ns,
        started: lookup.steady(names::JOURNEYS_STARTED, &tags),
        duration_ns: distribution(durations),
        in_flight_max: lookup.gauge(names::JOURNEYS_IN_FLIGHT, &tags).map(|(_, _, max)| max),
        branches: branches(lookup, shape),
        failures: failures(lookup, &shape.name),
        labels: label::report(lookup, shape),
        batch: batches.next(),
        batches_again: batches.collect(),
        steps: shape.steps.iter().map(|name| step::row(lookup, &shape.name, name)).collect(),
        is_of_growing_queue: matches!(backlog, Some(Backlog::Growing { .. })),
        backlog,
        oldest_age_ns_max: oldest_age_ms.map(|ms| (ms * 1e6) as u64),
        growths,
        saturation,
        timers,
        changes,
        stalls,
        correlations,
        drain: (!shape.stages.is_empty()).then(|| drain(lookup, &shape.name)).flatten(),
        timeline: timeline::timeline(lookup, shape).thin(POINTS_MAX),
        kept: kept::kept(lookup, shape, seen(&quantiles, 0.5)),
        quantiles,
        stages,
        shares,
    }
}

/// A quantile that does not fall among the lost.
/// The median of a journey's durations, where it is not among the lost.
pub(super) fn duration_p50_ns(lookup: &Lookup<'_>, shape: &JourneyShape) -> Option<u64> {
    let tags = [(names::JOURNEY, shape.name.as_str())];
    let durations = lookup.trend(names::JOURNEY_DURATION, &tags);
    let lost = lookup.steady(names::JOURNEYS_LOST, &tags);
    seen(&journey_quantiles(durations, lost, shape.within_ns), 0.5)
}

fn seen(quantiles: &[Quantile], q: f64) -> Option<u64> {
    quantiles
        .iter()
        .find(|quantile| quantile.q == q && !quantile.beyond)
        .map(|quantile| quantile.ns)
}

fn stage_row(lookup: &Lookup<'_>, journey: &str, stage: &StageShape) -> StageRow {
    let tags = [(names::JOURNEY, journey), (names::STAGE, stage.name.as_str())];
    let hops = lookup.trend(names::STAGE_HOP, &tags);
    let negative = lookup.trend(names::STAGE_HOP_NEGATIVE, &tags);
    let again = |kind: &str| {
        let [journey, stage] = tags;
        lookup.steady(names::STAGE_DUPLICATES, &[journey, stage, (names::KIND, kind)])
    };
    let duplicates = Duplicates {
        redelivery: again("redelivery"),
        republication: again("republication"),
        unknown: again("unknown"),
    };
    let matched = lookup.steady(names::STAGE_MATCHED, &tags);
    StageRow {
        name: stage.name.clone(),
        on: stage.on.clone(),
        kind: stage.kind.clone(),
        after: stage.after.clone(),
        reached: lookup.steady(names::STAGE_REACHED, &tags),
        hop_ns: signed(hops, negative),
        since_start_ns: distribution(lookup.trend(names::STAGE_SINCE_START, &tags)),
        in_flight_max: matches!(stage.kind.as_str(), REQUIRED | BRANCH)
            .then(|| lookup.gauge(names::STAGE_IN_FLIGHT, &tags))
            .flatten()
            .map(|(_, _, max)| max),
        order_violations: negative.map_or(0, sojourn_metrics::Histogram::count),
        first_member_ns: distribution(lookup.trend(names::STAGE_FIRST_MEMBER, &tags)),
        trace: trace(lookup, tags),
        matched,
        duplicates,
        deliveries_per_event: (matched > 0)
            .then(|| (matched + duplicates.total()) as f64 / matched as f64),
        hop_bins: bins(hops),
        poll_ns: stage.poll_ns,
        poll_requests: stage.poll_ns.map(|_| lookup.whole(names::POLL_REQUESTS, &tags)),
        poll_waited_ns: distribution(lookup.trend_of_run(names::POLL_WAITED, &tags)),
    }
}

/// Matched events by the trace they carry; `None` where none was looked for.
fn trace(lookup: &Lookup<'_>, [journey, stage]: [(&str, &str); 2]) -> Option<TraceCounts> {
    let known = lookup.tag_values(names::STAGE_TRACE, &[journey, stage], names::CONTEXT);
    let count = |context: &str| {
        lookup.steady(names::STAGE_TRACE, &[journey, stage, (names::CONTEXT, context)])
    };
    (!known.is_empty()).then(|| TraceCounts {
        own: count("own"),
        other: count("other"),
        none: count("none"),
    })
}

/// The alternatives of a journey.
fn branches(lookup: &Lookup<'_>, shape: &JourneyShape) -> Vec<BranchRow> {
    let of = (names::JOURNEY, shape.name.as_str());
    let complete = lookup.steady(names::JOURNEYS_COMPLETED, &[of])
        + lookup.steady(names::JOURNEYS_LATE, &[of]);
    let row = |stage: &StageShape| {
        let tags = [of, (names::STAGE, stage.name.as_str())];
        let durations = lookup.trend(names::BRANCH_DURATION, &tags);
        let journeys = durations.map_or(0, sojourn_metrics::Histogram::count);
        BranchRow {
            stage: stage.name.clone(),
            journeys,
            ratio: (complete > 0).then(|| journeys as f64 / complete as f64),
            duration_ns: distribution(durations),
            second: lookup.steady(names::STAGE_SECOND_BRANCH, &tags),
        }
    };
    shape.stages.iter().filter(|stage| stage.kind == BRANCH).map(row).collect()
}

/// Failed journeys by what failed them and the system's words for it, the commonest first.
fn failures(lookup: &Lookup<'_>, journey: &str) -> Vec<FailureRow> {
    let of = (names::JOURNEY, journey);
    let mut rows = Vec::new();
    for what in lookup.tag_values(names::JOURNEYS_FAILED_BY, &[of], names::WHAT) {
        let by = (names::WHAT, what);
        for reason in lookup.tag_values(names::JOURNEYS_FAILED_BY, &[of, by], names::REASON) {
            let tags = [of, by, (names::REASON, reason)];
            let count = lookup.steady(names::JOURNEYS_FAILED_BY, &tags);
            if count > 0 {
                let said = (!reason.is_empty()).then(|| reason.to_owned());
                rows.push(FailureRow { what: what.to_owned(), reason: said, count, fraction: 0.0 });
            }
        }
    }
    let total: u64 = rows.iter().map(|row| row.count).sum();
    rows.iter_mut().for_each(|row| row.fraction = row.count as f64 / total as f64);
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    rows
}

/// `None` when what is in flight was not measured, or nothing arrived. Where journeys last too long
/// to tell a pipeline that fills up from a queue that grows, a stage whose capacity is exhausted
/// tells it, by the slope of those who wait for it.
fn backlog(
    lookup: &Lookup<'_>,
    journey: &str,
    journey_p99_ns: Option<u64>,
    (saturation, given_up): (Option<&Saturation>, &Spans),
) -> Option<Backlog> {
    let of = [(names::JOURNEY, journey)];
    let started = lookup.steady(names::JOURNEYS_STARTED, &of);
    let arrivals_per_s = lookup.per_steady_s(started).filter(|rate| *rate > 0.0)?;
    let levels: Vec<Level> = lookup
        .levels(names::JOURNEYS_IN_FLIGHT, &of)
        .into_iter()
        .zip(&lookup.run.intervals)
        .filter_map(|(level, interval)| {
            let [last, _, _] = level?;
            let value = (last - given_up.at(interval.end_ns)).max(0.0);
            Some(Level { at_ns: interval.end_ns, value })
        })
        .collect();
    if levels.is_empty() {
        return None;
    }
    let load = Load {
        start_ns: 0,
        steady_ns: lookup.steady_start_ns(),
        end_ns: lookup.arrivals_end_ns(),
        arrivals_per_s,
        journey_p99_ns,
    };
    let exhausted = saturation.filter(|found| found.exhausted.is_some());
    Some(match (backlog::judge(&levels, &load), exhausted) {
        (Backlog::Undecided { .. } | Backlog::Sustainable { .. }, Some(found)) => {
            Backlog::Growing { slope: found.slope }
        }
        (judged, _) => judged,
    })
}

/// `None` for a file that was cut off: whether it drained is not known.
fn drain(lookup: &Lookup<'_>, journey: &str) -> Option<drain::Drain> {
    let summary = lookup.run.summary.as_ref()?;
    let metrics = [names::JOURNEYS_COMPLETED, names::JOURNEYS_LATE];
    let completions: Vec<Completions> = lookup
        .counted(&metrics, &[(names::JOURNEY, journey)])
        .into_iter()
        .zip(&lookup.run.intervals)
        .map(|(count, interval)| Completions {
            start_ns: interval.start_ns,
            end_ns: interval.end_ns,
            count,
        })
        .collect();
    Some(drain::drain(summary.arrivals_end_ns, summary.drain_ns, summary.end_ns, &completions))
}
