//! Which metrics and thresholds a summary lists, and in which order.

use super::options::TimeUnit;
use super::source::Source;
use super::table::{Cells, cells};
use super::{collation, number};
use crate::metrics::{Account, Contains, Metric, MetricKind, Sink};
use crate::thresholds::{Aggregation, Threshold, Values};

/// A metric that a summary lists.
#[derive(Debug)]
pub(super) struct Listed<'a> {
    pub(super) metric: &'a Metric,
    /// The metric's name, or that of the metric that this is a submetric of.
    pub(super) family: &'a str,
    pub(super) is_submetric: bool,
    /// What stands in the list: its name, or its tags in braces.
    pub(super) label: String,
    sink: Option<&'a Sink>,
}

impl Listed<'_> {
    pub(super) fn cells(&self, source: &Source<'_>) -> Cells {
        match self.sink {
            Some(sink) => cells(source, self.metric, sink),
            None => cells(source, self.metric, &Sink::new(self.metric.kind, false)),
        }
    }
}

/// k6's metrics that have samples or thresholds, or submetrics with thresholds, by name, each
/// followed by its submetrics.
pub(super) fn all<'a>(source: &Source<'a>) -> Vec<Listed<'a>> {
    let has_thresholds = |metric: &Metric| source.has_thresholds(metric.id);
    let mut found = Vec::new();
    for metric in source.registry.iter().filter(|metric| metric.submetric.is_none()) {
        let sink = source.totals.sink(metric.id);
        let mut subs: Vec<_> = source
            .registry
            .submetrics(metric.id)
            .filter(|sub| has_thresholds(sub) || source.totals.sink(sub.id).is_some())
            .collect();
        subs.sort_by(|a, b| collation::compare(&a.name, &b.name));
        let is_asked = sink.is_some() || has_thresholds(metric) || !subs.is_empty();
        if !is_asked || (metric.is_ours && !has_thresholds(metric) && subs.is_empty()) {
            continue;
        }
        found.push(plain(metric, sink));
        found.extend(subs.into_iter().map(|sub| Listed {
            metric: sub,
            family: &metric.name,
            is_submetric: true,
            label: format!("{{ {} }}", suffix(sub)),
            sink: source.totals.sink(sub.id),
        }));
    }
    found.sort_by(|a, b| collation::compare(a.family, b.family));
    found
}

/// The metrics that have samples in a scenario or group, by name.
pub(super) fn of_account<'a>(source: &Source<'a>, account: &'a Account) -> Vec<Listed<'a>> {
    let metrics = source.registry.iter().filter(|metric| !metric.is_ours);
    let with_samples = metrics.filter_map(|m| Some(plain(m, Some(account.sink(m.id)?))));
    let mut found: Vec<_> = with_samples.collect();
    found.sort_by(|a, b| collation::compare(a.family, b.family));
    found
}

fn plain<'a>(metric: &'a Metric, sink: Option<&'a Sink>) -> Listed<'a> {
    let label = metric.name.to_string();
    Listed { metric, family: &metric.name, is_submetric: false, label, sink }
}

fn suffix(metric: &Metric) -> &str {
    metric.submetric.as_ref().map_or("", |submetric| &submetric.suffix)
}

/// A threshold with the value that it looked at.
#[derive(Debug)]
pub(super) struct ThresholdLine<'a> {
    pub(super) ok: bool,
    pub(super) text: &'a str,
    /// What stands before the operator; of `!=` k6 takes the `!` along.
    pub(super) label: String,
    pub(super) value: String,
}

/// All thresholds by metric: the heading, whether it stands below its metric's, and the lines.
pub(super) fn thresholds<'a>(source: &Source<'a>) -> Vec<(String, bool, Vec<ThresholdLine<'a>>)> {
    let mut found: Vec<_> = source.thresholds.iter().filter(|m| !m.thresholds.is_empty()).collect();
    // A submetric stands behind its metric, whatever its braces would sort as.
    let family = |key: &'a str| key.split_once('{').map_or(key, |(name, _)| name);
    found.sort_by(|a, b| {
        collation::compare(family(&a.key), family(&b.key))
            .then_with(|| collation::compare(&a.key, &b.key))
    });
    let lines = found.into_iter().filter_map(|own| {
        let metric = source.registry.get(own.metric)?;
        let parent = metric.submetric.as_ref().map(|submetric| submetric.parent);
        let is_nested = parent.is_some_and(|parent| source.has_thresholds(parent));
        let heading = if is_nested { format!("{{{}}}", suffix(metric)) } else { own.key.clone() };
        let empty = Sink::new(metric.kind, false);
        let sink = source.totals.sink(metric.id).unwrap_or(&empty);
        let values = Values::new(Some(sink), source.elapsed_ns);
        let lines = own.thresholds.iter().map(|t| line(source, metric, &values, t)).collect();
        Some((heading, is_nested, lines))
    });
    lines.collect()
}

fn line<'a>(
    source: &Source<'_>,
    metric: &Metric,
    values: &Values<'_>,
    threshold: &'a Threshold,
) -> ThresholdLine<'a> {
    let value = values.of(threshold.expression.aggregation);
    let aggregation = threshold.expression.aggregation;
    let before = threshold.text.split(['<', '>', '=']).next().unwrap_or_default();
    ThresholdLine {
        ok: threshold.ok,
        text: &threshold.text,
        label: before.trim().to_owned(),
        value: measured_words(value, metric.kind, metric.contains, aggregation, source.time_unit),
    }
}

/// What a threshold looks at of a metric, as summaries write it: `12.5ms`, `99.1%`, `40.2/s`.
pub fn measured_words(
    value: f64,
    kind: MetricKind,
    contains: Contains,
    aggregation: Aggregation,
    unit: Option<TimeUnit>,
) -> String {
    match (kind, aggregation) {
        (MetricKind::Rate, _) => number::percent(value),
        (MetricKind::Counter, Aggregation::Rate) => {
            format!("{}/s", number::value(value, contains, unit))
        }
        _ => number::value(value, contains, unit),
    }
}
