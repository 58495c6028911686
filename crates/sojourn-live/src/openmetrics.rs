//! Figures so far as OpenMetrics text (the exposition format 1.0.0 of OpenMetrics, which
//! Prometheus reads).
//!
//! Metrics of requests have the names that Vegeta gives them; the label `target` stands in place of
//! method and URL, whose number has no bound.

use std::fmt::Write;

use sojourn_metrics::{Histogram, SeriesKey, SeriesPhase, Store, names};

/// Upper bounds of the histogram's buckets, seconds.
const BUCKETS_S: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// The text for what `store` holds.
pub fn openmetrics(store: &Store) -> String {
    let mut out = String::new();
    family(&mut out, "request_seconds", "histogram", "Service time of requests", Some("seconds"));
    for (target, histogram) in trends(store, names::STEP_SERVICE) {
        request_seconds(&mut out, &target, &histogram);
    }
    for (name, metric, help) in [
        ("request_received_bytes", names::STEP_RECEIVED_BYTES, "Bytes received, headers included"),
        ("request_sent_bytes", names::STEP_SENT_BYTES, "Bytes sent, headers included"),
    ] {
        family(&mut out, name, "counter", help, None);
        for (target, histogram) in trends(store, metric) {
            let sum = histogram.totals().sum;
            line(&mut out, &format!("{name}_total"), &[("target", &target)], &sum.to_string());
        }
    }
    for (name, metric, help) in [
        ("request_bytes_in", names::STEP_BODY_BYTES_IN, "Bytes of answers' bodies, decoded"),
        ("request_bytes_out", names::STEP_BODY_BYTES_OUT, "Bytes of requests' bodies"),
    ] {
        family(&mut out, name, "counter", help, None);
        for (key, count) in counters(store, metric) {
            let labels = [("target", target(key))];
            line(&mut out, &format!("{name}_total"), &labels, &count.to_string());
        }
    }
    for (name, metric, label, tag, help) in [
        ("request_count", names::STEP_REQUESTS, "status", names::STATUS, "Requests that ended"),
        (
            "request_fail_count",
            names::STEP_FAILED,
            "message",
            names::REASON,
            "Requests that failed",
        ),
    ] {
        family(&mut out, name, "counter", help, None);
        for (key, count) in counters(store, metric) {
            let labels = [("target", target(key)), (label, key.tag(tag).unwrap_or("?"))];
            line(&mut out, &format!("{name}_total"), &labels, &count.to_string());
        }
    }
    for (name, metric, help) in [
        ("arrivals_scheduled", names::JOURNEYS_SCHEDULED, "Arrivals that were due"),
        ("arrivals_missed", names::JOURNEYS_MISSED, "Arrivals that could not be started"),
    ] {
        family(&mut out, name, "counter", help, None);
        let count: u64 = counters(store, metric).map(|(_, count)| count).sum();
        line(&mut out, &format!("{name}_total"), &[], &count.to_string());
    }
    out.push_str("# EOF\n");
    out
}

fn request_seconds(out: &mut String, target: &str, histogram: &Histogram) {
    for bound_s in BUCKETS_S {
        let below = histogram
            .buckets()
            .take_while(|(_, greatest_ns, _)| *greatest_ns as f64 <= bound_s * 1e9)
            .map(|(_, _, count)| count)
            .sum::<u64>();
        let bound = format!("{bound_s:?}");
        let labels = [("target", target), ("le", bound.as_str())];
        line(out, "request_seconds_bucket", &labels, &below.to_string());
    }
    let count = histogram.count().to_string();
    line(out, "request_seconds_bucket", &[("target", target), ("le", "+Inf")], &count);
    let sum_s = histogram.totals().sum as f64 / 1e9;
    line(out, "request_seconds_sum", &[("target", target)], &format!("{sum_s:?}"));
    line(out, "request_seconds_count", &[("target", target)], &count);
}

fn family(out: &mut String, name: &str, kind: &str, help: &str, unit: Option<&str>) {
    // Writing to a string cannot fail.
    let _ignored = writeln!(out, "# TYPE {name} {kind}");
    if let Some(unit) = unit {
        let _ignored = writeln!(out, "# UNIT {name} {unit}");
    }
    let _ignored = writeln!(out, "# HELP {name} {help}.");
}

fn line(out: &mut String, name: &str, labels: &[(&str, &str)], value: &str) {
    out.push_str(name);
    if !labels.is_empty() {
        let labels: Vec<String> =
            labels.iter().map(|(label, text)| format!("{label}=\"{}\"", escaped(text))).collect();
        let _ignored = write!(out, "{{{}}}", labels.join(","));
    }
    let _ignored = writeln!(out, " {value}");
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Each target with its samples of all phases.
fn trends(store: &Store, metric: &str) -> Vec<(String, Histogram)> {
    let mut targets: Vec<&str> = store
        .series()
        .filter(|(key, _)| key.metric == metric)
        .map(|(key, _)| target(key))
        .collect();
    targets.sort_unstable();
    targets.dedup();
    targets
        .into_iter()
        .map(|target| {
            let tags = [(names::STEP, target)];
            let mut all = store.merged(metric, &tags, SeriesPhase::Steady);
            all.merge(&store.merged(metric, &tags, SeriesPhase::WarmUp));
            (target.to_owned(), all)
        })
        .filter(|(_, histogram)| histogram.count() > 0)
        .collect()
}

fn counters<'a>(
    store: &'a Store,
    metric: &'a str,
) -> impl Iterator<Item = (&'a SeriesKey, u64)> + 'a {
    store
        .series()
        .filter(move |(key, _)| key.metric == metric && key.phase != SeriesPhase::WarmUp)
        .map(|(key, _)| (key, store.counter(key)))
}

fn target(key: &SeriesKey) -> &str {
    key.tag(names::STEP).unwrap_or("?")
}
