//! The name of a run in a cluster.

use std::fmt;

use crate::ClusterError;

/// Longest name: what is made of it (`RUN-generators-12345`) must be a host's name.
const NAME_MAX: usize = 40;
/// What of a plan's name goes into a run's.
const STEM_MAX: usize = 24;

/// What a run is called in a cluster, and with it all of its objects: a name as hosts have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunName(String);

impl RunName {
    /// Checks a name: lower-case letters, digits and hyphens, a letter first.
    ///
    /// # Errors
    /// It is no such name, or too long.
    pub fn parse(text: &str) -> Result<Self, ClusterError> {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let is_name = text.starts_with(|c: char| c.is_ascii_lowercase())
            && !text.ends_with('-')
            && text.chars().all(is_plain);
        match is_name && text.len() <= NAME_MAX {
            true => Ok(Self(text.to_owned())),
            false => Err(ClusterError::Wanted(format!(
                "`{text}` is no name for a run: take lower-case letters, digits and hyphens, a \
                 letter first, {NAME_MAX} at most"
            ))),
        }
    }

    /// One of a plan's name and some letters that tell this run from others of the plan.
    ///
    /// # Errors
    /// The letters can't be part of a name.
    pub fn of_plan(plan: &str, unique: &str) -> Result<Self, ClusterError> {
        let lower = plan.to_ascii_lowercase();
        let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|it| !it.is_empty());
        let stem = words.collect::<Vec<_>>().join("-");
        let stem: String = stem.chars().take(STEM_MAX).collect();
        let stem = stem.trim_end_matches('-');
        match stem.starts_with(|c: char| c.is_ascii_lowercase()) {
            true => Self::parse(&format!("{stem}-{unique}")),
            false => Self::parse(format!("run-{stem}-{unique}").replace("--", "-").as_str()),
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The Job of its generators.
    pub fn generators(&self) -> String {
        format!("{}-generators", self.0)
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_hosts() {
        for name in ["a", "payments-1f00", "x9", &"a".repeat(40)] {
            assert_eq!(RunName::parse(name).unwrap().as_str(), name);
        }
        for wrong in ["", "-a", "a-", "A", "9a", "a.b", "a_b", "ä", &"a".repeat(41)] {
            let error = RunName::parse(wrong).unwrap_err().to_string();
            assert!(error.contains(&format!("`{wrong}`")), "{error}");
        }
    }

    #[test]
    fn a_plans_name_becomes_one() {
        for (plan, expected) in [
            ("payments", "payments-1f00"),
            ("Pay me: now!", "pay-me-now-1f00"),
            ("2nd", "run-2nd-1f00"),
            ("", "run-1f00"),
            ("ünïcode", "n-code-1f00"),
            ("a-very-long-name-of-a-plan-indeed", "a-very-long-name-of-a-pl-1f00"),
            ("twenty-three-letters-ab-cd", "twenty-three-letters-ab-1f00"),
        ] {
            assert_eq!(RunName::of_plan(plan, "1f00").unwrap().as_str(), expected, "{plan}");
        }
        assert!(RunName::of_plan("x", "A/").is_err());
    }
}
