//! Requirements of a file, held against the run's figures.

use schemars::JsonSchema;
use serde::Serialize;

/// A requirement and what came of it.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct RequirementRow {
    /// What it is about: `http.latency`.
    pub kind: String,
    /// Which figure: `percentile 99`; empty where there is only one.
    pub metric: String,
    /// Which part counts: `status < 400, tag a or b`; empty without a filter.
    pub filter: String,
    /// The figure; `None` where it is not available or was not looked at.
    pub measured: Option<f64>,
    /// Its unit; empty where it has none.
    pub unit: String,
    /// What was wanted: `< 1000`.
    pub wanted: String,
    /// What came of it.
    pub outcome: RequirementOutcome,
    /// Whether it may be unavailable.
    pub is_optional: bool,
    /// Whether it stands in the way of a pass.
    pub failed: bool,
    /// All of it in one line, without a mark: `http.latency maximum: 12 ms, wanted < 1000`.
    pub text: String,
}

/// Whether a requirement was met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RequirementOutcome {
    /// It was.
    Met,
    /// It was not.
    Missed,
    /// Nobody knows.
    #[default]
    Unavailable,
    /// Nobody looked.
    Disabled,
}

impl RequirementOutcome {
    /// A mark that tells it without colour.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Met => "✓",
            Self::Missed => "✗",
            Self::Unavailable => "?",
            Self::Disabled => "DISABLED",
        }
    }
}

/// `3/4 requirements met`: of those that were looked at.
pub fn requirements_met(rows: &[RequirementRow]) -> String {
    let looked = rows.iter().filter(|row| row.outcome != RequirementOutcome::Disabled);
    let met = rows.iter().filter(|row| row.outcome == RequirementOutcome::Met).count();
    format!("{met}/{} requirements met", looked.count())
}
