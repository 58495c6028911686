//! Plain figures as a message of OTLP: sums, gauges and histograms since the run's start.

use prost::Message;

use super::{
    figures::append,
    messages::{
        CUMULATIVE, Data, Gauge, Histogram, HistogramPoint, KeyValue, Metric, MetricsRequest,
        Number, NumberPoint, Resource, ResourceMetrics, Scope, ScopeMetrics, Sum,
    },
};

/// A series of a metric, as it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The metric.
    pub name: String,
    /// Its unit, as the Unified Code for Units of Measure has it; empty without one.
    pub unit: &'static str,
    /// What the series is told by.
    pub attributes: Vec<(String, String)>,
    /// Its value.
    pub reading: Reading,
}

/// The value of a series.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// A sum that only grows.
    Sum(f64),
    /// A count that only grows.
    Count(u64),
    /// The latest level.
    Level(f64),
    /// A distribution.
    Spread {
        /// How many samples.
        count: u64,
        /// Their sum.
        sum: f64,
        /// The least.
        min: f64,
        /// The greatest.
        max: f64,
        /// Upper bounds of the buckets, ascending.
        bounds: &'static [f64],
        /// Samples in each bucket, and beyond the last; not cumulative.
        buckets: Vec<u64>,
    },
}

/// Who speaks, and of which time.
#[derive(Clone, Debug, PartialEq)]
pub struct Sender {
    /// Of the resource: `service.name` and whatever else.
    pub resource: Vec<(String, String)>,
    /// What has measured.
    pub scope: String,
    /// The run's start, nanoseconds since the Unix epoch.
    pub start_unix_ns: u64,
}

/// A message with these figures of an instant, nanoseconds since the Unix epoch. Those of one
/// metric stand together.
pub fn message(sender: &Sender, unix_ns: u64, figures: Vec<Figure>) -> Vec<u8> {
    let mut metrics: Vec<Metric> = Vec::new();
    for figure in figures {
        let data = data(figure.reading, &figure.attributes, (sender.start_unix_ns, unix_ns));
        let same = metrics.last_mut().filter(|last| last.name == figure.name);
        if same.is_some_and(|last| append(last, &data)) {
            continue;
        }
        metrics.push(Metric { name: figure.name, unit: figure.unit.to_owned(), data: Some(data) });
    }
    let scope = Scope { name: sender.scope.clone(), version: String::new() };
    let scopes = vec![ScopeMetrics { scope: Some(scope), metrics }];
    let resource = Resource { attributes: attributes(&sender.resource) };
    let resources = vec![ResourceMetrics { resource: Some(resource), scopes }];
    MetricsRequest { resources }.encode_to_vec()
}

fn attributes(pairs: &[(String, String)]) -> Vec<KeyValue> {
    pairs.iter().map(|(name, value)| KeyValue::text(name, value)).collect()
}

fn data(
    reading: Reading,
    pairs: &[(String, String)],
    (start_unix_ns, unix_ns): (u64, u64),
) -> Data {
    let attributes = attributes(pairs);
    let number = |value, attributes| {
        vec![NumberPoint { start_unix_ns, unix_ns, value: Some(value), attributes }]
    };
    match reading {
        Reading::Sum(total) => {
            let points = number(Number::Double(total), attributes);
            Data::Sum(Sum { points, temporality: CUMULATIVE, is_monotonic: true })
        }
        Reading::Count(total) => {
            let total = Number::Integer(i64::try_from(total).unwrap_or(i64::MAX));
            let points = number(total, attributes);
            Data::Sum(Sum { points, temporality: CUMULATIVE, is_monotonic: true })
        }
        Reading::Level(level) => {
            Data::Gauge(Gauge { points: number(Number::Double(level), attributes) })
        }
        Reading::Spread { count, sum, min, max, bounds, buckets } => {
            let point = HistogramPoint {
                start_unix_ns,
                unix_ns,
                count,
                sum: Some(sum),
                bucket_counts: buckets,
                explicit_bounds: bounds.to_vec(),
                attributes,
                min: (count > 0).then_some(min),
                max: (count > 0).then_some(max),
            };
            Data::Histogram(Histogram { points: vec![point], temporality: CUMULATIVE })
        }
    }
}
