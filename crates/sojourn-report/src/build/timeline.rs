//! A journey's figures second by second.

use sojourn_metrics::{SeriesKey, names};
use sojourn_record::{Interval, IntervalRow, JourneyShape};

use super::{backlog, journey::REQUIRED, lookup::Lookup};
use crate::model::{Statistic, TimeSeries, Timeline};

/// Every series of a journey over the whole run, not yet thinned.
pub(super) fn timeline(lookup: &Lookup<'_>, shape: &JourneyShape) -> Timeline {
    let intervals = &lookup.run.intervals;
    let mut series = Vec::new();
    for stage in &shape.stages {
        let tag = (names::STAGE, stage.name.as_str());
        series.extend(trends(intervals, names::STAGE_HOP, &shape.name, tag));
        if stage.kind == REQUIRED {
            series.push(level(intervals, names::STAGE_IN_FLIGHT, &shape.name, Some(tag)));
        }
    }
    for step in &shape.steps {
        let tag = (names::STEP, step.as_str());
        series.extend(trends(intervals, names::STEP_RESPONSE, &shape.name, tag));
    }
    series.push(level(intervals, names::JOURNEYS_IN_FLIGHT, &shape.name, None));
    let rates: [(&str, &[&str]); 3] = [
        (names::JOURNEYS_STARTED, &[names::JOURNEYS_STARTED]),
        (names::JOURNEYS_COMPLETED, &[names::JOURNEYS_COMPLETED, names::JOURNEYS_LATE]),
        (
            names::JOURNEYS_FAILED,
            &[names::JOURNEYS_FAILED, names::JOURNEYS_ROOT_FAILED, names::JOURNEYS_LOST],
        ),
    ];
    for (name, metrics) in rates {
        series.push(rate(intervals, name, metrics, &shape.name));
    }
    series.extend(backlogs(lookup));
    // A series without a single value has nothing to show.
    series.retain(|series| series.values.iter().any(Option::is_some));
    Timeline {
        starts_ns: intervals.iter().map(|interval| interval.start_ns).collect(),
        end_ns: intervals.last().map_or(0, |last| last.end_ns),
        seconds_per_point: 1,
        series,
    }
}

/// The brokers' backlogs, the same for every journey: (metric, `group: waiting`).
fn backlogs(lookup: &Lookup<'_>) -> impl Iterator<Item = TimeSeries> {
    backlog::rows(lookup).into_iter().map(|row| {
        let own = [row.channel.as_str(), &row.of, &row.figure];
        let values = lookup.run.intervals.iter().map(|interval| {
            interval.rows.iter().find_map(|(key, value)| match value {
                IntervalRow::Gauge([_, _, max])
                    if key.metric == names::BACKLOG && backlog::tags(key) == Some(own) =>
                {
                    Some(*max)
                }
                _ => None,
            })
        });
        TimeSeries {
            metric: names::BACKLOG.to_owned(),
            of: format!("{}: {}", row.of, row.figure),
            statistic: Statistic::Max,
            values: values.collect(),
        }
    })
}

/// What counters of these names and this tag added in an interval, over all phases.
pub(super) fn counted(interval: &Interval, metrics: &[&str], tag: (&str, &str)) -> u64 {
    interval
        .rows
        .iter()
        .filter(|(key, _)| metrics.contains(&key.metric.as_str()) && key.tag(tag.0) == Some(tag.1))
        .map(|(_, row)| match row {
            IntervalRow::Counter(n) => *n,
            _ => 0,
        })
        .sum()
}

/// A trend's p50, p95 and p99. Percentiles of the two phases of one second cannot be joined: the
/// phase with more samples speaks for it.
fn trends(
    intervals: &[Interval],
    metric: &str,
    journey: &str,
    tag: (&str, &str),
) -> [TimeSeries; 3] {
    let rows: Vec<Option<[u64; 4]>> = intervals
        .iter()
        .map(|interval| {
            interval
                .rows
                .iter()
                .filter(|(key, _)| is(key, metric, journey, Some(tag)))
                .filter_map(|(_, row)| match *row {
                    IntervalRow::Trend { count, p50, p95, p99, .. } if count > 0 => {
                        Some([count, p50, p95, p99])
                    }
                    _ => None,
                })
                .max_by_key(|row| row[0])
        })
        .collect();
    let pick = |statistic, column: usize| TimeSeries {
        metric: metric.to_owned(),
        of: tag.1.to_owned(),
        statistic,
        values: rows.iter().map(|row| row.map(|figures| figures[column] as f64)).collect(),
    };
    [pick(Statistic::P50, 1), pick(Statistic::P95, 2), pick(Statistic::P99, 3)]
}

/// A gauge's highest level.
fn level(
    intervals: &[Interval],
    metric: &str,
    journey: &str,
    tag: Option<(&str, &str)>,
) -> TimeSeries {
    let values = intervals.iter().map(|interval| {
        interval.rows.iter().find_map(|(key, row)| match row {
            IntervalRow::Gauge([_, _, max]) if is(key, metric, journey, tag) => Some(*max),
            _ => None,
        })
    });
    TimeSeries {
        metric: metric.to_owned(),
        of: tag.map_or("", |(_, value)| value).to_owned(),
        statistic: Statistic::Max,
        values: values.collect(),
    }
}

/// What counters added, per second.
fn rate(intervals: &[Interval], name: &str, metrics: &[&str], journey: &str) -> TimeSeries {
    let values = intervals.iter().map(|interval| {
        let seconds = interval.end_ns.saturating_sub(interval.start_ns) as f64 / 1e9;
        let count = counted(interval, metrics, (names::JOURNEY, journey));
        (seconds > 0.0).then(|| count as f64 / seconds)
    });
    TimeSeries {
        metric: name.to_owned(),
        of: String::new(),
        statistic: Statistic::PerSecond,
        values: values.collect(),
    }
}

fn is(key: &SeriesKey, metric: &str, journey: &str, tag: Option<(&str, &str)>) -> bool {
    key.metric == metric
        && key.tag(names::JOURNEY) == Some(journey)
        && tag.is_none_or(|(name, value)| key.tag(name) == Some(value))
}
