//! The output to InfluxDB: one line for each sample.
//!
//! <https://docs.influxdata.com/influxdb/v1/write_protocols/line_protocol_reference/>

use super::go_number;
use super::influxdb_options::FieldKind;
use super::series::{Accumulator, SeriesBook};
use crate::metrics::{MetricKind, Registry, Sample};

/// Within so many nanoseconds, samples of a series are told apart by their numbers instead of their
/// instants.
const APART_NS: u64 = 1_024;

/// How many samples a series has had.
#[derive(Debug)]
struct Count(u64);

impl Accumulator for Count {
    fn new(_: MetricKind) -> Self {
        Self(0)
    }

    fn add(&mut self, _: u64, _: f64) {
        self.0 += 1;
    }
}

/// Turns samples into lines: the metric is the measurement, tags are tags but for those that are
/// fields, and the value is the field `value`.
///
/// A server keeps one value of a series and an instant, and answers that are read together have one
/// instant. So instants of whole precision are changed by less than 1,024 ns: within those, each
/// sample of a series has another.
#[derive(Debug)]
pub struct InfluxDbLines {
    fields: Vec<(String, FieldKind)>,
    /// The unit of instants.
    precision_ns: u64,
    /// Bytes that keys and values of tags may not have are escaped by it.
    escaped: fn(&str) -> String,
    counts: SeriesBook<Count>,
    skipped: u64,
}

impl InfluxDbLines {
    /// With these tags and metadata as fields, instants in units of `precision_ns`. `escaped` is
    /// how a tag's key or value is written.
    pub fn new(
        fields: Vec<(String, FieldKind)>,
        precision_ns: u64,
        escaped: fn(&str) -> String,
    ) -> Self {
        Self { fields, precision_ns, escaped, counts: SeriesBook::default(), skipped: 0 }
    }

    /// Appends the lines of samples, in their order.
    pub fn push(&mut self, out: &mut String, samples: &[Sample], registry: &Registry) {
        for sample in samples {
            // Ids are the registry's own.
            let Some(metric) = registry.get(sample.metric) else { continue };
            if !sample.value.is_finite() {
                self.skipped += 1;
                continue;
            }
            out.push_str(&metric.name);
            let is_field = |key: &str| self.fields.iter().any(|(field, _)| field == key);
            for (key, value) in sample.tags.iter() {
                // A tag without a value is none.
                if !value.is_empty() && !is_field(key) {
                    out.push(',');
                    out.push_str(&(self.escaped)(key));
                    out.push('=');
                    out.push_str(&(self.escaped)(value));
                }
            }
            out.push(' ');
            for (key, kind) in &self.fields {
                let metadata = || sample.tags.metadata().find(|(own, _)| own == key);
                let value = sample.tags.get(key).or_else(|| metadata().map(|(_, value)| value));
                if let Some(value) = value {
                    push_field(out, &(self.escaped)(key), value, *kind);
                }
            }
            out.push_str("value=");
            go_number::push_json(out, sample.value);
            out.push(' ');
            out.push_str(&self.instant(sample).to_string());
            out.push('\n');
        }
    }

    /// In units of the precision.
    fn instant(&mut self, sample: &Sample) -> u64 {
        if self.precision_ns > 1 {
            return sample.at_ns / self.precision_ns;
        }
        // Of a series too many it is as it was.
        let Some(series) = self.counts.series(sample) else { return sample.at_ns };
        let number = series.total.0;
        series.total.add(sample.at_ns, sample.value);
        sample.at_ns - sample.at_ns % APART_NS + number % APART_NS
    }

    /// How many samples were infinite: the protocol has no such number.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }
}

/// A field with a comma behind it; none where the value is not of its kind.
fn push_field(out: &mut String, key: &str, value: &str, kind: FieldKind) {
    let written = match kind {
        FieldKind::Text => {
            Some(format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")))
        }
        FieldKind::Integer => value.parse::<i64>().ok().map(|value| format!("{value}i")),
        FieldKind::Float => {
            value.parse::<f64>().ok().filter(|it| it.is_finite()).map(|it| it.to_string())
        }
        FieldKind::Boolean => value.parse::<bool>().ok().map(|value| value.to_string()),
    };
    if let Some(written) = written {
        out.push_str(key);
        out.push('=');
        out.push_str(&written);
        out.push(',');
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::metrics::{TagSets, builtin};

    #[test]
    fn a_sample_is_a_line() {
        let registry = Registry::new();
        let mut sets = TagSets::new(registry.matcher());
        let empty = Arc::clone(sets.empty());
        let url = "http://h/?a=\"b\"";
        let tags = sets.with(&empty, &[("url", url), ("name", "a,b"), ("none", "")]);
        let tags = sets.with_metadata(&tags, &[("vu", "7"), ("iter", "x")]);
        let fields = [
            ("vu", FieldKind::Integer),
            ("iter", FieldKind::Integer),
            ("url", FieldKind::Text),
            ("gone", FieldKind::Boolean),
        ];
        let fields = fields.map(|(name, kind)| (name.to_owned(), kind)).to_vec();
        let mut lines = InfluxDbLines::new(fields, 1_000_000, |text| text.replace(',', "\\,"));
        let sample = |value| Sample {
            metric: builtin::HTTP_REQ_DURATION,
            tags: Arc::clone(&tags),
            at_ns: 1_700_000_000_123_456_789,
            value,
        };
        let mut out = String::new();
        lines.push(&mut out, &[sample(1.5), sample(f64::INFINITY), sample(2e-7)], &registry);
        let start = "http_req_duration,name=a\\,b vu=7i,url=\"http://h/?a=\\\"b\\\"\",value=";
        let expected = format!("{start}1.5 1700000000123\n{start}2e-7 1700000000123\n");
        assert_eq!(out, expected);
        assert_eq!(lines.skipped(), 1);
    }

    #[test]
    fn no_two_samples_of_a_series_have_one_instant() {
        let registry = Registry::new();
        let mut lines = InfluxDbLines::new(Vec::new(), 1, str::to_owned);
        let mut out = String::new();
        // Two threads, each with sets of its own, whose answers come at the same instants.
        for _ in 0..2 {
            let sets = TagSets::new(registry.matcher());
            for at_ns in [1_795_454_999_517_084_156; 300] {
                for metric in [builtin::HTTP_REQS, builtin::HTTP_REQ_DURATION] {
                    let tags = Arc::clone(sets.empty());
                    lines.push(&mut out, &[Sample { metric, tags, at_ns, value: 1.0 }], &registry);
                }
            }
        }
        let distinct: std::collections::BTreeSet<_> = out.lines().collect();
        assert_eq!((out.lines().count(), distinct.len()), (1_200, 1_200));
        for line in out.lines() {
            let at_ns: u64 = line.rsplit(' ').next().unwrap().parse().unwrap();
            assert!(at_ns.abs_diff(1_795_454_999_517_084_156) < APART_NS, "{line}");
        }
    }
}
