//! A point as Prometheus' samples: counters, gauges, classic histograms.

use crate::{
    bounds::bounds,
    frame::{Point, Value},
};

/// One sample of a point.
#[derive(Debug, PartialEq)]
pub(crate) struct Sample {
    /// What follows the metric's name: `_bucket`, `_sum`, `_count` or nothing.
    pub(crate) suffix: &'static str,
    /// A bucket's upper bound, as its label has it.
    pub(crate) le: Option<String>,
    pub(crate) value: f64,
}

/// The samples of a point, since the run's start.
pub(crate) fn samples(point: &Point) -> Vec<Sample> {
    let plain = |value| vec![Sample { suffix: "", le: None, value }];
    let series = &point.series;
    match &point.value {
        Value::Count { total, .. } => plain(*total as f64),
        Value::Level(level) => plain(series.scaled(*level)),
        Value::Spread { total, .. } => {
            let bounds = bounds(series.exported.unit);
            let mut so_far = 0;
            let mut all = Vec::with_capacity(bounds.len() + 3);
            for (at, count) in total.buckets.iter().enumerate() {
                so_far += count;
                let le = bounds.get(at).map_or_else(
                    || "+Inf".to_owned(),
                    |bound| format!("{:?}", series.scaled(*bound as f64)),
                );
                let value = so_far as f64;
                all.push(Sample { suffix: "_bucket", le: Some(le), value });
            }
            let sum = series.scaled(total.sum);
            all.push(Sample { suffix: "_sum", le: None, value: sum });
            all.push(Sample { suffix: "_count", le: None, value: total.count as f64 });
            all
        }
    }
}
