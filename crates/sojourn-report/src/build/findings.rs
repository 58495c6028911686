//! What a journey's figures over time show: stages that can't keep up, timers, stalls, changes, and
//! what moves together.

use sojourn_analysis::{
    backlog::Backlog,
    change::{self, Changed, Point},
    correlate::{self, Correlated},
    saturation::{self, Saturation, StageGrowth, StageSecond, StageTimeline, Window},
    stall::{self, Second, Stalled},
    timer::{self, HopSamples, KeptHop, Timer},
};
use sojourn_metrics::names;
use sojourn_record::{JourneyShape, StageShape};

use super::{given_up::GivenUp, journey::REQUIRED, lookup::Lookup, resource, timeline};

/// Kept journeys whose instants are looked at.
const KEPT_MAX: usize = 128;
/// Correlations told of one journey: the strongest.
const CORRELATIONS_MAX: usize = 3;
/// Figures that a hop may move with: of brokers how much, or for how long, something waits; of
/// resources the cores in use and what queries yield.
const MOVING: [&str; 5] =
    [": waiting", ": unacknowledged", ": oldest_age_ms", ": cores", ": value"];

/// All of it.
pub(super) struct Findings {
    pub(super) growths: Vec<StageGrowth>,
    pub(super) saturation: Option<Saturation>,
    pub(super) timers: Vec<Timer>,
    pub(super) changes: Vec<Changed>,
    pub(super) stalls: Vec<Stalled>,
    pub(super) correlations: Vec<Correlated>,
}

pub(super) fn findings(
    lookup: &Lookup<'_>,
    shape: &JourneyShape,
    given_up: &GivenUp<'_>,
) -> Findings {
    let window = Window { from_ns: lookup.steady_start_ns(), to_ns: lookup.arrivals_end_ns() };
    let stages: Vec<StageTimeline> = shape
        .stages
        .iter()
        .filter(|stage| stage.kind == REQUIRED)
        .filter_map(|stage| stage_timeline(lookup, shape, stage, given_up))
        .collect();
    let growths = saturation::growths(&stages, &window);
    let timers = timer::timers(&hops(lookup, shape, &growths));
    let timed: Vec<String> =
        timers.iter().flat_map(|timer| timer.hops.iter().map(|hop| hop.stage.clone())).collect();
    let saturation = saturation::saturation(&stages, &window, &growths, &timed);
    // In a queue that grows every latency does, all the time: there is no moment of change.
    let changes = if saturation.is_some() { Vec::new() } else { changes(lookup, shape, &window) };
    let correlations = correlations(lookup, shape, &window);
    Findings {
        stalls: stalls(lookup, shape, &stages),
        growths,
        saturation,
        timers,
        changes,
        correlations,
    }
}

/// `None` for a stage that counts from a later step: how many came to it is not known.
fn stage_timeline(
    lookup: &Lookup<'_>,
    shape: &JourneyShape,
    stage: &StageShape,
    given_up: &GivenUp<'_>,
) -> Option<StageTimeline> {
    let of = (names::JOURNEY, shape.name.as_str());
    let tags = [of, (names::STAGE, stage.name.as_str())];
    let is_stage = shape.stages.iter().any(|before| before.name == stage.after);
    let entered = if is_stage {
        lookup.counted(&[names::STAGE_REACHED], &[of, (names::STAGE, stage.after.as_str())])
    } else {
        let step = shape.steps.iter().position(|step| *step == stage.after)?;
        (step < shape.root_steps).then(|| lookup.counted(&[names::JOURNEYS_STARTED], &[of]))?
    };
    let left = lookup.counted(&[names::STAGE_REACHED], &tags);
    let levels = lookup.levels(names::STAGE_IN_FLIGHT, &tags);
    let hops = lookup.trends(names::STAGE_HOP, &tags);
    let given_up = given_up.waiting(stage);
    let lost = |interval: &sojourn_record::Interval| given_up.at(interval.end_ns);
    let second = |(at, interval): (usize, &sojourn_record::Interval)| StageSecond {
        start_ns: interval.start_ns,
        end_ns: interval.end_ns,
        entered: entered[at],
        left: left[at],
        waiting: levels[at].map(|[last, _, _]| (last - lost(interval)).max(0.0)),
        waiting_max: levels[at].map(|[_, _, max]| (max - lost(interval)).max(0.0)),
        hop_ns: hops[at].map(|row| [row.min, row.p50, row.p95].map(|ns| ns as f64)),
    };
    Some(StageTimeline {
        stage: stage.name.clone(),
        after: stage.after.clone(),
        seconds: lookup.run.intervals.iter().enumerate().map(second).collect(),
    })
}

