//! The report of a look before a run: what was checked, and how it stands.

use serde::Serialize;
use sojourn_analysis::check::{Check, Finding, none_failed};

/// Version of the serialised shape.
pub const SCHEMA: u32 = 1;

/// All checks of a plan, as they are printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DoctorReport {
    /// Version of this shape: [`SCHEMA`].
    pub schema: u32,
    /// Sojourn's version.
    pub version: String,
    /// Whether none of them failed.
    pub ready: bool,
    /// The checks, in the order in which they were made.
    pub checks: Vec<Check>,
}

impl DoctorReport {
    /// A report of these checks.
    pub fn new(checks: Vec<Check>) -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Self { schema: SCHEMA, version, ready: none_failed(&checks), checks }
    }

    /// One sentence, without a full stop: `not ready: 1 failed, 12 passed, 2 skipped`.
    pub fn sentence(&self) -> String {
        let count = |outcome| self.checks.iter().filter(|check| check.outcome == outcome).count();
        let counts = [
            (count(Finding::Failed), "failed"),
            (count(Finding::Warned), "to be looked at"),
            (count(Finding::Passed), "passed"),
            (count(Finding::Skipped), "skipped"),
        ];
        let told = counts.iter().filter(|(count, _)| *count > 0);
        let told: Vec<String> = told.map(|(count, word)| format!("{count} {word}")).collect();
        let verdict = if self.ready { "ready" } else { "not ready" };
        format!("{verdict}: {}", told.join(", "))
    }
}
