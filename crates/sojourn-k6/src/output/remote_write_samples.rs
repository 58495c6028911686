//! A series as Prometheus has it: `k6_NAME` with what the metric's kind adds to it.

use super::remote_write_options::RemoteWriteStat;
use super::series::Series;
use crate::metrics::{Contains, Metric, Percentiles, Sink, Trend};
use crate::summary::StatKind;

/// A sample of a series, without its instant.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteWriteSample {
    /// The metric's name.
    pub name: String,
    /// A trend's times are seconds.
    pub value: f64,
}

/// What a series is now.
pub fn samples_of(
    metric: &Metric,
    series: &Series<Sink>,
    stats: &[RemoteWriteStat],
) -> Vec<RemoteWriteSample> {
    let name = |suffix: &str| format!("k6_{}{suffix}", metric.name);
    let scale = if metric.contains == Contains::Time { 1e-3 } else { 1.0 };
    match &series.total {
        Sink::Counter(counter) => {
            vec![RemoteWriteSample { name: name("_total"), value: counter.sum }]
        }
        Sink::Gauge(gauge) => {
            vec![RemoteWriteSample { name: name(""), value: gauge.last }]
        }
        Sink::Rate(rate) => vec![RemoteWriteSample { name: name("_rate"), value: rate.share() }],
        Sink::Trend(trend) => {
            let percentiles = trend.percentiles();
            let sample = |stat: &RemoteWriteStat| {
                let (suffix, value) = figure(*stat, trend, &percentiles, scale);
                RemoteWriteSample { name: name(&suffix), value }
            };
            stats.iter().map(sample).collect()
        }
    }
}

/// What a trend's native histogram is called: with the unit that its values have there.
pub fn native_name(metric: &Metric) -> String {
    let unit = match metric.contains {
        Contains::Default => "",
        Contains::Time => "_seconds",
        Contains::Data => "_bytes",
    };
    format!("k6_{}{unit}", metric.name)
}

/// A trend's figure, and what its name ends in.
fn figure(
    stat: RemoteWriteStat,
    trend: &Trend,
    percentiles: &Percentiles<'_>,
    scale: f64,
) -> (String, f64) {
    let (suffix, value) = match stat {
        RemoteWriteStat::Sum => ("_sum", trend.sum()),
        RemoteWriteStat::Of(StatKind::Avg) => ("_avg", trend.avg()),
        RemoteWriteStat::Of(StatKind::Min) => ("_min", trend.min()),
        RemoteWriteStat::Of(StatKind::Med) => ("_med", percentiles.med()),
        RemoteWriteStat::Of(StatKind::Max) => ("_max", trend.max()),
        RemoteWriteStat::Of(StatKind::Count) => {
            return ("_count".to_owned(), trend.count() as f64);
        }
        RemoteWriteStat::Of(StatKind::Percentile(percent)) => {
            // A name has no point: 99.9 is 999.
            let suffix = format!("_p{percent}").replace('.', "");
            return (suffix, percentiles.at(percent) * scale);
        }
    };
    (suffix.to_owned(), value * scale)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::metrics::{MetricId, Registry, Sample, TagSets, builtin};
    use crate::output::SeriesBook;

    #[test]
    fn each_kind_has_its_names_and_units() {
        let mut registry = Registry::new();
        let gauge = crate::metrics::MetricKind::Gauge;
        let timed = registry.declare("took", gauge, Contains::Time).unwrap();
        let sets = TagSets::new(registry.matcher());
        let mut book = SeriesBook::<Sink>::default();
        let mut add = |metric: MetricId, values: &[f64]| {
            for value in values {
                let tags = Arc::clone(sets.empty());
                assert!(book.add(&Sample { metric, tags, at_ns: 1, value: *value }));
            }
        };
        add(builtin::DATA_SENT, &[100.0, 50.0]);
        add(builtin::VUS, &[3.0, 2.0]);
        add(timed, &[1_500.0]);
        add(builtin::CHECKS, &[1.0, 0.0, 1.0, 1.0]);
        add(builtin::HTTP_REQ_DURATION, &[100.0, 200.0, 400.0]);
        let stats = [
            RemoteWriteStat::Of(StatKind::Percentile(99.9)),
            RemoteWriteStat::Of(StatKind::Percentile(50.0)),
            RemoteWriteStat::Of(StatKind::Count),
            RemoteWriteStat::Sum,
        ];
        let found = book
            .iter()
            .flat_map(|series| samples_of(registry.get(series.metric).unwrap(), series, &stats));
        let found: Vec<_> = found.map(|sample| (sample.name, sample.value)).collect();
        let expected = [
            ("k6_data_sent_total", 150.0),
            ("k6_vus", 2.0),
            ("k6_took", 1_500.0),
            ("k6_checks_rate", 0.75),
            ("k6_http_req_duration_p999", 0.3996),
            ("k6_http_req_duration_p50", 0.2),
            ("k6_http_req_duration_count", 3.0),
            ("k6_http_req_duration_sum", 0.7),
        ];
        assert_eq!(found.len(), expected.len());
        for ((name, value), (expected, wanted)) in found.iter().zip(expected) {
            assert!(name == expected && (value - wanted).abs() < 1e-12, "{name} {value}");
        }
    }
}
