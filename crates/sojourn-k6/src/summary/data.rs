//! What `handleSummary` gets, and what `--summary-export` writes.

use serde_json::{Map, Value, json};

use super::group_tree::{GroupNode, check_path, id};
use super::listed;
use super::source::{Source, trend_values};
use crate::metrics::{Check, Metric, MetricKind, Sink};

/// What `data.state` and `data.options` say of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Terminal {
    /// Whether stdout is one.
    pub is_stdout: bool,
    /// Whether stderr is one.
    pub is_stderr: bool,
    /// Whether colours are unwanted.
    pub no_colour: bool,
}

/// The argument of `handleSummary`; `setup_data` is what `setup` returned.
pub fn data(source: &Source<'_>, terminal: Terminal, setup_data: Option<Value>) -> Value {
    let stats: Vec<&str> = source.trend_stats.iter().map(|stat| stat.name.as_str()).collect();
    let mut metrics = Map::new();
    for metric in listed::all(source) {
        let metric = metric.metric;
        let mut entry = json!({
            "type": metric.kind.as_str(),
            "contains": metric.contains.as_str(),
            "values": Map::from_iter(values(source, metric)),
        });
        let thresholds = source.thresholds.of(metric.id);
        if !thresholds.is_empty() {
            let all = thresholds.iter().map(|t| (t.text.clone(), json!({ "ok": t.ok })));
            entry["thresholds"] = Value::Object(all.collect());
        }
        metrics.insert(metric.name.to_string(), entry);
    }
    let mut data = json!({
        "root_group": group(&GroupNode::root(source.totals.checks())),
        "options": {
            "summaryTrendStats": stats,
            "summaryTimeUnit": source.time_unit.map_or("", |unit| unit.as_str()),
            "noColor": terminal.no_colour,
        },
        "state": {
            "isStdOutTTY": terminal.is_stdout,
            "isStdErrTTY": terminal.is_stderr,
            "testRunDurationMs": number(source.elapsed_ms()),
        },
        "metrics": metrics,
    });
    if let Some(setup_data) = setup_data {
        data["setup_data"] = setup_data;
    }
    add_ours(&mut data, source);
    data
}

/// What k6's summaries have no place for has a member of its own.
pub(super) fn add_ours(data: &mut Value, source: &Source<'_>) {
    if let Some(generator) = source.generator {
        data["sojourn"] = json!({ "generator": generator.value() });
    }
}

/// The file of `--summary-export`: flat, groups and checks by name, and each threshold true if it
/// failed.
pub fn export(source: &Source<'_>) -> Value {
    let mut metrics = Map::new();
    for metric in listed::all(source) {
        let metric = metric.metric;
        let mut entry = Map::new();
        for (name, value) in values(source, metric) {
            let name = if name == "rate" && metric.kind == MetricKind::Rate {
                "value".to_owned()
            } else {
                name
            };
            entry.insert(name, value);
        }
        let thresholds = source.thresholds.of(metric.id);
        if !thresholds.is_empty() {
            let all = thresholds.iter().map(|t| (t.text.clone(), Value::Bool(!t.ok)));
            entry.insert("thresholds".to_owned(), Value::Object(all.collect()));
        }
        metrics.insert(metric.name.to_string(), Value::Object(entry));
    }
    let root = exported_group(&GroupNode::root(source.totals.checks()));
    let mut data = json!({ "root_group": root, "metrics": metrics });
    add_ours(&mut data, source);
    data
}

/// A number as JSON has it: whole numbers without a point; null for what JSON has no number for.
pub(super) fn number(value: f64) -> Value {
    // Every whole number up to here is one of both kinds.
    const WHOLE_MAX: f64 = (1_u64 << 53) as f64;
    if value.fract() == 0.0 && value.abs() <= WHOLE_MAX {
        return Value::from(value as i64);
    }
    Value::from(value)
}

fn values(source: &Source<'_>, metric: &Metric) -> Vec<(String, Value)> {
    let empty = Sink::new(metric.kind, false);
    let named = |pairs: &[(&str, f64)]| {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), number(*value))).collect()
    };
    match source.totals.sink(metric.id).unwrap_or(&empty) {
        Sink::Counter(counter) => {
            named(&[("count", counter.sum), ("rate", counter.per_second(source.elapsed_ns))])
        }
        Sink::Gauge(gauge) => {
            named(&[("value", gauge.last), ("min", gauge.min), ("max", gauge.max)])
        }
        Sink::Rate(rate) => named(&[
            ("rate", rate.share()),
            ("passes", rate.trues as f64),
            ("fails", (rate.total - rate.trues) as f64),
        ]),
        Sink::Trend(trend) => {
            let values = trend_values(trend, source.trend_stats);
            let names = source.trend_stats.iter().map(|stat| stat.name.clone());
            names.zip(values.into_iter().map(number)).collect()
        }
    }
}

fn group(node: &GroupNode<'_>) -> Value {
    json!({
        "name": node.name,
        "path": node.path,
        "id": node.id(),
        "groups": node.groups.iter().map(group).collect::<Vec<_>>(),
        "checks": node.checks.iter().map(|own| check(own)).collect::<Vec<_>>(),
    })
}

fn exported_group(node: &GroupNode<'_>) -> Value {
    let groups = node.groups.iter().map(|own| (own.name.clone(), exported_group(own)));
    let checks = node.checks.iter().map(|own| (own.name.to_string(), check(own)));
    json!({
        "name": node.name,
        "path": node.path,
        "id": node.id(),
        "groups": groups.collect::<Map<_, _>>(),
        "checks": checks.collect::<Map<_, _>>(),
    })
}

fn check(check: &Check) -> Value {
    let path = check_path(check);
    json!({
        "name": check.name,
        "path": path,
        "id": id(&path),
        "passes": check.passes,
        "fails": check.fails,
    })
}
