//! What was looked at before a run, and what was found.

use serde::Serialize;

/// One thing looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What is looked at: `clock`, `target`, `channel`.
    pub name: String,
    /// Which one of several; else empty.
    pub subject: String,
    /// How it stands.
    pub outcome: Finding,
    /// What was found, in words and with figures; of a skipped check, why it was skipped.
    pub found: String,
    /// What to do, where something is to be done.
    pub advice: Option<String>,
}

/// How a check stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Finding {
    /// As it should be.
    Passed,
    /// A run can be made; its figures may suffer.
    Warned,
    /// A run cannot be made, or would come to nothing.
    Failed,
    /// Not looked at.
    Skipped,
}

impl Check {
    /// As it should be.
    pub fn passed(name: &str, subject: &str, found: impl Into<String>) -> Self {
        Self::of(name, subject, Finding::Passed, found.into())
    }

    /// A run can be made; its figures may suffer.
    pub fn warned(name: &str, subject: &str, found: impl Into<String>) -> Self {
        Self::of(name, subject, Finding::Warned, found.into())
    }

    /// A run cannot be made, or would come to nothing.
    pub fn failed(name: &str, subject: &str, found: impl Into<String>) -> Self {
        Self::of(name, subject, Finding::Failed, found.into())
    }

    /// Not looked at, and why.
    pub fn skipped(name: &str, subject: &str, why: impl Into<String>) -> Self {
        Self::of(name, subject, Finding::Skipped, why.into())
    }

    /// The same with what to do.
    #[must_use]
    pub fn advised(self, advice: impl Into<Option<String>>) -> Self {
        Self { advice: advice.into(), ..self }
    }

    fn of(name: &str, subject: &str, outcome: Finding, found: String) -> Self {
        Self { name: name.to_owned(), subject: subject.to_owned(), outcome, found, advice: None }
    }
}

/// Whether none of them failed: then a run can be made.
pub fn none_failed(checks: &[Check]) -> bool {
    checks.iter().all(|check| check.outcome != Finding::Failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_and_a_skipped_check_are_no_failure() {
        let mut checks = vec![
            Check::passed("clock", "", "tsc"),
            Check::warned("memory", "", "little").advised("have more".to_owned()),
            Check::skipped("probe", "", "not asked for"),
        ];
        assert!(none_failed(&checks) && none_failed(&[]));
        assert_eq!(checks[1].advice.as_deref(), Some("have more"));
        checks.push(Check::failed("target", "h:1", "refused"));
        assert!(!none_failed(&checks));
    }
}
