//! The summary for machines (`--new-machine-readable-summary`).

use serde_json::{Map, Value, json};

use super::data::{add_ours, number};
use super::listed;
use super::section::Section;
use super::source::Source;
use super::text::Mode;
use crate::metrics::{Metric, Sink, builtin};

/// What the summary says of the test beside its figures.
#[derive(Debug, Clone, Copy)]
pub struct Identity<'a> {
    /// When the summary was made, as RFC 3339.
    pub generated_at: &'a str,
    /// `metadata.k6_version`; what readers of this format look at.
    pub version: &'a str,
    /// The script's text, if it is known.
    pub script: Option<&'a str>,
}

/// What `handleSummary` gets, and `--summary-export` writes, instead of [`data`](super::data).
pub fn machine(source: &Source<'_>, identity: Identity<'_>) -> Value {
    let mut config = json!({
        "duration": number(source.elapsed_ns as f64 / 1e9),
        "execution": "local",
    });
    if let Some(script) = identity.script {
        config["script"] = script.into();
    }
    let listed = listed::all(source);
    let shown = listed.iter().filter(|metric| Section::of(metric.family, Mode::Compact).is_some());
    let mut data = json!({
        "config": config,
        "metadata": {
            "generated_at": identity.generated_at,
            "k6_version": identity.version,
        },
        "results": {
            "checks": checks(source),
            "metrics": shown.map(|listed| metric(source, listed.metric)).collect::<Vec<_>>(),
        },
        "version": "1.0.0",
    });
    add_ours(&mut data, source);
    data
}

fn checks(source: &Source<'_>) -> Value {
    let Some(Sink::Rate(rate)) = source.totals.sink(builtin::CHECKS) else {
        return json!({ "metrics": [], "results": [] });
    };
    let (passes, total) = (rate.trues, rate.total);
    let fails = total - passes;
    let named = source.totals.checks().by_name();
    let entry = |name: &str, kind: &str, values: Value| {
        json!({
            "contains": "default",
            "name": name,
            "type": kind,
            "values": values,
        })
    };
    let share = |part: u64| {
        let rate = number(part as f64 / total as f64);
        json!({ "matches": part, "rate": rate, "total": total })
    };
    let results = named
        .iter()
        .map(|(name, passes, fails)| json!({ "fails": fails, "name": name, "passes": passes }));
    json!({
        "metrics": [
            entry("checks_total", "counter", json!({ "count": total })),
            entry("checks_failed", "rate", share(fails)),
            entry("checks_succeeded", "rate", share(passes)),
        ],
        "results": results.collect::<Vec<_>>(),
    })
}

fn metric(source: &Source<'_>, metric: &Metric) -> Value {
    json!({
        "contains": metric.contains.as_str(),
        "name": metric.name,
        "type": metric.kind.as_str(),
        "values": values(source, metric),
    })
}

fn values(source: &Source<'_>, metric: &Metric) -> Value {
    let empty = Sink::new(metric.kind, false);
    match source.totals.sink(metric.id).unwrap_or(&empty) {
        Sink::Counter(counter) => json!({ "count": number(counter.sum) }),
        Sink::Gauge(gauge) => json!({
            "max": number(gauge.max),
            "min": number(gauge.min),
            "value": number(gauge.last),
        }),
        Sink::Rate(rate) => json!({
            "matches": rate.trues,
            "rate": number(rate.share()),
            "total": rate.total,
        }),
        Sink::Trend(trend) => {
            // Always these; percentiles that the options do not ask for are null.
            let percentiles = trend.percentiles();
            let asked = |name: &str| source.trend_stats.iter().any(|stat| stat.name == name);
            let percentile = |name, percent| {
                if asked(name) { number(percentiles.at(percent)) } else { Value::Null }
            };
            let mut values = Map::new();
            values.insert("avg".to_owned(), number(trend.avg()));
            values.insert("max".to_owned(), number(trend.max()));
            values.insert("med".to_owned(), number(percentiles.med()));
            values.insert("min".to_owned(), number(trend.min()));
            values.insert("p90".to_owned(), percentile("p(90)", 90.0));
            values.insert("p95".to_owned(), percentile("p(95)", 95.0));
            Value::Object(values)
        }
    }
}
