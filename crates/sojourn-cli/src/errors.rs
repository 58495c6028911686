//! What a command says when it cannot do its work.
//!
//! A [`UsageError`] is exit code 2. The commands that scripts written for Vegeta call know a
//! [`Failure`] besides: wrong input found at work, one line with the time in front, exit code 1.

use std::{ffi::OsStr, fmt};

/// A message with an optional hint, as people read it.
#[derive(Debug)]
pub(crate) struct UsageError {
    message: String,
    hint: Option<String>,
}

impl UsageError {
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: Some(hint.into()) }
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl From<sojourn_engine::RunError> for UsageError {
    fn from(error: sojourn_engine::RunError) -> Self {
        Self { message: error.message, hint: error.hint }
    }
}

impl From<sojourn_plan::PlanErrors> for UsageError {
    fn from(errors: sojourn_plan::PlanErrors) -> Self {
        Self { message: errors.to_string(), hint: None }
    }
}

impl From<sojourn_report::render::RenderError> for UsageError {
    fn from(error: sojourn_report::render::RenderError) -> Self {
        Self {
            message: error.to_string(),
            hint: Some("this is a defect: please report it".to_owned()),
        }
    }
}

impl From<sojourn_record::ReadError> for UsageError {
    fn from(error: sojourn_record::ReadError) -> Self {
        Self { message: error.to_string(), hint: None }
    }
}

/// Why a command failed at work. Its line is what a log would have.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    /// From words.
    pub(crate) fn new(words: impl fmt::Display) -> Self {
        Self(words.to_string())
    }

    /// What could not be done with a file, and the system's word.
    pub(crate) fn file(action: &str, name: &OsStr, error: &std::io::Error) -> Self {
        let said = error.to_string();
        let said = said.split(" (os error").next().unwrap_or_default().to_lowercase();
        Self(format!("{action} {}: {said}", name.to_string_lossy()))
    }

    /// Prints the line; the exit code.
    pub(crate) fn report(&self) -> u8 {
        let now = jiff::Zoned::now().strftime("%Y/%m/%d %H:%M:%S");
        eprintln!("{now} {}", self.0);
        1
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
