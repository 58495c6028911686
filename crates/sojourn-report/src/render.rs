//! Renderers: each reads a [`ReportModel`] and nothing else.

pub(crate) mod html;
pub(crate) mod text;

use crate::ReportModel;

/// Why a report could not be rendered: a defect of ours, since a model holds nothing that can't be.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The HTML template failed.
    #[error("the HTML report's template failed: {0}")]
    Template(#[from] minijinja::Error),
    /// The model could not be serialised.
    #[error("the report's model could not be serialised: {0}")]
    Json(#[from] serde_json::Error),
}

/// For a terminal: at most 100 columns but for the lines of the plan, the generator's health first,
/// the plan last. `colour` only adds to what
/// words and marks already say; pass `false` under `NO_COLOR` or when not writing to a terminal.
pub fn text(model: &ReportModel, colour: bool) -> String {
    text::report(model, colour)
}

/// The model's serialisation, indented; the shape is that of [`crate::model`].
pub fn json(model: &ReportModel) -> Result<String, RenderError> {
    Ok(serde_json::to_string_pretty(model)?)
}

/// One self-contained file: no script, style, font or image is loaded from anywhere.
pub fn html(model: &ReportModel) -> Result<String, RenderError> {
    html::report(model)
}
