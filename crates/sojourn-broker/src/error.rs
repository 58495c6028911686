//! What goes wrong with a broker.

/// Why a connector could not start or was lost. The message names broker and address, says what to
/// do, and holds no secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BrokerError {
    /// In words.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl BrokerError {
    /// An error without a hint.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    /// The same with what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
