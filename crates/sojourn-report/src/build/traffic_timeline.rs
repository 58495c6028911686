//! Clients, connections and requests second by second.

use std::collections::BTreeMap;

use sojourn_metrics::names;
use sojourn_record::{Interval, IntervalRow};

use super::lookup::Lookup;
use crate::model::{Statistic, TimeSeries, Timeline};

/// Requests that ended, by status.
pub(crate) const BY_STATUS: &str = "step.requests.by_status";
/// Requests that ended, by tag.
pub(crate) const BY_TAG: &str = "step.requests.by_tag";

/// Statuses, and tags, that have a line of their own; further ones are one together.
const LINES_MAX: usize = 8;
/// The line of those beyond.
const OTHERS: &str = "(others)";

/// Every series over the whole run, not yet thinned.
pub(super) fn timeline(lookup: &Lookup<'_>) -> Timeline {
    let intervals = &lookup.run.intervals;
    let mut series = vec![
        levels(intervals, names::CLIENTS),
        levels(intervals, names::HEALTH_CONNECTIONS),
        counted(intervals, names::HEALTH_CONNECTIONS_OPENED),
        summed(intervals, names::STEP_RECEIVED_BYTES),
        summed(intervals, names::STEP_SENT_BYTES),
    ];
    series.extend(by_tag(intervals, BY_STATUS, names::STATUS));
    series.extend(by_tag(intervals, BY_TAG, names::STEP));
    series.retain(|series| series.values.iter().any(Option::is_some));
    Timeline {
        starts_ns: intervals.iter().map(|interval| interval.start_ns).collect(),
        end_ns: intervals.last().map_or(0, |last| last.end_ns),
        seconds_per_point: 1,
        series,
    }
}

/// Most connections that were begun in one second, per second.
pub(super) fn most_opened_per_s(timeline: &Timeline) -> Option<f64> {
    let opened =
        timeline.find(names::HEALTH_CONNECTIONS_OPENED, "", Statistic::PerSecond)?.values.iter();
    opened.flatten().copied().reduce(f64::max)
}

/// The rows of a metric in an interval, poisoned journeys left out.
fn rows<'a>(
    interval: &'a Interval,
    metric: &'a str,
) -> impl Iterator<Item = (&'a sojourn_metrics::SeriesKey, &'a IntervalRow)> {
    let is_own = |key: &sojourn_metrics::SeriesKey| {
        key.tag(names::JOURNEY).and_then(names::poison_of).is_none()
    };
    let all = interval.rows.iter().filter(move |(key, _)| key.metric == metric && is_own(key));
    all.map(|(key, row)| (key, row))
}

/// The highest levels of a gauge, added up over generators.
fn levels(intervals: &[Interval], metric: &str) -> TimeSeries {
    let level = |interval: &Interval| {
        let highest = rows(interval, metric).filter_map(|(_, row)| match row {
            IntervalRow::Gauge([_, _, max]) => Some(*max),
            _ => None,
        });
        highest.reduce(|sum, level| sum + level)
    };
    series(metric, "", Statistic::Max, intervals.iter().map(level).collect())
}

/// What counters added, per second; a second without any is zero where the metric is known.
fn counted(intervals: &[Interval], metric: &str) -> TimeSeries {
    let count = |interval: &Interval| rows(interval, metric).map(|(_, row)| count_of(row)).sum();
    per_second(intervals, metric, "", intervals.iter().map(count).collect())
}

/// What a trend's samples add up to, per second.
fn summed(intervals: &[Interval], metric: &str) -> TimeSeries {
    let sum = |interval: &Interval| {
        rows(interval, metric)
            .map(|(_, row)| match row {
                IntervalRow::Trend { sum, .. } => *sum as f64,
                _ => 0.0,
            })
            .sum()
    };
    per_second(intervals, metric, "", intervals.iter().map(sum).collect())
}

/// Requests per second by the values of a tag, those with most requests first.
fn by_tag(intervals: &[Interval], metric: &str, tag: &str) -> Vec<TimeSeries> {
    let mut totals: BTreeMap<&str, f64> = BTreeMap::new();
    for (key, row) in intervals.iter().flat_map(|it| rows(it, names::STEP_REQUESTS)) {
        *totals.entry(key.tag(tag).unwrap_or_default()).or_default() += count_of(row);
    }
    let mut ranked: Vec<(&str, f64)> = totals.into_iter().collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    let own = if ranked.len() > LINES_MAX { LINES_MAX - 1 } else { ranked.len() };
    let mut names: Vec<&str> = ranked[..own].iter().map(|(name, _)| *name).collect();
    let mut columns = vec![vec![0.0; intervals.len()]; own + usize::from(own < ranked.len())];
    for (at, interval) in intervals.iter().enumerate() {
        for (key, row) in rows(interval, names::STEP_REQUESTS) {
            let value = key.tag(tag).unwrap_or_default();
            let column = names.iter().position(|name| *name == value).unwrap_or(own);
            columns[column][at] += count_of(row);
        }
    }
    if columns.len() > own {
        names.push(OTHERS);
    }
    let lines = names.into_iter().zip(columns);
    lines.map(|(name, column)| per_second(intervals, metric, name, column)).collect()
}

fn count_of(row: &IntervalRow) -> f64 {
    match row {
        IntervalRow::Counter(count) => *count as f64,
        _ => 0.0,
    }
}

/// Amounts of intervals as rates; all of nothing is no series.
fn per_second(intervals: &[Interval], metric: &str, of: &str, amounts: Vec<f64>) -> TimeSeries {
    let has_any = amounts.iter().any(|amount| *amount > 0.0);
    let rates = amounts.into_iter().zip(intervals).map(|(amount, interval)| {
        let seconds = interval.end_ns.saturating_sub(interval.start_ns) as f64 / 1e9;
        (has_any && seconds > 0.0).then(|| amount / seconds)
    });
    series(metric, of, Statistic::PerSecond, rates.collect())
}

fn series(metric: &str, of: &str, statistic: Statistic, values: Vec<Option<f64>>) -> TimeSeries {
    TimeSeries { metric: metric.to_owned(), of: of.to_owned(), statistic, values }
}
