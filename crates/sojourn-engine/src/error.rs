//! Why a run could not be made at all.

/// A run that could not start, or could not keep its record: exit code 2, nothing was measured.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct RunError {
    /// In words, naming address, file or step.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl RunError {
    /// With a hint or without.
    pub fn with(message: impl Into<String>, hint: Option<String>) -> Self {
        Self { message: message.into(), hint }
    }

    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: Some(hint.into()) }
    }

    /// The same with what went wrong besides, a line each.
    pub(crate) fn and(mut self, notes: &[String]) -> Self {
        for note in notes {
            self.message.push('\n');
            self.message.push_str(note);
        }
        self
    }
}

impl From<sojourn_broker::BrokerError> for RunError {
    fn from(error: sojourn_broker::BrokerError) -> Self {
        Self { message: error.message, hint: error.hint }
    }
}
