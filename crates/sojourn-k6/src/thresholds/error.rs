//! What is wrong with a test's thresholds; k6 exits with 104.

use super::expression::{Aggregation, ExpressionError};
use crate::metrics::{MetricKind, SubmetricError};

/// What is wrong with a test's thresholds. All of it is a mistake in the configuration: exit code
/// 104.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThresholdError {
    /// The key names no metric.
    #[error(transparent)]
    Metric(#[from] SubmetricError),
    /// A threshold's text is none.
    #[error("threshold on '{key}': {source}")]
    Expression {
        /// The metric, as it is written.
        key: String,
        /// What is wrong with it.
        source: ExpressionError,
    },
    /// A metric of this kind has no such aggregation.
    #[error(
        "invalid threshold \"{text}\" applied on metric {key}; reason: unsupported aggregation \
         method {aggregation} on metric of type {kind}. supported aggregation methods for this \
         metric are: {suitable}"
    )]
    Unsuitable {
        /// The metric, as it is written.
        key: String,
        /// The threshold, as it is written.
        text: String,
        /// What the metric is.
        kind: MetricKind,
        /// What was asked of it, as text.
        aggregation: String,
        /// What may be asked of it.
        suitable: &'static str,
    },
}

impl ThresholdError {
    pub(super) fn unsuitable(key: &str, text: &str, kind: MetricKind, what: Aggregation) -> Self {
        Self::Unsuitable {
            key: key.to_owned(),
            text: text.to_owned(),
            kind,
            aggregation: what.to_string(),
            suitable: match kind {
                MetricKind::Counter => "count, rate",
                MetricKind::Gauge => "value",
                MetricKind::Rate => "rate",
                MetricKind::Trend => "avg, min, max, med, p",
            },
        }
    }
}
