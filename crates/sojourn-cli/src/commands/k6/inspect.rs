//! `sojourn k6 inspect`: a script's options.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use sojourn_k6::flags::{RunFlags, Settings};
use sojourn_k6::options::{Environment, Options, Tier};
use sojourn_vu::{Console, check_thresholds};

use super::script::{self, Around, Failed};
use crate::errors::UsageError;

/// Show a script's options
#[derive(Debug, clap::Args)]
pub(crate) struct Inspect {
    /// The script
    script: PathBuf,
    /// Also flags' and variables' options, the most users and the longest duration
    #[arg(long)]
    execution_requirements: bool,
    #[command(flatten)]
    flags: RunFlags,
}

/// Prints them as JSON.
pub(super) fn run(command: &Inspect) -> Result<u8, UsageError> {
    Ok(script::with_settings(&command.flags, |process, settings, console| {
        println!("{}", inspect(command, process, settings, console)?);
        Ok(())
    }))
}

fn inspect(
    command: &Inspect,
    process: &Environment,
    settings: &Settings,
    console: &Arc<Console>,
) -> Result<String, Failed> {
    let around = Around::here(process);
    let shown = if command.execution_requirements {
        let asked = script::ask(&command.script, &command.flags, settings, &around, None, console)?;
        check_thresholds(&asked.collected, &asked.consolidated)?;
        asked.consolidated.inspected()
    } else {
        let collected = script::load(&command.script, settings, &around, console)?;
        let own = Options::from_json(Tier::Script, &collected.options).map_err(Failed::options)?.0;
        Value::Object(own.inspected())
    };
    serde_json::to_string_pretty(&shown).map_err(Failed::config)
}
