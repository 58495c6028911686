//! Thresholds: what must hold of a test's metrics, and whether it does.

mod error;
mod evaluate;
mod expression;
mod values;

pub use error::ThresholdError;
pub use evaluate::{Ended, MetricThresholds, Moment, Spec, Threshold, Thresholds};
pub use expression::{Aggregation, Expression, ExpressionError, Operator};
pub(crate) use values::Values;
