//! Reading a journey file.

use std::path::Path;

use crate::Plan;

/// What the command line changes about a file.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Base for relative URLs.
    pub target: Option<String>,
    /// Labels to add.
    pub labels: Vec<(String, String)>,
    /// Seed.
    pub seed: Option<u64>,
    /// Variables for `${NAME}`, looked up before the environment.
    pub environment: Vec<(String, String)>,
}

/// Reads the files that a plan names, relative to the plan's own folder.
pub trait Files {
    /// The file's text.
    fn read(&self, path: &Path) -> std::io::Result<String>;
    /// An environment variable, for `${NAME}`.
    fn variable(&self, name: &str) -> Option<String>;
}

/// One thing wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    /// File as given.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// What is wrong, with the offending text.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

/// Everything found wrong; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.0.iter().map(|error| error.to_string()).collect::<Vec<_>>().join("\n"))]
pub struct PlanErrors(pub Vec<PlanError>);

impl std::fmt::Display for PlanError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}:{}:{}: {}",
            self.file, self.line, self.column, self.message
        )?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

/// Reads a journey file's text into a plan.
pub fn read(
    _file: &str,
    _text: &str,
    _files: &dyn Files,
    _overrides: &Overrides,
) -> Result<Plan, PlanErrors> {
    Ok(Plan::default())
}

/// The JSON Schema of journey files.
pub fn schema() -> serde_json::Value {
    serde_json::Value::Null
}
