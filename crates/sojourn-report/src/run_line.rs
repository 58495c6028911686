//! A whole run in one line, for tables of several runs.

use serde::Serialize;
use sojourn_analysis::share;
use sojourn_metrics::{SeriesKey, names};
use sojourn_record::{Interval, IntervalRow, RunFile};

use crate::model::{JourneyReport, Outcome, ReportModel, ResourceReport};

const SECOND_NS: u64 = 1_000_000_000;
const MILLISECOND_NS: u64 = 1_000_000;

/// A run's headline figures: those of the steady phase, of all its journeys but the poisoned ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunLine {
    /// Which run.
    pub run_id: String,
    /// How it went.
    pub outcome: Outcome,
    /// Why, in one sentence, without a full stop.
    pub headline: String,
    /// Length of the steady phase.
    pub steady_ns: u64,
    /// Journeys started.
    pub started: u64,
    /// The same per second.
    pub arrivals_per_s: f64,
    /// Journeys completed per second, whenever they had started; late ones too.
    pub completed_per_s: f64,
    /// Mean duration of the journeys seen complete.
    pub mean_ns: Option<f64>,
    /// Median duration of the slowest kind of journey; `None` when it falls among lost ones.
    pub p50_ns: Option<u64>,
    /// Its 95th percentile.
    pub p95_ns: Option<u64>,
    /// Its 99th percentile.
    pub p99_ns: Option<u64>,
    /// Most journeys in flight at the end of a second.
    pub in_flight_max: Option<f64>,
    /// Journeys lost.
    pub lost: u64,
    /// Journeys still in flight when observation ended.
    pub in_flight_at_cutoff: u64,
    /// Journeys that failed, at the root or later.
    pub failed: u64,
    /// Where the time went, in one sentence; `None` where no hop stands out.
    pub bottleneck: Option<String>,
    /// The system's own resources, where any were read.
    pub resources: Vec<ResourceReport>,
    /// The run file, where it was kept.
    pub run_file: Option<String>,
}

impl RunLine {
    /// The line of a run. `run_file` is where it was kept.
    pub fn new(run: &RunFile, model: &ReportModel, run_file: Option<String>) -> Self {
        let counts = &model.ledger.journeys_total.steady;
        let seconds = model.identity.steady_ns as f64 / 1e9;
        let per_s = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
        let slowest = slowest(model);
        let quantile = |q: f64| {
            let quantiles = slowest.iter().flat_map(|journey| &journey.quantiles);
            quantiles.filter(|it| it.q == q && !it.beyond).map(|it| it.ns).next()
        };
        Self {
            run_id: model.identity.run_id.clone(),
            outcome: model.verdict.outcome,
            headline: model.verdict.headline.clone(),
            steady_ns: model.identity.steady_ns,
            started: counts.started,
            arrivals_per_s: per_s(counts.started),
            completed_per_s: completed_per_s(run, model),
            mean_ns: mean_ns(model),
            p50_ns: quantile(0.5),
            p95_ns: quantile(0.95),
            p99_ns: quantile(0.99),
            in_flight_max: levels(run, model, names::JOURNEYS_IN_FLIGHT, |_| true)
                .into_iter()
                .reduce(f64::max)
                .map(f64::round),
            lost: counts.lost,
            in_flight_at_cutoff: counts.in_flight_at_cutoff,
            failed: counts.failed + counts.root_failed,
            bottleneck: slowest
                .zip(quantile(0.5))
                .and_then(|(journey, p50_ns)| share::sentence(&journey.shares, p50_ns)),
            resources: model.resources.clone(),
            run_file,
        }
    }
}

impl RunLine {
    /// The line of a run that could not be made.
    pub fn unmade(outcome: Outcome, headline: String) -> Self {
        Self {
            run_id: String::new(),
            outcome,
            headline,
            steady_ns: 0,
            started: 0,
            arrivals_per_s: 0.0,
            completed_per_s: 0.0,
            mean_ns: None,
            p50_ns: None,
            p95_ns: None,
            p99_ns: None,
            in_flight_max: None,
            lost: 0,
            in_flight_at_cutoff: 0,
            failed: 0,
            bottleneck: None,
            resources: Vec::new(),
            run_file: None,
        }
    }
}

