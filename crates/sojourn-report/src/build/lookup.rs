//! Series of a run by name, and the spans of time that its figures are of.

use sojourn_metrics::{Histogram, SeriesKey, SeriesPhase};
use sojourn_record::RunFile;

/// Tags of a series: (name, value).
pub(super) type Tags<'a> = &'a [(&'a str, &'a str)];

/// A run, asked for its series.
pub(super) struct Lookup<'a> {
    /// The run.
    pub(super) run: &'a RunFile,
}

impl<'a> Lookup<'a> {
    pub(super) fn new(run: &'a RunFile) -> Self {
        Self { run }
    }

    /// A counter of the steady phase.
    pub(super) fn steady(&self, metric: &str, tags: Tags<'_>) -> u64 {
        self.run.store.counter(&SeriesKey::new(metric, tags, SeriesPhase::Steady))
    }

    /// A counter over all phases.
    pub(super) fn whole(&self, metric: &str, tags: Tags<'_>) -> u64 {
        [SeriesPhase::WarmUp, SeriesPhase::Steady, SeriesPhase::Any]
            .into_iter()
            .map(|phase| self.run.store.counter(&SeriesKey::new(metric, tags, phase)))
            .sum()
    }

    /// A trend of the steady phase.
    pub(super) fn trend(&self, metric: &str, tags: Tags<'_>) -> Option<&'a Histogram> {
        self.trend_of(metric, tags, SeriesPhase::Steady)
    }

    /// A trend that belongs to no journey's phase.
    pub(super) fn trend_of_run(&self, metric: &str, tags: Tags<'_>) -> Option<&'a Histogram> {
        self.trend_of(metric, tags, SeriesPhase::Any)
    }

    fn trend_of(&self, metric: &str, tags: Tags<'_>, phase: SeriesPhase) -> Option<&'a Histogram> {
        let key = SeriesKey::new(metric, tags, phase);
        self.run.store.trend(&key).filter(|histogram| histogram.count() > 0)
    }

    /// A gauge's (last, min, max) over the whole run.
    pub(super) fn gauge(&self, metric: &str, tags: Tags<'_>) -> Option<(f64, f64, f64)> {
        self.run.store.gauge(&SeriesKey::new(metric, tags, SeriesPhase::Any))
    }

    /// The values that a tag takes in a metric's series with these other tags, in order, each once.
    pub(super) fn tag_values(&self, metric: &str, tags: Tags<'_>, tag: &str) -> Vec<&'a str> {
        let mut values: Vec<&str> = self
            .run
            .store
            .series()
            .filter(|(key, _)| {
                key.metric == metric
                    && tags.iter().all(|(name, value)| key.tag(name) == Some(value))
            })
            .filter_map(|(key, _)| key.tag(tag))
            .collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    /// Where the steady phase starts, relative to the run's start.
    pub(super) fn steady_start_ns(&self) -> u64 {
        self.run.identity.phases_ns[0]
    }

    /// The last arrival, or the end of the arrivals as far as a file that was cut off tells.
    pub(super) fn arrivals_end_ns(&self) -> u64 {
        let [warm_up_ns, steady_ns, _] = self.run.identity.phases_ns;
        self.run.summary.as_ref().map_or_else(
            || self.end_ns().min(warm_up_ns.saturating_add(steady_ns)),
            |summary| summary.arrivals_end_ns,
        )
    }

    /// How long the steady phase was. Not up to the last arrival: the gap after it belongs to it
    /// too, or thirty arrivals at one a second would make 1.03/s.
    pub(super) fn steady_ns(&self) -> u64 {
        let summary = self.run.summary.as_ref();
        let end_ns = summary.map_or_else(|| self.arrivals_end_ns(), |summary| summary.load_end_ns);
        end_ns.saturating_sub(self.steady_start_ns())
    }

    /// Where what is known of the run ends.
    pub(super) fn end_ns(&self) -> u64 {
        let last_interval_ns = self.run.intervals.last().map_or(0, |last| last.end_ns);
        self.run.summary.as_ref().map_or(last_interval_ns, |summary| summary.end_ns)
    }

    /// A count of the steady phase per second of it.
    pub(super) fn per_steady_s(&self, count: u64) -> Option<f64> {
        let seconds = self.steady_ns() as f64 / 1e9;
        (seconds > 0.0).then(|| count as f64 / seconds)
    }
}
