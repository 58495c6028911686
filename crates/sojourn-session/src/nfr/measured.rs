//! Figures of requirements from a run file.
//!
//! What a filter asks for is added up from series that fit it wholly, never estimated: where a run
//! has no such series the figure is not available.

use sojourn_metrics::{
    Figure, Histogram, SeriesKey, SeriesPhase, ThresholdOutcome, apdex, names, nearest_rank,
};
use sojourn_record::{IntervalRow, RunFile};

use super::{Figures, Filter, Statistic};
use crate::{compare::Comparison, load::OTHERS};

/// Threads that make load are called so, with their numbers.
const GENERATOR: &str = "generator";

/// A run, asked for what requirements are about. Figures are those of the steady phase; sessions
/// have no other.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    run: &'a RunFile,
}

impl<'a> Measured<'a> {
    /// The figures of a run.
    pub fn new(run: &'a RunFile) -> Self {
        Self { run }
    }

    /// Whether the filter's tags can be told: each is the name of some request, and none may be
    /// hidden among those that a session does not tell apart.
    fn knows_tags(&self, filter: &Filter) -> bool {
        let is_known = |tag: &str| {
            let mut names = self.run.identity.journeys.iter().flat_map(|shape| &shape.steps);
            names.any(|name| name == tag)
        };
        filter.tags.is_empty() || (filter.tags.iter().any(|tag| is_known(tag)) && !is_known(OTHERS))
    }

    /// The series of a metric whose step the filter accepts; `None` where its tags can't be told.
    fn of_steps<'f>(
        &'f self,
        metric: &'f str,
        filter: &'f Filter,
    ) -> Option<impl Iterator<Item = (&'f SeriesKey, &'f Figure)>> {
        let series = self.run.store.select(metric, &[], SeriesPhase::Steady);
        let accepted = move |(key, _): &(&SeriesKey, &Figure)| {
            let step = key.tag(names::STEP);
            filter.tags.is_empty() || filter.tags.iter().any(|tag| step == Some(tag.as_str()))
        };
        self.knows_tags(filter).then(|| series.filter(accepted))
    }

    /// Requests of the filter's tags by what came of them, each with its status as it was noted.
    fn requests<'f>(&'f self, filter: &'f Filter) -> Option<impl Iterator<Item = (&'f str, u64)>> {
        let series = self.of_steps(names::STEP_REQUESTS, filter)?;
        Some(series.filter_map(|(key, figure)| match figure {
            Figure::Counter(count) => Some((key.tag(names::STATUS)?, *count)),
            _ => None,
        }))
    }

    /// Merged trends of the filter's tags; `None` where there is no sample.
    fn merged(&self, metric: &str, filter: &Filter) -> Option<Histogram> {
        let mut merged = Histogram::new();
        for (key, figure) in self.of_steps(metric, filter)? {
            let is_accepted = key.tag(names::STATUS).is_none_or(|status| accepts(filter, status));
            if let (Figure::Trend(histogram), true) = (figure, is_accepted) {
                merged.merge(histogram);
            }
        }
        (merged.count() > 0).then_some(merged)
    }

    /// Response times of what the filter accepts; unanswered requests are among them unless it asks
    /// for a status.
    fn responses_ns(&self, filter: &Filter) -> Option<Histogram> {
        let metric = match filter.status.is_empty() {
            true => names::STEP_RESPONSE,
            false => names::STEP_RESPONSE_BY_STATUS,
        };
        self.merged(metric, filter)
    }

    /// Each second's mean use of a core by the threads that make load.
    fn seconds_of_cpu(&self) -> Vec<f64> {
        let of_interval = |rows: &[(SeriesKey, IntervalRow)]| {
            let shares: Vec<f64> = rows.iter().filter_map(cpu_of).collect();
            (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
        };
        let intervals = self.run.intervals.iter();
        intervals.filter_map(|interval| of_interval(&interval.rows)).collect()
    }
}

/// Whether a noted status is one that the filter accepts, and no word.
fn accepts(filter: &Filter, status: &str) -> bool {
    status.parse().is_ok_and(|status| filter.accepts_status(status))
}

