//! A report made by a template of the user's own.
//!
//! The template's language is Jinja's, as the HTML report's own templates are written in it. It
//! sees the fields of the JSON report by their names, and filters that print figures as the other
//! reports do: `duration` (of nanoseconds), `count`, `number`, `percent` (of a fraction), `bytes`,
//! `quantile`; `tojson` writes a value as JSON. A name that does not exist is an error that says
//! it, wherever it stands, and not an empty text: a slip does not go unnoticed. What the run did
//! not have is `null`, which conditions and filters take.

use std::path::Path;

use minijinja::{
    AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, syntax::SyntaxConfig,
};

use super::html;
use crate::ReportModel;

/// What a template is called within its environment: messages name the file themselves.
const NAME: &str = "report";

/// A template that was found to be one.
#[derive(Debug)]
pub struct Template {
    /// Its file, as errors name it.
    file: String,
    environment: Environment<'static>,
}

/// What is wrong with a template.
#[derive(Debug, thiserror::Error)]
#[error("{file}, line {line}: {reason}")]
pub struct TemplateError {
    /// The template's file.
    pub file: String,
    /// The line, from 1; 0 where it is not known.
    pub line: usize,
    /// What is wrong there, in words.
    pub reason: String,
}

impl Template {
    /// Reads a template's text. `file` is its name in messages. What it inserts is escaped as HTML
    /// for a report of that name's ending (`.html`, `.htm`, `.xml`), else not at all.
    pub fn new(file: &str, text: String, report: &Path) -> Result<Self, TemplateError> {
        let ending = report.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let escape = match ending {
            "html" | "htm" | "xml" => AutoEscape::Html,
            _ => AutoEscape::None,
        };
        let told = |error: &Error| TemplateError::of(file, error);
        let mut environment = html::environment().map_err(|error| told(&error))?;
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        // Errors know then what it was that does not exist.
        environment.set_debug(true);
        let mut syntax = SyntaxConfig::builder();
        syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
        environment.set_syntax(syntax.build().map_err(|error| told(&error))?);
        environment.set_auto_escape_callback(move |_| escape.clone());
        environment.add_filter("tojson", |value: minijinja::Value| {
            let json = serde_json::to_string(&html::existing(value)?)
                .map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))?;
            // The same JSON, of which nothing can end a script or an attribute of a page.
            let json = html::script_json(&json).replace('\'', "\\u0027");
            Ok(minijinja::Value::from_safe_string(json))
        });
        environment.add_template_owned(NAME, text).map_err(|error| told(&error))?;
        Ok(Self { file: file.to_owned(), environment })
    }

    /// The report of a run.
    pub fn render(&self, model: &ReportModel) -> Result<String, TemplateError> {
        let render = || self.environment.get_template(NAME)?.render(html::serialised(model));
        render().map_err(|error| TemplateError::of(&self.file, &error))
    }
}

impl TemplateError {
    fn of(file: &str, error: &Error) -> Self {
        let kind = error.kind();
        let reason = match error.detail() {
            None => kind.to_string(),
            Some(detail) => match missing(kind, detail) {
                Some(missing) => missing,
                None => format!("{kind}: {detail}"),
            },
        };
        Self { file: file.to_owned(), line: error.line().unwrap_or(0), reason }
    }
}

/// What does not exist, where that is what is wrong: the detail itself, or behind what could not
/// be done with it, as in "cannot convert undefined to f64 (`a.b` is undefined)".
fn missing(kind: ErrorKind, detail: &str) -> Option<String> {
    let said = match detail.rsplit_once(" (`") {
        Some((_, named)) => format!("`{}", named.strip_suffix(')')?),
        None if kind == ErrorKind::UndefinedError => detail.to_owned(),
        None => return None,
    };
    said.contains("` is undefined").then_some(said)
}
