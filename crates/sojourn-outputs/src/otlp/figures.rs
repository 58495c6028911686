//! A frame's points as OTLP metrics: sums, gauges and histograms since the run's start.
//!
//! Histograms have explicit bounds, the same everywhere, whose counts are those of Prometheus'
//! classic histograms. Exponential ones would not be exact: Sojourn's own buckets are not
//! exponential within an octave.

use prost::Message;

use super::{
    identity::{resource, scope},
    messages::{
        CUMULATIVE, Data, Gauge, Histogram, HistogramPoint, KeyValue, Metric, MetricsRequest,
        Number, NumberPoint, ResourceMetrics, ScopeMetrics, Sum,
    },
};
use crate::{
    bounds::bounds,
    frame::{Frame, Point, Value},
    names::Unit,
    target::Run,
};

/// The points that changed, all of them with the last frame.
pub(super) fn request(frame: &Frame, run: &Run) -> Vec<u8> {
    let mut metrics: Vec<Metric> = Vec::new();
    for point in frame.points.iter().filter(|point| point.is_changed || frame.is_last) {
        let exported = &point.series.exported;
        let data = data(point, frame);
        let same = metrics.last_mut().filter(|last| last.name == exported.dotted);
        if same.is_some_and(|last| append(last, &data)) {
            continue;
        }
        let unit = match exported.unit {
            Unit::Seconds => "s",
            Unit::Bytes => "By",
            Unit::None => "1",
        };
        let (name, unit) = (exported.dotted.clone(), unit.to_owned());
        metrics.push(Metric { name, unit, data: Some(data) });
    }
    let scopes = vec![ScopeMetrics { scope: Some(scope()), metrics }];
    let resources = vec![ResourceMetrics { resource: Some(resource(run)), scopes }];
    MetricsRequest { resources }.encode_to_vec()
}

/// Puts the points of the same metric together.
pub(super) fn append(metric: &mut Metric, data: &Data) -> bool {
    match (&mut metric.data, data) {
        (Some(Data::Sum(own)), Data::Sum(more)) => own.points.extend_from_slice(&more.points),
        (Some(Data::Gauge(own)), Data::Gauge(more)) => own.points.extend_from_slice(&more.points),
        (Some(Data::Histogram(own)), Data::Histogram(more)) => {
            own.points.extend_from_slice(&more.points);
        }
        _ => return false,
    }
    true
}

fn data(point: &Point, frame: &Frame) -> Data {
    let series = &point.series;
    let attributes: Vec<_> =
        series.labels.iter().map(|(name, value)| KeyValue::text(name, value)).collect();
    let (start_unix_ns, unix_ns) = (frame.start_unix_ns, frame.unix_ns);
    let number = |value, attributes| {
        vec![NumberPoint { start_unix_ns, unix_ns, value: Some(value), attributes }]
    };
    match &point.value {
        Value::Count { total, .. } => {
            let total = Number::Integer(i64::try_from(*total).unwrap_or(i64::MAX));
            let points = number(total, attributes);
            Data::Sum(Sum { points, temporality: CUMULATIVE, is_monotonic: true })
        }
        Value::Level(level) => {
            let level = Number::Double(series.scaled(*level));
            Data::Gauge(Gauge { points: number(level, attributes) })
        }
        Value::Spread { total, .. } => {
            let scaled = |value: u64| series.scaled(value as f64);
            let is_any = total.count > 0;
            let bounds = bounds(series.exported.unit).iter();
            let point = HistogramPoint {
                start_unix_ns,
                unix_ns,
                count: total.count,
                sum: Some(series.scaled(total.sum)),
                bucket_counts: total.buckets.clone(),
                explicit_bounds: bounds.map(|bound| scaled(*bound)).collect(),
                attributes,
                min: is_any.then(|| scaled(total.min)),
                max: is_any.then(|| scaled(total.max)),
            };
            Data::Histogram(Histogram { points: vec![point], temporality: CUMULATIVE })
        }
    }
}
