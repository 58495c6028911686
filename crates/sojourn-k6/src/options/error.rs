//! What is wrong with an option, and where it was written.

use std::fmt;

use crate::exit_code::ExitCode;

/// Where a set of options was written, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// The JSON file of `-c` (`K6_CONFIG`).
    ConfigFile,
    /// What the script exports as `options`.
    Script,
    /// Variables `K6_…`.
    Environment,
    /// Flags of the command line.
    Flags,
}

impl fmt::Display for Tier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::ConfigFile => "config file",
            Self::Script => "script options",
            Self::Environment => "environment",
            Self::Flags => "flags",
        })
    }
}

/// Options that can't be used. Ends the process with [`ExitCode::InvalidConfig`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// A value of the wrong type or form.
    #[error("{tier}: {name}: {problem}")]
    Value {
        /// Where it was written.
        tier: Tier,
        /// The option, variable or flag, with the way into it: `scenarios.login.vus`.
        name: String,
        /// What is wrong, with the value.
        problem: String,
    },
    /// Options of one tier that exclude each other.
    #[error("using `{first}` and `{second}` options simultaneously is not allowed")]
    Conflict {
        /// One of them.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// A `duration` that never ends.
    #[error("`duration` option should be more than 0, for infinite duration use a scenario")]
    Endless,
    /// Values of the right type that make no sense together, one line each.
    #[error("There were problems with the specified script configuration:{}", lines(.0))]
    Senseless(Vec<String>),
}

fn lines(problems: &[String]) -> String {
    problems.iter().map(|problem| format!("\n\t- {problem}")).collect()
}

impl OptionsError {
    /// What the process ends with.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::InvalidConfig
    }
}

/// A value of the wrong type or form, before it is known which option of which tier it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// The way from the option to the value: `.login.vus`.
    pub(crate) path: String,
    pub(crate) problem: String,
}

impl Wrong {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self { path: String::new(), problem: problem.into() }
    }

    /// `value` is not `what`.
    pub(crate) fn type_of(value: &serde_json::Value, what: &str) -> Self {
        let mut shown = value.to_string();
        if let Some((end, _)) = shown.char_indices().nth(60) {
            shown.truncate(end);
            shown.push('…');
        }
        Self::new(format!("{shown} is not {what}"))
    }

    /// One step further from the value.
    pub(crate) fn within(mut self, step: impl fmt::Display) -> Self {
        self.path = format!(".{step}{}", self.path);
        self
    }

    pub(crate) fn at(self, tier: Tier, name: &str) -> OptionsError {
        OptionsError::Value { tier, name: format!("{name}{}", self.path), problem: self.problem }
    }
}
