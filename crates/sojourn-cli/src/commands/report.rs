//! `sojourn report`: a run file, rendered again.

use std::path::PathBuf;

use crate::{errors::UsageError, outputs, runner::Format};

/// Report on a run file
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn report reports/payments-….sojourn
  sojourn report run.sojourn --format json | jq .verdict
  sojourn report run.sojourn --output page.html")]
pub(crate) struct Report {
    /// Run file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Write to a file instead; its ending chooses the format: .html, .json, .txt
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Renders it.
pub(crate) fn run(command: &Report) -> Result<u8, UsageError> {
    let model = outputs::model(&command.file)?;
    match (&command.output, command.format) {
        (Some(path), _) => outputs::write_report(&model, path)?,
        (None, Format::Text) => outputs::print_text(&model),
        (None, Format::Json) => outputs::print(&sojourn_report::render::json(&model)?),
        (None, Format::Html) => outputs::print(&sojourn_report::render::html(&model)?),
    }
    Ok(0)
}
