//! A journey's figures second by second.

use sojourn_metrics::names;
use sojourn_record::JourneyShape;

use super::{
    backlog,
    journey::REQUIRED,
    lookup::{Lookup, Tags, TrendRow},
    resource,
};
use crate::model::{Statistic, TimeSeries, Timeline};

/// Every series of a journey over the whole run, not yet thinned.
pub(super) fn timeline(lookup: &Lookup<'_>, shape: &JourneyShape) -> Timeline {
    let intervals = &lookup.run.intervals;
    let of = (names::JOURNEY, shape.name.as_str());
    let mut series = Vec::new();
    for stage in &shape.stages {
        let tags = [of, (names::STAGE, stage.name.as_str())];
        series.extend(trends(lookup, names::STAGE_HOP, &stage.name, &tags));
        if stage.kind == REQUIRED {
            series.push(level(lookup, names::STAGE_IN_FLIGHT, &stage.name, &tags));
        }
    }
    for step in &shape.steps {
        let tags = [of, (names::STEP, step.as_str())];
        series.extend(trends(lookup, names::STEP_RESPONSE, step, &tags));
    }
    series.push(level(lookup, names::JOURNEYS_IN_FLIGHT, "", &[of]));
    series.push(level(lookup, names::JOURNEYS_OLDEST_AGE_MS, "", &[of]));
    let rates: [(&str, &[&str]); 3] = [
        (names::JOURNEYS_STARTED, &[names::JOURNEYS_STARTED]),
        (names::JOURNEYS_COMPLETED, &[names::JOURNEYS_COMPLETED, names::JOURNEYS_LATE]),
        (
            names::JOURNEYS_FAILED,
            &[names::JOURNEYS_FAILED, names::JOURNEYS_ROOT_FAILED, names::JOURNEYS_LOST],
        ),
    ];
    for (name, metrics) in rates {
        series.push(rate(lookup, name, metrics, &[of]));
    }
    series.extend(backlogs(lookup));
    series.extend(resource::timeline(lookup));
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
pub(super) fn backlogs(lookup: &Lookup<'_>) -> impl Iterator<Item = TimeSeries> {
    backlog::rows(lookup).into_iter().map(|row| {
        let of = format!("{}: {}", row.of, row.figure);
        let tags = [
            (names::CHANNEL, row.channel.as_str()),
            (names::OF, &row.of),
            (names::FIGURE, &row.figure),
        ];
        level(lookup, names::BACKLOG, &of, &tags)
    })
}

/// A trend's p50, p95 and p99.
fn trends(lookup: &Lookup<'_>, metric: &str, of: &str, tags: Tags<'_>) -> [TimeSeries; 3] {
    let rows = lookup.trends(metric, tags);
    let pick = |statistic, figure: fn(TrendRow) -> u64| TimeSeries {
        metric: metric.to_owned(),
        of: of.to_owned(),
        statistic,
        values: rows.iter().map(|row| row.map(|row| figure(row) as f64)).collect(),
    };
    [
        pick(Statistic::P50, |row| row.p50),
        pick(Statistic::P95, |row| row.p95),
        pick(Statistic::P99, |row| row.p99),
    ]
}

/// A gauge's highest level.
fn level(lookup: &Lookup<'_>, metric: &str, of: &str, tags: Tags<'_>) -> TimeSeries {
    let levels = lookup.levels(metric, tags);
    TimeSeries {
        metric: metric.to_owned(),
        of: of.to_owned(),
        statistic: Statistic::Max,
        values: levels.into_iter().map(|level| level.map(|[_, _, max]| max)).collect(),
    }
}

/// What counters added, per second.
fn rate(lookup: &Lookup<'_>, name: &str, metrics: &[&str], tags: Tags<'_>) -> TimeSeries {
    let counts = lookup.counted(metrics, tags);
    let values = counts.iter().zip(&lookup.run.intervals).map(|(count, interval)| {
        let seconds = interval.end_ns.saturating_sub(interval.start_ns) as f64 / 1e9;
        (seconds > 0.0).then(|| *count as f64 / seconds)
    });
    TimeSeries {
        metric: name.to_owned(),
        of: String::new(),
        statistic: Statistic::PerSecond,
        values: values.collect(),
    }
}
