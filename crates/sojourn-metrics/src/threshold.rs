//! Conditions that a run must hold, such as `journey.payment.p99 < 25s`.
//!
//! Distributions, which need a statistic:
//!
//! - `journey.J.STAT`: duration of journey J: completed, late, and lost ones above all;
//! - `stage.S.hop.STAT`, `stage.S.since_start.STAT`: of stage S (`J/S` where names repeat);
//! - `stage.S.first_member.STAT`: since-start of the first member of a fan-out stage;
//! - `branch.S.STAT`: duration of the journeys that took alternative S;
//! - `step.T.FIGURE.STAT`: of step T (`J/T` where names repeat), where FIGURE is `response`,
//!   `response_ok`, `response_failed`, `service`, `blocked`, `dns`, `connect`, `tls`, `send`,
//!   `wait`, `receive`, or `received_bytes` and `sent_bytes`, which are compared with plain
//!   numbers;
//! - `FIGURE.STAT`: of all steps together;
//! - `poison.containment.STAT`: from t0 of poisoned journeys to the failure stage they ended at;
//! - `lag.STAT`: the generator's own lateness.
//!
//! Single numbers:
//!
//! - `scheduled`, `missed`, `started`, `completed`, `late`, `lost`, `failed`, `root_failed`,
//!   `key_reused`, `duplicates`, `second_branches`, `not_accepted` (events of batches),
//!   `batches_in_part`: of all journeys, or of one as `journey.J.lost`;
//! - `lost < 0.1%` (or `lost.share`): the share of the started, and so for `completed`, `late`,
//!   `failed`, `root_failed`; `missed` is a share of the scheduled;
//! - `stage.S.reached`, `stage.S.duplicates`, `stage.S.deliveries` (per event);
//! - `branch.S.ratio`: the share of completions that took alternative S;
//! - `orphans`, `foreign`, `unattributed`, `undecodable`, `after_failure`: events;
//! - `errors.rate`, `step.T.errors.rate`: failed step requests by all of them; `errors.count`,
//!   `step.T.errors.count`: failed step requests;
//! - `limit.L.violations`: of limit L, over the whole run;
//! - `poison.FIGURE`, of all poisoned journeys, or `poison.J.FIGURE` of journey J's: `sent`,
//!   `contained`, `contained_late`, `completed`, `refused`, `failed`, `lost` (these six also as
//!   shares of the sent: `poison.contained >= 99%`), `duplicates`, `events_after`, `deliveries`;
//! - `drain`: the time from the last arrival until nothing was in flight;
//! - `backlog.slope`: growth of what is in flight, per second.
//!
//! STAT is `p50`…`p99.99`, `mean`, `max`, `min`, `stddev` in the subject's unit, `count`, or `rate`
//! (per second of the steady phase). A name may contain dots: what stands between the first part
//! and the known last ones is the name. Everything of a journey reads its steady phase; unmatched
//! events belong to no phase. Poisoned journeys are in no other figure than those of `poison`.

mod bound;
mod evaluate;
mod infinite;
mod parse;
mod poison;
mod subject;

pub use evaluate::ThresholdContext;

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
#[allow(missing_docs, reason = "named for the figure; defined in docs/definitions.md")]
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
    #[serde(with = "infinite")]
    pub measured: Option<f64>,
    /// Whether it held.
    pub held: bool,
}

impl Threshold {
    /// Reads `journey.payment.p99 < 25s`. Bounds: a number, a time (`25s`, `1.5ms`, `200us`), or a
    /// percentage (`0.1%`).
    pub fn parse(text: &str) -> Result<Self, ThresholdError> {
        parse::parse(text)
    }
}

impl Comparison {
    /// Whether `figure` stands so to `bound`.
    pub fn holds(self, figure: f64, bound: f64) -> bool {
        match self {
            Self::Less => figure < bound,
            Self::LessOrEqual => figure <= bound,
            Self::Greater => figure > bound,
            Self::GreaterOrEqual => figure >= bound,
            Self::Equal => figure == bound,
            Self::NotEqual => figure != bound,
        }
    }
}

/// The message, with the hint behind it where there is one.
impl std::fmt::Display for ThresholdError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " (hint: {hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ThresholdError {}

#[cfg(test)]
mod tests;
