//! `sojourn k6 archive`: a script and all that it needs in one file.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use sojourn_k6::archive;
use sojourn_k6::flags::{RunFlags, Settings};
use sojourn_k6::options::Environment;
use sojourn_vu::{Console, check_thresholds};

use super::environment;
use super::script::{self, Around, Failed};
use crate::errors::UsageError;

/// Pack a script, its imports, the files that it opens and its options into one file
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn k6 archive script.js                        makes archive.tar
  sojourn k6 archive -u 10 -d 1m -O test.tar script.js
  sojourn k6 run test.tar                             k6 runs it too")]
pub(crate) struct Archive {
    /// The script
    script: PathBuf,
    /// Where the archive goes
    #[arg(short = 'O', long, value_name = "FILE", default_value = "archive.tar")]
    archive_out: PathBuf,
    /// Leave variables out
    #[arg(long)]
    exclude_env_vars: bool,
    #[command(flatten)]
    flags: RunFlags,
}

/// Writes it.
pub(super) fn run(command: &Archive) -> Result<u8, UsageError> {
    Ok(script::with_settings(&command.flags, |process, settings, console| {
        write(command, process, settings, console)
    }))
}

fn write(
    command: &Archive,
    process: &Environment,
    settings: &Settings,
    console: &Arc<Console>,
) -> Result<(), Failed> {
    let around = Around::here(process);
    let asked = script::ask(&command.script, &command.flags, settings, &around, None, console)?;
    check_thresholds(&asked.collected, &asked.consolidated)?;
    let wrong = |problem: &dyn std::fmt::Display| {
        Failed::config(format!("{}: {problem}", command.archive_out.display()))
    };
    let mode = settings.compatibility_mode.as_deref().unwrap_or("extended");
    let env = environment::of_script(process, settings, false);
    let made = archive::Archive {
        entry: asked.collected.entry(),
        options: Value::Object(asked.consolidated.written.inspected()),
        env: (!command.exclude_env_vars).then_some(env),
        compatibility_mode: mode.to_owned(),
        files: asked.collected.contents().map_err(Failed::config)?,
    };
    let file = File::create(&command.archive_out).map_err(|error| wrong(&error))?;
    let now_s = u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or(0);
    made.write(BufWriter::new(file), now_s).map_err(|error| wrong(&error))
}
