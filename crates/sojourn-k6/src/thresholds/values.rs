//! The figures of a metric that thresholds look at.

use std::cell::OnceCell;

use super::expression::Aggregation;
use crate::metrics::{Percentiles, Sink, Trend};

/// What thresholds may ask of one sink; a trend is sorted once for all of them.
pub(crate) struct Values<'a> {
    sink: Option<&'a Sink>,
    percentiles: OnceCell<Percentiles<'a>>,
    elapsed_ns: u64,
}

impl<'a> Values<'a> {
    pub(crate) fn new(sink: Option<&'a Sink>, elapsed_ns: u64) -> Self {
        Self { sink, percentiles: OnceCell::new(), elapsed_ns }
    }

    /// 0 without samples.
    pub(crate) fn of(&self, aggregation: Aggregation) -> f64 {
        match (aggregation, self.sink) {
            (Aggregation::Count, Some(Sink::Counter(counter))) => counter.sum,
            (Aggregation::Rate, Some(Sink::Counter(counter))) => {
                counter.per_second(self.elapsed_ns)
            }
            (Aggregation::Rate, Some(Sink::Rate(rate))) => rate.share(),
            (Aggregation::Value, Some(Sink::Gauge(gauge))) => gauge.last,
            (Aggregation::Avg, Some(Sink::Trend(trend))) => trend.avg(),
            (Aggregation::Min, Some(Sink::Trend(trend))) => trend.min(),
            (Aggregation::Max, Some(Sink::Trend(trend))) => trend.max(),
            (Aggregation::Med, Some(Sink::Trend(trend))) => self.percentiles(trend).med(),
            (Aggregation::Percentile(percent), Some(Sink::Trend(trend))) => {
                self.percentiles(trend).at(percent)
            }
            _ => 0.0,
        }
    }

    fn percentiles(&self, trend: &'a Trend) -> &Percentiles<'a> {
        self.percentiles.get_or_init(|| trend.percentiles())
    }
}
