//! The output to StatsD: one line for each sample.
//!
//! The format is that of <https://github.com/statsd/statsd/blob/master/docs/metric_types.md>, with
//! DogStatsD's tags where they are asked for.

use super::go_number;
use super::statsd_options::StatsdOptions;
use crate::metrics::{Contains, MetricKind, Registry, Sample, TagSet};

/// Turns samples into lines.
#[derive(Debug)]
pub struct StatsdLines {
    namespace: String,
    has_tags: bool,
    blocked: Vec<String>,
}

impl StatsdLines {
    /// As the options say.
    pub fn new(options: &StatsdOptions) -> Self {
        let StatsdOptions { namespace, has_tags, blocked, .. } = options.clone();
        Self { namespace, has_tags, blocked }
    }

    /// The line of a sample: a counter's is counted, a gauge's set, a trend's timed, a rate's
    /// counted where it is not zero. `None` for what is no finite number.
    pub fn line(&self, sample: &Sample, registry: &Registry) -> Option<String> {
        let metric = registry.get(sample.metric)?;
        if !sample.value.is_finite() {
            return None;
        }
        let (value, kind) = match metric.kind {
            MetricKind::Counter => (sample.value, "c"),
            MetricKind::Gauge => (sample.value, "g"),
            MetricKind::Trend if metric.contains == Contains::Time => (sample.value, "ms"),
            MetricKind::Trend => (sample.value, "h"),
            MetricKind::Rate => (f64::from(u8::from(sample.value != 0.0)), "c"),
        };
        let mut line = format!("{}{}:", self.namespace, metric.name);
        go_number::push_json(&mut line, value);
        line.push('|');
        line.push_str(kind);
        if self.has_tags {
            self.push_tags(&mut line, &sample.tags);
        }
        Some(line)
    }

    fn push_tags(&self, line: &mut String, tags: &TagSet) {
        let wanted = tags.iter().filter(|(key, value)| {
            !value.is_empty() && !self.blocked.iter().any(|blocked| blocked == key)
        });
        for (at, (key, value)) in wanted.enumerate() {
            line.push_str(if at == 0 { "|#" } else { "," });
            line.push_str(&plain(key));
            line.push(':');
            line.push_str(&plain(value));
        }
    }
}

/// A text without what means something in a line.
fn plain(text: &str) -> String {
    let is_special = |c: char| matches!(c, ',' | '|' | '#' | ':' | '@') || c.is_control();
    text.chars().map(|c| if is_special(c) { '_' } else { c }).collect()
}
