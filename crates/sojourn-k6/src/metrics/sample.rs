//! One value of a metric, as outputs write it.

use std::sync::Arc;

use super::metric::MetricId;
use super::tag_set::TagSet;

/// A value with its instant and tags.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Of which metric.
    pub metric: MetricId,
    /// What is known of it.
    pub tags: Arc<TagSet>,
    /// When, since 1970.
    pub at_ns: u64,
    /// In the metric's unit; times are milliseconds.
    pub value: f64,
}
