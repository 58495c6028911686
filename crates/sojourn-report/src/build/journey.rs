//! A journey's figures and those of its stages.

use sojourn_analysis::{
    backlog::{self, Level, Load},
    drain::{self, Completions},
    share::{self, Hop},
};
use sojourn_metrics::names;
use sojourn_record::{IntervalRow, JourneyShape, StageShape};

use super::{
    figures::{bins, distribution, journey_quantiles, signed},
    kept,
    lookup::Lookup,
    step, timeline,
};
use crate::model::{Duplicates, JourneyReport, POINTS_MAX, Quantile, StageRow};

/// The kind of a stage without which a journey is not complete.
pub(super) const REQUIRED: &str = "required";

pub(super) fn report(lookup: &Lookup<'_>, shape: &JourneyShape) -> JourneyReport {
    let tags = [("journey", shape.name.as_str())];
    let durations = lookup.trend("journey.duration", &tags);
    let lost = lookup.steady("journeys.lost", &tags);
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
    let shares = share::shares(&hops, seen(&quantiles, 0.5), seen(&quantiles, 0.95));
    JourneyReport {
        name: shape.name.clone(),
        within_ns: shape.within_ns,
        started: lookup.steady("journeys.started", &tags),
        duration_ns: distribution(durations),
        in_flight_max: lookup.gauge("journeys.in_flight", &tags).map(|(_, _, max)| max),
        steps: shape.steps.iter().map(|name| step::row(lookup, &shape.name, name)).collect(),
        backlog: backlog(lookup, &shape.name, seen(&quantiles, 0.99)),
        drain: (!shape.stages.is_empty()).then(|| drain(lookup, &shape.name)).flatten(),
        timeline: timeline::timeline(lookup, shape).thin(POINTS_MAX),
        kept: kept::kept(lookup, shape, seen(&quantiles, 0.5)),
        quantiles,
        stages,
        shares,
    }
}

/// A quantile that does not fall among the lost.
fn seen(quantiles: &[Quantile], q: f64) -> Option<u64> {
    quantiles
        .iter()
        .find(|quantile| quantile.q == q && !quantile.beyond)
        .map(|quantile| quantile.ns)
}

fn stage_row(lookup: &Lookup<'_>, journey: &str, stage: &StageShape) -> StageRow {
    let tags = [("journey", journey), ("stage", stage.name.as_str())];
    let hops = lookup.trend("stage.hop", &tags);
    let negative = lookup.trend("stage.hop_negative", &tags);
    let again = |kind: &str| {
        let [journey, stage] = tags;
        lookup.steady("stage.duplicates", &[journey, stage, ("kind", kind)])
    };
    StageRow {
        name: stage.name.clone(),
        on: stage.on.clone(),
        kind: stage.kind.clone(),
        after: stage.after.clone(),
        reached: lookup.steady("stage.reached", &tags),
        hop_ns: signed(hops, negative),
        since_start_ns: distribution(lookup.trend("stage.since_start", &tags)),
        in_flight_max: (stage.kind == REQUIRED)
            .then(|| lookup.gauge("stage.in_flight", &tags))
            .flatten()
            .map(|(_, _, max)| max),
        order_violations: negative.map_or(0, sojourn_metrics::Histogram::count),
        duplicates: Duplicates {
            redelivery: again("redelivery"),
            republication: again("republication"),
            unknown: again("unknown"),
        },
        hop_bins: bins(hops),
        poll_ns: stage.poll_ns,
        poll_requests: stage.poll_ns.map(|_| lookup.whole(names::POLL_REQUESTS, &tags)),
        poll_waited_ns: distribution(lookup.trend_of_run(names::POLL_WAITED, &tags)),
    }
}

/// `None` when what is in flight was not measured, or nothing arrived.
fn backlog(
    lookup: &Lookup<'_>,
    journey: &str,
    journey_p99_ns: Option<u64>,
) -> Option<backlog::Backlog> {
    let started = lookup.steady("journeys.started", &[("journey", journey)]);
    let arrivals_per_s = lookup.per_steady_s(started).filter(|rate| *rate > 0.0)?;
    let levels: Vec<Level> = lookup
        .run
        .intervals
        .iter()
        .filter_map(|interval| {
            let row = interval.rows.iter().find(|(key, _)| {
                key.metric == "journeys.in_flight" && key.tag("journey") == Some(journey)
            })?;
            let IntervalRow::Gauge([last, _, _]) = row.1 else {
                return None;
            };
            Some(Level { at_ns: interval.end_ns, value: last })
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
    Some(backlog::judge(&levels, &load))
}

/// `None` for a file that was cut off: whether it drained is not known.
fn drain(lookup: &Lookup<'_>, journey: &str) -> Option<drain::Drain> {
    let summary = lookup.run.summary.as_ref()?;
    let completions: Vec<Completions> = lookup
        .run
        .intervals
        .iter()
        .map(|interval| Completions {
            start_ns: interval.start_ns,
            end_ns: interval.end_ns,
            count: timeline::counted(
                interval,
                &["journeys.completed", "journeys.late"],
                ("journey", journey),
            ),
        })
        .collect();
    Some(drain::drain(summary.arrivals_end_ns, summary.drain_ns, summary.end_ns, &completions))
}
