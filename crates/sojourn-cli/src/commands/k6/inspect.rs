//! `sojourn k6 inspect`: a script's options.

use std::path::PathBuf;

use serde_json::json;
use sojourn_k6::duration::Nanos;
use sojourn_k6::flags::{RunFlags, Settings};

use super::{environment, log, script};
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
    match inspect(command) {
        Ok(text) => {
            println!("{text}");
            Ok(0)
        }
        Err(failed) => {
            eprintln!("sojourn k6: {}", failed.message);
            Ok(failed.exit.code())
        }
    }
}

fn inspect(command: &Inspect) -> Result<String, script::Failed> {
    let process = environment::of_process();
    let settings = Settings::new(&command.flags, &process, &serde_json::Value::Null)
        .map_err(script::Failed::config)?;
    let console = log::console(&settings, None)?;
    let asked = script::ask(&command.script, &command.flags, &settings, &process, false, &console)?;
    let mut shown = if command.execution_requirements {
        asked.consolidated.options.to_json()
    } else {
        let (own, _) = sojourn_k6::options::Options::from_json(
            sojourn_k6::options::Tier::Script,
            &asked.collected.options,
        )
        .map_err(script::Failed::config)?;
        own.to_json()
    };
    if command.execution_requirements
        && let Some(object) = shown.as_object_mut()
    {
        let needed = asked.consolidated.requirements();
        let longest = needed
            .max_duration_ns
            .map(|ns| Nanos(i64::try_from(ns).unwrap_or(i64::MAX)).to_string());
        object.insert("maxVUs".to_owned(), json!(needed.max_vus));
        object.insert("totalDuration".to_owned(), json!(longest));
    }
    serde_json::to_string_pretty(&shown).map_err(script::Failed::config)
}
