//! From flags to a script's options: what `run` and `inspect` share.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sojourn_k6::exit_code::ExitCode;
use sojourn_k6::flags::{RunFlags, Settings};
use sojourn_k6::options::{Consolidated, Environment, Options, Tier, Tiers, consolidate};
use sojourn_vu::{Collected, Collecting, Console, Limits, Sources, collect};

use super::environment;

/// What one user may use: memory for values, and stack for calls.
pub(super) const LIMITS: Limits = Limits { memory_bytes: 256 << 20, stack_bytes: 160 * 1024 };

/// A script and everything that was asked for.
pub(super) struct Asked {
    pub(super) collected: Collected,
    pub(super) consolidated: Consolidated,
}

/// What went wrong, and what the process ends with.
pub(super) struct Failed {
    pub(super) exit: ExitCode,
    pub(super) message: String,
}

impl Failed {
    pub(super) fn config(message: impl ToString) -> Self {
        Self { exit: ExitCode::InvalidConfig, message: message.to_string() }
    }
}

/// Runs the script's top level and makes one set of options.
pub(super) fn ask(
    script: &Path,
    flags: &RunFlags,
    settings: &Settings,
    process: &Environment,
    is_included: bool,
    console: &Arc<Console>,
) -> Result<Asked, Failed> {
    let (script, entry_text) = entry(script)?;
    let collecting = Collecting {
        script,
        sources: Sources { entry_text, ..sojourn_vu::sources() },
        env: environment::of_script(process, settings, is_included),
        limits: LIMITS,
        console: Arc::clone(console),
    };
    let collected = collect(collecting)
        .map_err(|error| Failed { exit: ExitCode::ScriptException, message: error.with_stack() })?;
    let config_file = config_file(flags, process)?;
    let (of_script, unknown) =
        Options::from_json(Tier::Script, &collected.options).map_err(Failed::config)?;
    for key in unknown {
        console.warn(&format!("There is no option \"{key}\" of scripts: it is not used"));
    }
    let tiers = Tiers {
        config_file: Options::from_json(Tier::ConfigFile, &config_file).map_err(Failed::config)?.0,
        script: of_script,
        environment: Options::from_environment(process).map_err(Failed::config)?,
        flags: flags.options().map_err(Failed::config)?,
    };
    let consolidated = consolidate(tiers).map_err(Failed::config)?;
    for warning in &consolidated.warnings {
        console.warn(warning);
    }
    Ok(Asked { collected, consolidated })
}

/// The script's path; of `-` the text too.
fn entry(script: &Path) -> Result<(PathBuf, Option<String>), Failed> {
    if script != Path::new("-") {
        return Ok((script.to_owned(), None));
    }
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| Failed::config(format!("standard input: {error}")))?;
    Ok((PathBuf::from("-"), Some(text)))
}

/// The JSON of `-c` or `K6_CONFIG`; null without.
pub(super) fn config_file(
    flags: &RunFlags,
    process: &Environment,
) -> Result<serde_json::Value, Failed> {
    let path = flags.config.clone().or_else(|| process.get("K6_CONFIG").cloned());
    let Some(path) = path.filter(|path| !path.is_empty()) else {
        return Ok(serde_json::Value::Null);
    };
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Failed::config(format!("{path}: {error}")))?;
    serde_json::from_str(&text).map_err(|error| Failed::config(format!("{path}: {error}")))
}
