//! The JSON output: one line for each metric when it first comes, one for each sample.

use jiff::tz::TimeZone;

use super::{go_number, go_string, time};
use crate::metrics::{Metric, Registry, Sample};
use crate::thresholds::Thresholds;

/// Turns samples into the lines of `--out json`.
#[derive(Debug)]
pub struct JsonLines {
    zone: TimeZone,
    /// By the metric's index.
    announced: Vec<bool>,
    skipped: u64,
}

impl JsonLines {
    /// Instants are written in the local time of `zone`.
    pub fn new(zone: TimeZone) -> Self {
        Self { zone, announced: Vec::new(), skipped: 0 }
    }

    /// Appends the lines of samples, in their order.
    pub fn push(
        &mut self,
        out: &mut String,
        samples: &[Sample],
        registry: &Registry,
        thresholds: &Thresholds,
    ) {
        for sample in samples {
            // Ids are the registry's own.
            let Some(metric) = registry.get(sample.metric) else { continue };
            let at = sample.metric.index();
            if at >= self.announced.len() {
                self.announced.resize(at + 1, false);
            }
            if !self.announced[at] {
                self.announced[at] = true;
                push_metric(out, metric, registry, thresholds);
            }
            if sample.value.is_finite() {
                self.push_sample(out, sample, metric);
            } else {
                self.skipped += 1;
            }
        }
    }

    /// How many samples were infinite: JSON has no such number, and k6 leaves them out as well,
    /// with an error in its log.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    fn push_sample(&self, out: &mut String, sample: &Sample, metric: &Metric) {
        out.push_str("{\"metric\":");
        go_string::push_json(out, &metric.name);
        out.push_str(",\"type\":\"Point\",\"data\":{\"time\":\"");
        time::push_rfc3339(out, sample.at_ns, &self.zone, true);
        out.push_str("\",\"value\":");
        go_number::push_json(out, sample.value);
        out.push_str(",\"tags\":");
        push_map(out, sample.tags.iter());
        if sample.tags.metadata().next().is_some() {
            out.push_str(",\"metadata\":");
            push_map(out, sample.tags.metadata());
        }
        out.push_str("}}\n");
    }
}

fn push_metric(out: &mut String, metric: &Metric, registry: &Registry, thresholds: &Thresholds) {
    out.push_str("{\"type\":\"Metric\",\"data\":{\"name\":");
    go_string::push_json(out, &metric.name);
    out.push_str(&format!(
        ",\"type\":\"{}\",\"contains\":\"{}\",\"thresholds\":[",
        metric.kind, metric.contains
    ));
    for (at, threshold) in thresholds.of(metric.id).iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        go_string::push_json(out, &threshold.text);
    }
    out.push_str("],\"submetrics\":");
    push_submetrics(out, metric, registry);
    out.push_str("},\"metric\":");
    go_string::push_json(out, &metric.name);
    out.push_str("}\n");
}

fn push_submetrics(out: &mut String, metric: &Metric, registry: &Registry) {
    let mut is_first = true;
    for sub in registry.submetrics(metric.id) {
        let Some(parts) = &sub.submetric else { continue };
        out.push_str(if is_first { "[" } else { "," });
        is_first = false;
        out.push_str("{\"name\":");
        go_string::push_json(out, &sub.name);
        out.push_str(",\"suffix\":");
        go_string::push_json(out, &parts.suffix);
        out.push_str(",\"tags\":");
        push_map(out, parts.tags.iter().map(|(key, value)| (&**key, &**value)));
        out.push('}');
    }
    out.push_str(if is_first { "null" } else { "]" });
}

fn push_map<'a>(out: &mut String, pairs: impl Iterator<Item = (&'a str, &'a str)>) {
    out.push('{');
    for (at, (key, value)) in pairs.enumerate() {
        if at > 0 {
            out.push(',');
        }
        go_string::push_json(out, key);
        out.push(':');
        go_string::push_json(out, value);
    }
    out.push('}');
}
