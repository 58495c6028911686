//! Series of a run by name, and the spans of time that its figures are of.

use std::collections::HashMap;

use sojourn_metrics::{Histogram, SeriesKey, SeriesPhase, names};
use sojourn_record::{IntervalRow, RunFile};

/// Tags of a series: (name, value).
pub(super) type Tags<'a> = &'a [(&'a str, &'a str)];

/// A run, asked for its series.
pub(super) struct Lookup<'a> {
    /// The run.
    pub(super) run: &'a RunFile,
    /// Of each series, the intervals that it has a row in, in order.
    columns: HashMap<&'a SeriesKey, Column<'a>>,
}

/// A series' rows: (index of the interval, row).
type Column<'a> = Vec<(usize, &'a IntervalRow)>;

/// Journeys' phases: what counts over both counts the whole run.
const PHASES: [SeriesPhase; 3] = [SeriesPhase::WarmUp, SeriesPhase::Steady, SeriesPhase::Any];

/// One interval of a trend, nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrendRow {
    pub(super) count: u64,
    pub(super) min: u64,
    pub(super) p50: u64,
    pub(super) p95: u64,
    pub(super) p99: u64,
}

impl<'a> Lookup<'a> {
    pub(super) fn new(run: &'a RunFile) -> Self {
        // Once over all rows, so that looking a series up costs its own rows and no others.
        let mut columns: HashMap<&SeriesKey, Column<'_>> = HashMap::new();
        for (at, interval) in run.intervals.iter().enumerate() {
            for (key, row) in &interval.rows {
                columns.entry(key).or_default().push((at, row));
            }
        }
        Self { run, columns }
    }

    /// A series' rows of one phase.
    pub(super) fn column(
        &self,
        metric: &str,
        tags: Tags<'_>,
        phase: SeriesPhase,
    ) -> &[(usize, &'a IntervalRow)] {
        let key = SeriesKey::new(metric, tags, phase);
        self.columns.get(&key).map_or(&[], Vec::as_slice)
    }

    /// What a counter added in each interval, over all phases.
    pub(super) fn counted(&self, metrics: &[&str], tags: Tags<'_>) -> Vec<u64> {
        let mut counts = vec![0; self.run.intervals.len()];
        for metric in metrics {
            for phase in PHASES {
                for (at, row) in self.column(metric, tags, phase) {
                    if let IntervalRow::Counter(n) = row {
                        counts[*at] += n;
                    }
                }
            }
        }
        counts
    }

    /// The same of all journeys but the poisoned ones.
    pub(super) fn counted_of_all(&self, metrics: &[&str]) -> Vec<u64> {
        let mut counts = vec![0; self.run.intervals.len()];
        for shape in self.run.identity.journeys.iter().filter(|shape| shape.poison.is_none()) {
            let own = self.counted(metrics, &[(names::JOURNEY, shape.name.as_str())]);
            counts.iter_mut().zip(own).for_each(|(sum, count)| *sum += count);
        }
        counts
    }

    /// A gauge's [last, least, greatest] in each interval.
    pub(super) fn levels(&self, metric: &str, tags: Tags<'_>) -> Vec<Option<[f64; 3]>> {
        let mut levels = vec![None; self.run.intervals.len()];
        for (at, row) in self.column(metric, tags, SeriesPhase::Any) {
            if let IntervalRow::Gauge(level) = row {
                levels[*at] = Some(*level);
            }
        }
        levels
    }

    /// A trend's rows, one per interval. Percentiles of the two phases of one second cannot be
    /// joined: the phase with more samples speaks for it.
    pub(super) fn trends(&self, metric: &str, tags: Tags<'_>) -> Vec<Option<TrendRow>> {
        let mut rows: Vec<Option<TrendRow>> = vec![None; self.run.intervals.len()];
        for phase in PHASES {
            for (at, row) in self.column(metric, tags, phase) {
                let IntervalRow::Trend { count, min, p50, p95, p99, .. } = **row else { continue };
                let most = rows[*at].map_or(0, |row| row.count);
                if count > most {
                    rows[*at] = Some(TrendRow { count, min, p50, p95, p99 });
                }
            }
        }
        rows
    }

    /// A counter of the steady phase.
    pub(super) fn steady(&self, metric: &str, tags: Tags<'_>) -> u64 {
        self.run.store.counter(&SeriesKey::new(metric, tags, SeriesPhase::Steady))
    }

    /// A counter over all phases.
    pub(super) fn whole(&self, metric: &str, tags: Tags<'_>) -> u64 {
        PHASES
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