/// The kind of journey with the longest median.
fn slowest(model: &ReportModel) -> Option<&JourneyReport> {
    let median = |journey: &&JourneyReport| journey.quantiles.first().map(|first| first.ns);
    model.journeys.iter().filter(|journey| median(journey).is_some()).max_by_key(median)
}

fn mean_ns(model: &ReportModel) -> Option<f64> {
    let durations = model.journeys.iter().filter_map(|journey| journey.duration_ns.as_ref());
    let (sum, count) =
        durations.fold((0.0, 0), |(sum, count), it| (sum + it.sum, count + it.count));
    (count > 0).then(|| sum / count as f64)
}

/// Whole intervals within the steady phase, as it was.
fn steady<'a>(run: &'a RunFile, model: &ReportModel) -> impl Iterator<Item = &'a Interval> {
    let from_ns = model.identity.warm_up_ns;
    let until_ns = from_ns.saturating_add(model.identity.steady_ns);
    let slack_ns = 50 * MILLISECOND_NS;
    run.intervals.iter().filter(move |it| {
        it.start_ns.saturating_add(slack_ns) >= from_ns
            && it.end_ns <= until_ns.saturating_add(slack_ns)
    })
}

fn completed_per_s(run: &RunFile, model: &ReportModel) -> f64 {
    let done = [names::JOURNEYS_COMPLETED, names::JOURNEYS_LATE];
    let (mut count, mut ns) = (0, 0);
    for interval in steady(run, model) {
        ns += interval.end_ns.saturating_sub(interval.start_ns);
        for (key, row) in &interval.rows {
            if let IntervalRow::Counter(n) = row
                && done.contains(&key.metric.as_str())
            {
                count += n;
            }
        }
    }
    if ns == 0 { 0.0 } else { count as f64 * 1e9 / ns as f64 }
}

/// The level of a gauge at the start of the steady phase and at the end of each of its whole
/// seconds, all its series of journeys without poison that `is_it` takes added up. Intervals end a
/// little late on a busy machine: the level at an instant between two of their ends lies on the
/// straight line between them.
pub(crate) fn levels(
    run: &RunFile,
    model: &ReportModel,
    metric: &str,
    is_it: impl Fn(&SeriesKey) -> bool,
) -> Vec<f64> {
    let is_healthy = |key: &SeriesKey| {
        key.tag(names::JOURNEY).is_none_or(|name| names::poison_of(name).is_none())
    };
    let level = |interval: &Interval| {
        let rows = interval
            .rows
            .iter()
            .filter(|(key, _)| key.metric == metric && is_healthy(key) && is_it(key));
        rows.filter_map(|(_, row)| match row {
            IntervalRow::Gauge([last, _, _]) => Some(*last),
            _ => None,
        })
        .reduce(|sum, last| sum + last)
    };
    let known: Vec<(u64, f64)> = std::iter::once((0, 0.0))
        .chain(run.intervals.iter().filter_map(|it| Some((it.end_ns, level(it)?))))
        .collect();
    if known.len() == 1 {
        return Vec::new();
    }
    let from_ns = model.identity.warm_up_ns;
    // An end that rounding put a hair before its second still is one.
    let seconds = model.identity.steady_ns.saturating_add(MILLISECOND_NS) / SECOND_NS;
    (0..=seconds).map(|second| at(&known, from_ns + second * SECOND_NS)).collect()
}

/// The level at an instant, of levels at ascending instants.
fn at(known: &[(u64, f64)], instant_ns: u64) -> f64 {
    let after = known.partition_point(|(ns, _)| *ns < instant_ns);
    match (after.checked_sub(1).and_then(|before| known.get(before)), known.get(after)) {
        (Some((from_ns, from)), Some((to_ns, to))) => {
            let share = (instant_ns - from_ns) as f64 / (to_ns - from_ns).max(1) as f64;
            from + (to - from) * share
        }
        (Some((_, level)), None) | (None, Some((_, level))) => *level,
        (None, None) => 0.0,
    }
}
