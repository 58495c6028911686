//! Conditions that a run must hold, such as `journey.payment.p99 < 25s`.
//!
//! Names: `journey.J.STAT`, `stage.S.hop.STAT`, `stage.S.since_start.STAT` (`J/S` where names repeat),
//! `step.T.response.STAT`, `step.T.service.STAT`, `lag.STAT`, and counts and rates (`lost`, `late`,
//! `failed`, `duplicates`, `orphans`, `errors.rate`, `drain`, `backlog.slope`). STAT is `p50`…`p99.99`,
//! `mean`, `max`, `min`, `stddev`, `rate`, `count`.

use serde::{Deserialize, Serialize};

/// A parsed threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// As written.
    pub text: String,
    /// What is compared: the dotted name without its statistic, in parts.
    pub subject: Vec<String>,
    /// Which statistic of it.
    pub statistic: Statistic,
    /// How.
    pub comparison: Comparison,
    /// With what: nanoseconds for a time, a fraction for a percentage, else the number itself.
    pub bound: f64,
    /// Stop the run as soon as it fails.
    pub abort: bool,
}

/// Which figure of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[allow(
    missing_docs,
    reason = "named for the figure; defined in docs/definitions.md"
)]
pub enum Statistic {
    /// A quantile in 0..=1: `p99.9` is 0.999.
    Quantile(f64),
    Mean,
    Max,
    Min,
    Stddev,
    /// Per second.
    Rate,
    Count,
    /// The subject is a single number already (`lost`, `drain`).
    Value,
}

/// How a figure is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "<, <=, >, >=, ==, !=")]
pub enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

/// What is wrong with a threshold's text, with the byte range it concerns and a suggestion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThresholdError {
    /// Lower-case fragment.
    pub message: String,
    /// Where in the text.
    pub range: std::ops::Range<usize>,
    /// What to do.
    pub hint: Option<String>,
}

/// A threshold and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThresholdOutcome {
    /// The threshold.
    pub threshold: Threshold,
    /// The figure, in the bound's unit; `None` when there was nothing to measure (which fails).
    /// Infinity when the quantile falls among lost journeys.
    pub measured: Option<f64>,
    /// Whether it held.
    pub held: bool,
}

impl Threshold {
    /// Reads `journey.payment.p99 < 25s`. Bounds: a number, a time (`25s`, `1.5ms`, `200us`), or a
    /// percentage (`0.1%`).
    pub fn parse(text: &str) -> Result<Self, ThresholdError> {
        Err(ThresholdError {
            message: "not written yet".into(),
            range: 0..text.len(),
            hint: None,
        })
    }
}
