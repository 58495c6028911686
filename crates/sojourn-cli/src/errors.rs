//! What a command says when it cannot do its work.

use std::{ffi::OsStr, fmt, path::Path};

/// The exit code of wrong usage, and of a plan that can't run.
pub(crate) const EXIT_USAGE: u8 = 2;
/// The exit code of one of Vegeta's commands that failed at work.
const EXIT_RUNTIME: u8 = 1;

/// A message with an optional hint, as people read it.
#[derive(Debug)]
pub(crate) struct UsageError {
    message: String,
    hint: Option<String>,
    /// One of Vegeta's commands failed at its work: its exit code, and a line as its log has it.
    is_runtime: bool,
    /// The exit code; `None`: that of wrong usage, or of a failure at work.
    code: Option<u8>,
}

impl UsageError {
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: Some(hint.into()), is_runtime: false, code: None }
    }

    /// A failure of one of Vegeta's commands at work: exit code 1.
    pub(crate) fn runtime(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, is_runtime: true, code: None }
    }

    /// What one of Vegeta's commands could not do with a file, and the system's word: exit code 1.
    pub(crate) fn file(action: &str, name: &OsStr, error: &std::io::Error) -> Self {
        let said = error.to_string();
        let said = said.split(" (os error").next().unwrap_or_default().to_lowercase();
        Self::runtime(format!("{action} {}: {said}", name.display()))
    }

    /// A file that can't be read, and what to do.
    pub(crate) fn unreadable(path: &Path, error: &std::io::Error, hint: &str) -> Self {
        Self::new(format!("cannot read {}: {error}", path.display()), hint)
    }

    /// The message and the hint.
    pub(crate) fn into_parts(self) -> (String, Option<String>) {
        (self.message, self.hint)
    }

    /// The exit code: 2, or 1 as Vegeta has it, or its own.
    pub(crate) fn code(&self) -> u8 {
        self.code.unwrap_or(if self.is_runtime { EXIT_RUNTIME } else { EXIT_USAGE })
    }

    /// The same with an exit code of its own.
    pub(crate) fn with_code(self, code: u8) -> Self {
        Self { code: Some(code), ..self }
    }

    /// The same, of this: `RATE=fast`.
    pub(crate) fn of(self, what: &str) -> Self {
        Self { message: format!("{what}: {}", self.message), ..self }
    }

    /// With a hint or without.
    pub(crate) fn with(message: impl Into<String>, hint: Option<String>) -> Self {
        Self { message: message.into(), hint, is_runtime: false, code: None }
    }

    /// What says everything itself.
    pub(crate) fn plain(message: String) -> Self {
        Self { message, hint: None, is_runtime: false, code: None }
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_runtime {
            let now = jiff::Zoned::now().strftime("%Y/%m/%d %H:%M:%S");
            return write!(f, "{now} {}", self.message);
        }
        write!(f, "error: {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl From<sojourn_engine::RunError> for UsageError {
    fn from(error: sojourn_engine::RunError) -> Self {
        Self { message: error.message, hint: error.hint, is_runtime: false, code: None }
    }
}

impl From<UsageError> for sojourn_engine::RunError {
    fn from(error: UsageError) -> Self {
        Self { message: error.message, hint: error.hint }
    }
}

impl From<sojourn_fleet::FleetError> for UsageError {
    fn from(error: sojourn_fleet::FleetError) -> Self {
        Self::with(error.to_string(), None)
    }
}

impl From<sojourn_plan::PlanErrors> for UsageError {
    fn from(errors: sojourn_plan::PlanErrors) -> Self {
        Self { message: errors.to_string(), hint: None, is_runtime: false, code: None }
    }
}

impl From<sojourn_report::render::RenderError> for UsageError {
    fn from(error: sojourn_report::render::RenderError) -> Self {
        use sojourn_report::render::RenderError;
        let is_defect = match &error {
            RenderError::Template(_) | RenderError::Json(_) => true,
            // A disk may be full.
            RenderError::Read(_) | RenderError::Csv(_) | RenderError::Histogram(_) => false,
        };
        let hint = is_defect.then(|| "this is a defect: please report it".to_owned());
        Self { message: error.to_string(), hint, is_runtime: false, code: None }
    }
}

impl From<sojourn_report::render::TemplateError> for UsageError {
    fn from(error: sojourn_report::render::TemplateError) -> Self {
        let hint =
            "docs/reports.md shows what a template sees; `sojourn schema report` lists all of it";
        Self {
            message: error.to_string(),
            hint: Some(hint.to_owned()),
            is_runtime: false,
            code: None,
        }
    }
}

impl From<sojourn_kubernetes::ClusterError> for UsageError {
    fn from(error: sojourn_kubernetes::ClusterError) -> Self {
        Self::plain(error.to_string())
    }
}

impl From<sojourn_record::ReadError> for UsageError {
    fn from(error: sojourn_record::ReadError) -> Self {
        Self { message: error.to_string(), hint: None, is_runtime: false, code: None }
    }
}