/// A generator thread's use of a core in a second.
fn cpu_of((key, row): &(SeriesKey, IntervalRow)) -> Option<f64> {
    let makes_load = || key.tag(names::THREAD).is_some_and(|it| it.starts_with(GENERATOR));
    match row {
        IntervalRow::Gauge([last, ..]) if key.metric == names::HEALTH_CPU && makes_load() => {
            Some(*last)
        }
        _ => None,
    }
}

impl Figures for Measured<'_> {
    /// A file that was cut off, an interruption and a threshold that aborts end a test.
    fn completed(&self) -> Option<bool> {
        let by_itself = self.run.summary.as_ref().map(|summary| {
            let aborted = |it: &ThresholdOutcome| it.threshold.abort && !it.held;
            !summary.interrupted && !summary.thresholds.iter().any(aborted)
        });
        Some(by_itself.unwrap_or(false))
    }

    fn duration_s(&self) -> Option<f64> {
        let last_ns = self.run.intervals.last().map(|interval| interval.end_ns);
        let end_ns = self.run.summary.as_ref().map(|summary| summary.end_ns).or(last_ns);
        end_ns.map(|end_ns| end_ns as f64 / 1e9)
    }

    fn cpu_percent(&self, statistic: Statistic) -> Option<f64> {
        let mut seconds = self.seconds_of_cpu();
        seconds.sort_by(f64::total_cmp);
        let share = match statistic {
            Statistic::Average => {
                (!seconds.is_empty()).then(|| seconds.iter().sum::<f64>() / seconds.len() as f64)
            }
            Statistic::Minimum => seconds.first().copied(),
            Statistic::Maximum => seconds.last().copied(),
            Statistic::Percentile(percent) => {
                let rank = nearest_rank(percent / 100.0, seconds.len() as u64).max(1);
                seconds.get(rank as usize - 1).copied()
            }
        };
        share.map(|share| share * 100.0)
    }

    fn checks(&self, filter: &Filter) -> Option<(u64, u64)> {
        let mut known = None;
        for (key, figure) in self.run.store.select(names::CHECKS, &[], SeriesPhase::Steady) {
            let Some(name) = key.tag(names::CHECK) else { continue };
            if let (Figure::Counter(count), true) = (figure, filter.accepts_check(name)) {
                let (held, not) = known.get_or_insert((0, 0));
                match key.tag(names::RESULT) {
                    Some(names::CHECK_OK) => *held += count,
                    _ => *not += count,
                }
            }
        }
        known
    }

    fn responses(&self, filter: &Filter) -> Option<u64> {
        let accepted = |(status, count): (&str, u64)| accepts(filter, status).then_some(count);
        Some(self.requests(filter)?.filter_map(accepted).sum())
    }

    fn unanswered(&self, filter: &Filter) -> Option<u64> {
        if !filter.status.is_empty() {
            return Some(0);
        }
        let unanswered = |(status, count): (&str, u64)| {
            (status.parse::<u16>().is_err() && status != names::NOT_SENT).then_some(count)
        };
        Some(self.requests(filter)?.filter_map(unanswered).sum())
    }

    fn latency_ms(&self, statistic: Statistic, filter: &Filter) -> Option<f64> {
        let times = self.responses_ns(filter)?;
        let ns = match statistic {
            Statistic::Average => times.mean()?,
            Statistic::Minimum => times.totals().min as f64,
            Statistic::Maximum => times.totals().max as f64,
            Statistic::Percentile(percent) => times.quantile(percent / 100.0)? as f64,
        };
        Some(ns / 1e6)
    }

    fn apdex(&self, satisfied_ms: f64, filter: &Filter) -> Option<f64> {
        let all = self.responses_ns(filter)?.count();
        let good = match filter.status.is_empty() {
            true => self.merged(names::STEP_RESPONSE_OK, filter),
            false => {
                let mut good = filter.clone();
                good.status.push((Comparison::Below, 400));
                self.merged(names::STEP_RESPONSE_BY_STATUS, &good)
            }
        };
        apdex(&good.unwrap_or_default(), all, (satisfied_ms * 1e6) as u64)
    }
}
