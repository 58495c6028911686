//! Reading of what a run has counted: the whole run's store beside that of the last interval.

use std::collections::BTreeMap;

use sojourn_metrics::{Distribution, Histogram, SeriesKey, SeriesPhase, Snapshot, Store, names};

use super::{Counted, Frame, Spread};

/// Both phases of a journey's series.
const PHASES: [SeriesPhase; 2] = [SeriesPhase::WarmUp, SeriesPhase::Steady];

/// What the run has counted so far, and in the last interval.
pub(super) struct Lookup<'a> {
    pub(super) store: &'a Store,
    pub(super) window: &'a Store,
    /// The phase that figures "so far" are of.
    pub(super) phase: SeriesPhase,
    /// Length of the interval, seconds; zero: nothing is per second.
    pub(super) interval_s: f64,
}

impl Lookup<'_> {
    /// A counter of both phases so far.
    pub(super) fn count(&self, metric: &str, tags: &[(&str, &str)]) -> u64 {
        count(self.store, metric, tags)
    }

    /// The same of the interval.
    pub(super) fn recent(&self, metric: &str, tags: &[(&str, &str)]) -> u64 {
        count(self.window, metric, tags)
    }

    /// The same per second.
    pub(super) fn per_s(&self, metric: &str, tags: &[(&str, &str)]) -> f64 {
        self.each_s(self.recent(metric, tags))
    }

    /// So many of the interval, per second.
    pub(super) fn each_s(&self, count: u64) -> f64 {
        if self.interval_s > 0.0 { count as f64 / self.interval_s } else { 0.0 }
    }

    /// Arrivals due and journeys started in the interval, poisoned ones too, per second.
    pub(super) fn arrivals_per_s(&self) -> (f64, f64) {
        let per_s = |metric| self.each_s(total(self.window, metric));
        (per_s(names::JOURNEYS_SCHEDULED), per_s(names::JOURNEYS_STARTED))
    }

    /// A counter of no phase.
    pub(super) fn whole(&self, metric: &str, tags: &[(&str, &str)]) -> u64 {
        self.store.sum(metric, tags, SeriesPhase::Any)
    }

    /// The last level of a gauge of no phase.
    pub(super) fn level(&self, metric: &str, tags: &[(&str, &str)]) -> Option<f64> {
        let key = SeriesKey::new(metric, tags, SeriesPhase::Any);
        self.store.gauge(&key).map(|(last, _, _)| last)
    }

    /// What values a tag has among a metric's series, in order.
    pub(super) fn values(&self, metric: &str, tag: &str, of: &[(&str, &str)]) -> Vec<String> {
        let mut values: Vec<String> = Vec::new();
        for phase in [SeriesPhase::WarmUp, SeriesPhase::Steady, SeriesPhase::Any] {
            let found = self.store.select(metric, of, phase);
            values.extend(found.filter_map(|(key, _)| key.tag(tag)).map(str::to_owned));
        }
        values.sort_unstable();
        values.dedup();
        values
    }

    /// A counter by the values of a tag, the most frequent first.
    pub(super) fn by(&self, metric: &str, tag: &str, of: &[(&str, &str)]) -> Vec<Counted> {
        let mut counts = by(self.store, metric, tag, of);
        counts.sort_by(|one, other| other.count.cmp(&one.count).then(one.name.cmp(&other.name)));
        if counts.len() > Frame::REASONS_MAX {
            let count = counts.drain(Frame::REASONS_MAX..).map(|counted| counted.count).sum();
            counts.push(Counted { name: "others".to_owned(), count });
        }
        counts
    }

    /// The same of the interval, by name, unbounded.
    pub(super) fn recent_by(&self, metric: &str, tag: &str, of: &[(&str, &str)]) -> Vec<Counted> {
        by(self.window, metric, tag, of)
    }

    /// A journey's duration, of the interval and so far.
    pub(super) fn durations(&self, journey: &str) -> (Spread, Spread) {
        self.spreads(|store, phase| store.journey_durations(Some(journey), phase))
    }

    /// A stage's hops, likewise.
    pub(super) fn hops(&self, journey: &str, stage: &str) -> (Spread, Spread) {
        self.spreads(|store, phase| store.hops(Some(journey), stage, phase))
    }

    /// A trend, likewise.
    pub(super) fn trends(&self, metric: &str, tags: &[(&str, &str)]) -> (Spread, Spread) {
        self.spreads(|store, phase| store.merged(metric, tags, phase).into())
    }

    /// A trend of both phases in the interval.
    pub(super) fn recent_trend(&self, metric: &str) -> Histogram {
        both(|phase| self.window.merged(metric, &[], phase).into()).observed
    }

    fn spreads(&self, of: impl Fn(&Store, SeriesPhase) -> Distribution) -> (Spread, Spread) {
        let recent = both(|phase| of(self.window, phase));
        (spread(&recent), spread(&of(self.store, self.phase)))
    }
}

/// How long the generators' figures of the interval are of, nanoseconds: the mean of them, since
/// each closes its seconds by itself and one may come late with all that it counted meanwhile.
/// Other sources have seconds of their own.
pub(super) fn generators_span_ns(interval: &[Snapshot], generators: u32) -> u64 {
    let theirs = interval.iter().filter(|snapshot| snapshot.source < generators);
    let spans = theirs.map(|snapshot| snapshot.end_ns.saturating_sub(snapshot.start_ns));
    spans.sum::<u64>() / u64::from(generators.max(1))
}

/// A counter of all journeys, poisoned ones too.
fn total(store: &Store, metric: &str) -> u64 {
    let of_phase = |phase| {
        let own = store.sum(metric, &[], phase);
        let poisoned = store.poisoned(metric, None, phase);
        own + poisoned.map(|(key, _)| store.counter(key)).sum::<u64>()
    };
    PHASES.into_iter().map(of_phase).sum()
}

/// A counter of both phases, but for poisoned journeys where none is named.
pub(super) fn count(store: &Store, metric: &str, tags: &[(&str, &str)]) -> u64 {
    PHASES.into_iter().map(|phase| store.sum(metric, tags, phase)).sum()
}

fn by(store: &Store, metric: &str, tag: &str, of: &[(&str, &str)]) -> Vec<Counted> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for phase in [SeriesPhase::WarmUp, SeriesPhase::Steady, SeriesPhase::Any] {
        for (key, _) in store.select(metric, of, phase) {
            *counts.entry(key.tag(tag).unwrap_or_default()).or_default() += store.counter(key);
        }
    }
    let filled = counts.into_iter().filter(|(_, count)| *count > 0);
    filled.map(|(name, count)| Counted { name: name.to_owned(), count }).collect()
}

fn both(of: impl Fn(SeriesPhase) -> Distribution) -> Distribution {
    let mut all = of(SeriesPhase::Steady);
    let warm = of(SeriesPhase::WarmUp);
    all.negative.merge(&warm.negative);
    all.observed.merge(&warm.observed);
    all.lost += warm.lost;
    all
}

fn spread(of: &Distribution) -> Spread {
    let (p50, p99) = (of.quantile(0.5), of.quantile(0.99));
    let is_lost = |figure: Option<f64>| figure.is_some_and(f64::is_infinite);
    let seen = |figure: Option<f64>| figure.filter(|ns| ns.is_finite());
    Spread {
        count: of.count(),
        p50_ns: seen(p50),
        p99_ns: seen(p99),
        p50_is_lost: is_lost(p50),
        p99_is_lost: is_lost(p99),
    }
}
