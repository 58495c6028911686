//! What a command says when it cannot do its work: exit code 2.

use std::fmt;

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

    /// With a hint or without.
    pub(crate) fn with(message: impl Into<String>, hint: Option<String>) -> Self {
        Self { message: message.into(), hint }
    }

    /// What says everything itself.
    pub(crate) fn plain(message: String) -> Self {
        Self { message, hint: None }
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