/// Hops between events. A stage that is polled waits for our own timer, and who follows it begins
/// at an instant that is not known. Where those who wait grow, hops are as long as the run.
fn hops<'a>(
    lookup: &Lookup<'a>,
    shape: &JourneyShape,
    growths: &[StageGrowth],
) -> Vec<HopSamples<'a>> {
    let is_growing = |name: &str| {
        let growth = growths.iter().find(|growth| growth.stage == name);
        growth.is_some_and(|growth| matches!(growth.backlog, Backlog::Growing { .. }))
    };
    let is_polled =
        |name: &str| shape.stages.iter().any(|stage| stage.name == name && stage.poll_ns.is_some());
    let records: Vec<_> = lookup
        .run
        .journeys
        .iter()
        .filter(|record| {
            record.journey == shape.name
                && record.phase == "steady"
                // The slowest are no random ones.
                && ["sample", "all"].iter().any(|role| record.is_kept_as(role))
                && matches!(record.class.as_str(), "completed" | "late")
        })
        .collect();
    let every = records.len().div_ceil(KEPT_MAX).max(1);
    let of_stage = |stage: &StageShape| {
        let tags = [(names::JOURNEY, shape.name.as_str()), (names::STAGE, stage.name.as_str())];
        let kept = records.iter().step_by(every).filter_map(|record| {
            let seen = record.stages.iter().find(|seen| seen.name == stage.name)?;
            Some(KeptHop {
                t0_ns: record.t0_ns,
                from_ns: record.predecessor_ns(shape, seen)?,
                seen_ns: seen.seen_ns?,
            })
        });
        HopSamples {
            stage: stage.name.clone(),
            hops: lookup.trend(names::STAGE_HOP, &tags),
            kept: kept.collect(),
        }
    };
    let told = shape.stages.iter().filter(|stage| {
        !is_polled(&stage.name) && !is_polled(&stage.after) && !is_growing(&stage.name)
    });
    told.map(of_stage).collect()
}

fn changes(lookup: &Lookup<'_>, shape: &JourneyShape, window: &Window) -> Vec<Changed> {
    let of = (names::JOURNEY, shape.name.as_str());
    let started = lookup.counted(&[names::JOURNEYS_STARTED], &[of]);
    let intervals = &lookup.run.intervals;
    let arrivals_per_s = |from_ns: u64, to_ns: u64| {
        let within = intervals.iter().zip(&started);
        let (count, ns) = within
            .filter(|(interval, _)| interval.start_ns >= from_ns && interval.end_ns <= to_ns)
            .fold((0, 0), |(count, ns), (interval, n)| {
                (count + n, ns + interval.end_ns.saturating_sub(interval.start_ns))
            });
        count as f64 / (ns as f64 / 1e9).max(1e-9)
    };
    let changed = |what: String, metric: &str, tag: (&str, &str)| {
        let rows = lookup.trends(metric, &[of, tag]);
        let points: Vec<Point> = intervals
            .iter()
            .zip(rows)
            .filter(|(it, _)| it.start_ns >= window.from_ns && it.end_ns <= window.to_ns)
            .filter_map(|(it, row)| Some(Point { at_ns: it.start_ns, value: row?.p50 as f64 }))
            .collect();
        let change = change::change(&points)?;
        let before = arrivals_per_s(window.from_ns, change.at_ns);
        let after = arrivals_per_s(change.at_ns, window.to_ns);
        Some(Changed { of: what, change, arrivals_per_s: [before, after] })
    };
    let hops = shape.stages.iter().filter_map(|stage| {
        let what = format!("the hop to {}", stage.name);
        changed(what, names::STAGE_HOP, (names::STAGE, stage.name.as_str()))
    });
    let responses = shape.steps.iter().filter_map(|step| {
        let what = format!("the response of {step}");
        changed(what, names::STEP_RESPONSE, (names::STEP, step))
    });
    hops.chain(responses).collect()
}

/// Of journeys with stages: a request that is not answered shows in its own figures.
fn stalls(lookup: &Lookup<'_>, shape: &JourneyShape, stages: &[StageTimeline]) -> Vec<Stalled> {
    let of = (names::JOURNEY, shape.name.as_str());
    let arrived = lookup.counted(&[names::JOURNEYS_STARTED], &[of]);
    let completed = lookup.counted(&[names::JOURNEYS_COMPLETED, names::JOURNEYS_LATE], &[of]);
    let seconds: Vec<Second> = lookup
        .run
        .intervals
        .iter()
        .zip(arrived.into_iter().zip(completed))
        .map(|(interval, (arrived, completed))| Second {
            start_ns: interval.start_ns,
            end_ns: interval.end_ns,
            arrived,
            completed,
        })
        .collect();
    stall::stalls(&seconds, lookup.arrivals_end_ns())
        .into_iter()
        .map(|stall| Stalled { stage: stall::first_silent(&stall, stages), stall })
        .collect()
}

fn correlations(lookup: &Lookup<'_>, shape: &JourneyShape, window: &Window) -> Vec<Correlated> {
    let leaders: Vec<_> = timeline::backlogs(lookup)
        .chain(resource::timeline(lookup))
        .filter(|series| MOVING.iter().any(|figure| series.of.ends_with(figure)))
        .collect();
    if leaders.is_empty() {
        return Vec::new();
    }
    let is_within: Vec<bool> = lookup
        .run
        .intervals
        .iter()
        .map(|it| it.start_ns >= window.from_ns && it.end_ns <= window.to_ns)
        .collect();
    let only = |values: &[Option<f64>]| -> Vec<Option<f64>> {
        values.iter().zip(&is_within).filter(|(_, is)| **is).map(|(value, _)| *value).collect()
    };
    let mut found: Vec<Correlated> = Vec::new();
    for stage in &shape.stages {
        let tags = [(names::JOURNEY, shape.name.as_str()), (names::STAGE, stage.name.as_str())];
        let rows = lookup.trends(names::STAGE_HOP, &tags);
        let p50: Vec<_> = rows.iter().map(|row| row.map(|row| row.p50 as f64)).collect();
        let hops = only(&p50);
        found.extend(leaders.iter().filter_map(|leader| {
            let correlation = correlate::correlate(&only(&leader.values), &hops)?;
            Some(Correlated { hop: stage.name.clone(), with: leader.of.clone(), correlation })
        }));
    }
    found.sort_by(|a, b| b.correlation.r.abs().total_cmp(&a.correlation.r.abs()));
    found.truncate(CORRELATIONS_MAX);
    found
}
