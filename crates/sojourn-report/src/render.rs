//! Renderers: each reads a [`ReportModel`] and nothing else, but for those of single seconds, which
//! read the run file's samples; those of several runs together read
//! a [`CapacityReport`] or a [`SweepReport`], and the checks before a run are a [`DoctorReport`].

mod csv;
mod hlog;
pub(crate) mod html;
mod intervals;
mod junit;
mod markdown;
mod template;
pub(crate) mod text;

use std::io::Write;

use sojourn_record::{ReadError, RunFile};

pub use template::{Template, TemplateError};

use crate::{ReportModel, capacity::CapacityReport, doctor::DoctorReport, sweep::SweepReport};

/// The style sheet of all pages, for others that look like them.
pub const STYLE: &str = include_str!("../assets/style.css");
/// What turns figures into words in a browser: `words.print.ns(1500)` is `1.50 µs`.
pub const WORDS_SCRIPT: &str = include_str!("../assets/words.js");

/// Why a report could not be rendered: a defect of ours, since a model holds nothing that can't be,
/// unless the run file could not be read again.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The HTML template failed.
    #[error("the HTML report's template failed: {0}")]
    Template(#[from] minijinja::Error),
    /// The model could not be serialised.
    #[error("the report's model could not be serialised: {0}")]
    Json(#[from] serde_json::Error),
    /// A line of CSV could not be written.
    #[error("the report's CSV could not be written: {0}")]
    Csv(#[from] ::csv::Error),
    /// A histogram could not be encoded, or not be written.
    #[error("a second's histogram could not be written: {0}")]
    Histogram(String),
    /// The run file's seconds could not be read again.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// For a terminal: at most 100 columns but for the lines of the plan, the generator's health first,
/// the plan last. `colour` only adds to what
/// words and marks already say; pass `false` under `NO_COLOR` or when not writing to a terminal.
pub fn text(model: &ReportModel, colour: bool) -> String {
    text::report(model, colour)
}

/// The same of journeys that a script began, whose thresholds and load are told elsewhere.
pub fn journeys_text(model: &ReportModel, colour: bool) -> String {
    text::journeys(model, colour)
}

/// The model's serialisation, indented; the shape is that of [`crate::model`].
pub fn json(model: &ReportModel) -> Result<String, RenderError> {
    Ok(serde_json::to_string_pretty(model)?)
}

/// For pull requests and job summaries: GitHub Flavored Markdown.
pub fn markdown(model: &ReportModel) -> String {
    markdown::report(model)
}

/// For CI servers: JUnit's XML, a case for the verdict, for each threshold and each requirement.
pub fn junit(model: &ReportModel) -> String {
    junit::report(model)
}

/// Writes the run's seconds as CSV, one line for each second and series. Reads the run file again,
/// second by second: memory does not grow with the run.
pub fn csv(run: &RunFile, out: &mut dyn Write) -> Result<(), RenderError> {
    csv::report(run, out)
}

/// Writes the run's seconds as an HdrHistogram interval log (version 1.3), one line for each second
/// and series of times. Reads the run file again, second by second; writes many small pieces.
pub fn hlog(run: &RunFile, out: &mut dyn Write) -> Result<(), RenderError> {
    hlog::report(run, out)
}

/// One self-contained file: no script, style, font or image is loaded from anywhere.
pub fn html(model: &ReportModel) -> Result<String, RenderError> {
    html::report(model)
}

/// A search for the capacity, for a terminal; columns and colour as [`text`].
pub fn capacity_text(report: &CapacityReport, colour: bool) -> String {
    text::capacity::report(report, colour)
}

/// The serialisation of a search's report, indented.
pub fn capacity_json(report: &CapacityReport) -> Result<String, RenderError> {
    Ok(serde_json::to_string_pretty(report)?)
}

/// A search for the capacity as one self-contained file, with its curve.
pub fn capacity_html(report: &CapacityReport) -> Result<String, RenderError> {
    html::capacity::report(report)
}

/// A sweep, for a terminal; columns and colour as [`text`].
pub fn sweep_text(report: &SweepReport, colour: bool) -> String {
    text::sweep::report(report, colour)
}

/// The serialisation of a sweep's report, indented.
pub fn sweep_json(report: &SweepReport) -> Result<String, RenderError> {
    Ok(serde_json::to_string_pretty(report)?)
}

/// A sweep as one self-contained file, with its chart.
pub fn sweep_html(report: &SweepReport) -> Result<String, RenderError> {
    html::sweep::report(report)
}

/// The checks before a run, for a terminal; columns and colour as [`text`].
pub fn doctor_text(report: &DoctorReport, colour: bool) -> String {
    text::doctor::report(report, colour)
}

/// The serialisation of the checks before a run, indented.
pub fn doctor_json(report: &DoctorReport) -> Result<String, RenderError> {
    Ok(serde_json::to_string_pretty(report)?)
}
