//! The output to StatsD: one line for each sample.
//!
//! The format is that of <https://github.com/statsd/statsd/blob/master/docs/metric_types.md>, with
//! DogStatsD's tags where they are asked for.

use super::go_number;
use super::statsd_options::StatsdOptions;
use crate::metrics::{MetricKind, Registry, Sample, TagSet};

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
    /// counted where it is not zero. A check is counted under its own name and what came of it:
    /// `check.NAME.pass` or `check.NAME.fail`. `None` for what is no finite number.
    pub fn line(&self, sample: &Sample, registry: &Registry) -> Option<String> {
        let metric = registry.get(sample.metric)?;
        if !sample.value.is_finite() {
            return None;
        }
        let check = sample.tags.get("check").filter(|name| !name.is_empty());
        let check = check.filter(|_| metric.kind == MetricKind::Rate);
        let (value, kind) = match metric.kind {
            MetricKind::Counter => (sample.value, "c"),
            MetricKind::Gauge => (sample.value, "g"),
            MetricKind::Trend => (sample.value, "ms"),
            MetricKind::Rate if check.is_some() => (1.0, "c"),
            MetricKind::Rate => (f64::from(u8::from(sample.value != 0.0)), "c"),
        };
        let mut line = match check {
            Some(check) => {
                let outcome = if sample.value == 0.0 { "fail" } else { "pass" };
                format!("{}check.{}.{outcome}:", self.namespace, plain(check))
            }
            None => format!("{}{}:", self.namespace, metric.name),
        };
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::metrics::{Contains, TagSets, builtin};
    use crate::options::Environment;

    #[test]
    fn checks_are_counted_by_name_and_outcome_and_every_trend_is_timed() {
        let mut registry = Registry::new();
        let sizes = registry.declare("sizes", MetricKind::Trend, Contains::Default).unwrap();
        let lines = StatsdLines::new(&StatsdOptions::read("", &Environment::new()).unwrap());
        let mut sets = TagSets::new(registry.matcher());
        let empty = Arc::clone(sets.empty());
        let checked = sets.with(&empty, &[("check", "is: ok")]);
        for (metric, tags, value, expected) in [
            (builtin::CHECKS, &checked, 1.0, "k6.check.is_ ok.pass:1|c"),
            (builtin::CHECKS, &checked, 0.0, "k6.check.is_ ok.fail:1|c"),
            (builtin::CHECKS, &empty, 1.0, "k6.checks:1|c"),
            (builtin::HTTP_REQ_FAILED, &empty, 0.0, "k6.http_req_failed:0|c"),
            (builtin::HTTP_REQ_DURATION, &checked, 1.5, "k6.http_req_duration:1.5|ms"),
            (sizes, &empty, 3.0, "k6.sizes:3|ms"),
        ] {
            let sample = Sample { metric, tags: Arc::clone(tags), at_ns: 1, value };
            assert_eq!(lines.line(&sample, &registry).as_deref(), Some(expected));
        }
    }
}
