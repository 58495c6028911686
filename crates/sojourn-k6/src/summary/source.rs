//! What a summary is made of.

use super::generator::Generator;
use super::options::{StatKind, TimeUnit, TrendStat};
use crate::metrics::{MetricId, Percentiles, Registry, Totals, Trend};
use crate::thresholds::Thresholds;

/// A test that has ended.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its metrics.
    pub registry: &'a Registry,
    /// What they came to.
    pub totals: &'a Totals,
    /// As they were when last looked at.
    pub thresholds: &'a Thresholds,
    /// How long it took, for all rates per second.
    pub elapsed_ns: u64,
    /// What is said of trends.
    pub trend_stats: &'a [TrendStat],
    /// The unit of durations; each its own without.
    pub time_unit: Option<TimeUnit>,
    /// Who made the load; `None` while it goes on.
    pub generator: Option<&'a Generator>,
}

impl Source<'_> {
    /// Whether anything must hold of a metric.
    pub(super) fn has_thresholds(&self, metric: MetricId) -> bool {
        !self.thresholds.of(metric).is_empty()
    }

    /// The test's length in milliseconds.
    pub(super) fn elapsed_ms(&self) -> f64 {
        self.elapsed_ns as f64 / 1e6
    }
}

/// A trend's figures in the order of `stats`.
pub(super) fn trend_values(trend: &Trend, stats: &[TrendStat]) -> Vec<f64> {
    let percentiles = trend.percentiles();
    stats.iter().map(|stat| trend_value(trend, &percentiles, stat.kind)).collect()
}

fn trend_value(trend: &Trend, percentiles: &Percentiles<'_>, stat: StatKind) -> f64 {
    match stat {
        StatKind::Avg => trend.avg(),
        StatKind::Min => trend.min(),
        StatKind::Med => percentiles.med(),
        StatKind::Max => trend.max(),
        StatKind::Count => trend.count() as f64,
        StatKind::Percentile(percent) => percentiles.at(percent),
    }
}
