//! Holding a threshold against what was measured.

use crate::{Distribution, SeriesPhase, Store, names};

use super::{Statistic, Threshold, ThresholdOutcome, subject::Subject};

/// What thresholds need beside the store: figures that are not sums of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ThresholdContext {
    /// Length of the steady phase so far, nanoseconds: what a `rate` is per. Zero: not measured.
    pub steady_ns: u64,
    /// From the last arrival until nothing was in flight, nanoseconds; `None` while or where it
    /// never was.
    pub drain_ns: Option<u64>,
    /// Growth of what is in flight, per second; `None` where it was not measured.
    pub backlog_slope_per_s: Option<f64>,
}

const STEADY: SeriesPhase = SeriesPhase::Steady;

impl Threshold {
    /// Holds it against the steady phase in `store`. What was not measured is no pass: early in a
    /// run that is no reason to abort it yet.
    ///
    /// `lost` does not hold while journeys are in flight at the cutoff: when the count itself would
    /// hold, it is not final and the outcome says "not measured".
    pub fn evaluate(&self, store: &Store, context: &ThresholdContext) -> ThresholdOutcome {
        let figure = Subject::of(&self.subject)
            .and_then(|subject| measure(&subject, self.statistic, store, context));
        let holds = |figure: f64| self.comparison.holds(figure, self.bound);
        let is_final = figure.is_none_or(|figure| !holds(figure)) || !self.awaits_cutoff(store);
        let measured = figure.filter(|_| is_final);
        ThresholdOutcome { threshold: self.clone(), measured, held: measured.is_some_and(holds) }
    }

    /// Whether journeys in flight at the cutoff leave the figure open.
    fn awaits_cutoff(&self, store: &Store) -> bool {
        match Subject::of(&self.subject) {
            Some(Subject::Journeys(names::JOURNEYS_LOST, journey, _)) => {
                let cut_off = names::JOURNEYS_IN_FLIGHT_AT_CUTOFF;
                journeys(store, cut_off, journey.as_deref()) > 0
            }
            Some(Subject::Poison(poison)) => poison.awaits_cutoff(store),
            _ => false,
        }
    }
}

fn measure(
    subject: &Subject,
    statistic: Statistic,
    store: &Store,
    context: &ThresholdContext,
) -> Option<f64> {
    let of = |distribution: Distribution| figure_of(&distribution, statistic, context.steady_ns);
    match subject {
        Subject::Journey(name) => of(store.journey_durations(Some(name), STEADY)),
        Subject::Hop(name) => {
            let (journey, stage) = journey_and(store, names::STAGE_HOP, names::STAGE, name)
                .or_else(|| journey_and(store, names::STAGE_HOP_NEGATIVE, names::STAGE, name))?;
            of(store.hops(journey, stage, STEADY))
        }
        Subject::Trend(metric, tag, name) => {
            let (journey, own) = journey_and(store, metric, tag, name)?;
            of(store.merged(metric, &tags(journey, tag, own), STEADY).into())
        }
        Subject::Steps(metric) => of(store.merged(metric, &[], STEADY).into()),
        Subject::Lag => of(store.merged(names::LAG, &[], STEADY).into()),
        Subject::Journeys(metric, journey, whole) => {
            let count = journeys(store, metric, journey.as_deref());
            match whole {
                Some(whole) => share(count, journeys(store, whole, journey.as_deref())),
                None => Some(count as f64),
            }
        }
        Subject::Named(metric, tag, name) => Some(named(store, metric, tag, name) as f64),
        Subject::BranchRatio(name) => {
            let metric = names::BRANCH_DURATION;
            let (journey, own) = journey_and(store, metric, names::STAGE, name)?;
            let tags = tags(journey, names::STAGE, own);
            let taken = store.select(metric, &tags, STEADY).next()?.0;
            let all = journey.or_else(|| taken.tag(names::JOURNEY));
            let completed = journeys(store, names::JOURNEYS_COMPLETED, all)
                + journeys(store, names::JOURNEYS_LATE, all);
            let taken: Distribution = store.merged(metric, &tags, STEADY).into();
            share(taken.samples(), completed)
        }
        Subject::Deliveries(name) => {
            let matched = named(store, names::STAGE_MATCHED, names::STAGE, name);
            let again = named(store, names::STAGE_DUPLICATES, names::STAGE, name);
            share(matched + again, matched)
        }
        Subject::Events(metric) => Some(store.sum(metric, &[], SeriesPhase::Any) as f64),
        Subject::ErrorsRate(step) => share(
            requests(store, names::STEP_FAILED, step.as_deref()),
            requests(store, names::STEP_REQUESTS, step.as_deref()),
        ),
        Subject::ErrorsCount(step) => {
            Some(requests(store, names::STEP_FAILED, step.as_deref()) as f64)
        }
        Subject::Poison(poison) if poison.is_value() => poison.value(store),
        Subject::Poison(poison) => of(poison.containment(store)),
        Subject::Drain => context.drain_ns.map(|ns| ns as f64),
        Subject::BacklogSlope => context.backlog_slope_per_s,
        Subject::Violations(name) => {
            let tags = [(names::LIMIT, name.as_str())];
            let metric = names::LIMIT_VIOLATIONS;
            let counted = store.sum(names::LIMIT_COUNTED, &tags, SeriesPhase::Any);
            (counted > 0).then(|| store.sum(metric, &tags, SeriesPhase::Any) as f64)
        }
    }
}

fn figure_of(of: &Distribution, statistic: Statistic, steady_ns: u64) -> Option<f64> {
    match statistic {
        Statistic::Quantile(q) => of.quantile(q),
        Statistic::Mean => of.mean(),
        Statistic::Max => of.max(),
        Statistic::Min => of.min(),
        Statistic::Stddev => of.stddev(),
        Statistic::Rate if steady_ns == 0 => None,
        Statistic::Rate => Some(of.samples() as f64 * 1e9 / steady_ns as f64),
        Statistic::Count => Some(of.samples() as f64),
        Statistic::Value => None,
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn journeys(store: &Store, metric: &str, journey: Option<&str>) -> u64 {
    let tag = journey.map(|name| (names::JOURNEY, name));
    store.sum(metric, tag.as_slice(), STEADY)
}

fn requests(store: &Store, metric: &str, step: Option<&str>) -> u64 {
    match step {
        Some(name) => named(store, metric, names::STEP, name),
        None => store.sum(metric, &[], STEADY),
    }
}

fn named(store: &Store, metric: &str, tag: &str, name: &str) -> u64 {
    match journey_and(store, metric, tag, name) {
        Some((journey, own)) => store.sum(metric, &tags(journey, tag, own), STEADY),
        None => 0,
    }
}

fn tags<'a>(journey: Option<&'a str>, tag: &'a str, name: &'a str) -> Vec<(&'a str, &'a str)> {
    let journey = journey.map(|journey| (names::JOURNEY, journey));
    journey.into_iter().chain([(tag, name)]).collect()
}

/// Reads `S` or `J/S`, whichever is a series: names may contain slashes themselves.
fn journey_and<'a>(
    store: &Store,
    metric: &str,
    tag: &str,
    name: &'a str,
) -> Option<(Option<&'a str>, &'a str)> {
    let splits = name.match_indices('/').map(|(at, _)| (Some(&name[..at]), &name[at + 1..]));
    [(None, name)].into_iter().chain(splits).find(|&(journey, own)| {
        let tags = tags(journey, tag, own);
        store.select(metric, &tags, STEADY).next().is_some()
    })
}
