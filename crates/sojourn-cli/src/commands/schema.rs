//! `sojourn schema`: JSON Schemas of what is read and written.

use crate::{errors::UsageError, outputs};

/// Print the JSON Schema of journey files, for editors, or of another format
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn schema > journey.schema.json
  sojourn schema report > report.schema.json    of `--report FILE.json`")]
pub(crate) struct Schema {
    /// Of what
    #[arg(value_enum, default_value_t = Of::Journey)]
    of: Of,
}

/// What there is a schema of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Of {
    /// Journey files
    Journey,
    /// The JSON report of a run
    Report,
}

/// Prints it.
pub(crate) fn run(command: &Schema) -> Result<u8, UsageError> {
    let schema = match command.of {
        Of::Journey => sojourn_plan::schema(),
        Of::Report => sojourn_report::schema(),
    };
    outputs::print(&format!("{schema:#}\n"));
    Ok(0)
}
