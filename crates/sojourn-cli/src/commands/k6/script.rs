//! From flags to a script's options: what `run`, `inspect` and `archive` share.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use sojourn_http::Proxies;
use sojourn_k6::exit_code::ExitCode;
use sojourn_k6::flags::{RunFlags, Settings};
use sojourn_k6::metrics::SystemTags;
use sojourn_k6::options::{
    Consolidated, Environment, Options, OptionsError, Segment, SegmentSequence, Tier, Tiers,
    consolidate,
};
use sojourn_vu::{Collected, Collecting, Console, Limits, RunError, ScriptError, Secrets, collect};

use super::{config_file, environment, log, source};
use crate::connectors::registry;
use crate::shelf::Shelf;

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
    /// What else is known of it, as fields of the log line.
    pub(super) fields: Vec<(&'static str, &'static str)>,
}

impl Failed {
    /// Wrong settings.
    pub(super) fn config(message: impl ToString) -> Self {
        Self::new(ExitCode::InvalidConfig, message)
    }

    pub(super) fn new(exit: ExitCode, message: impl ToString) -> Self {
        Self { exit, message: message.to_string(), fields: Vec::new() }
    }

    /// The same, with what asked for it before it.
    pub(super) fn of(self, asked: &str) -> Self {
        Self { message: format!("{asked}: {}", self.message), ..self }
    }

    /// Wrong options: of the command line, or of the test.
    pub(super) fn options(error: OptionsError) -> Self {
        Self::new(error.exit_code(), error)
    }

    /// The script's top level failed. What it has thrown is told as it is; what can't be loaded
    /// with the script's name.
    fn loading(script: &Path, error: &ScriptError) -> Self {
        let name = script.display();
        let url = std::path::absolute(script).unwrap_or_else(|_| script.to_owned());
        let whole = |text: &str| {
            let url = url.display();
            format!("could not initialize '{name}': could not load JS test 'file://{url}': {text}")
        };
        let text = error.message.strip_prefix("Error: ").unwrap_or(&error.message);
        if text == "no exported functions in script" {
            return Self::new(ExitCode::Unspecified, whole(text));
        }
        if text.starts_with("test aborted") {
            return Self::new(ExitCode::ScriptAborted, whole(text));
        }
        if text.starts_with("can't import") || text.starts_with("the module \"") {
            return Self::new(ExitCode::ScriptException, whole(text));
        }
        let error = RunError::exception(error);
        Self { exit: error.exit, message: error.message, fields: error.fields }
    }

    /// Says it in the log; the exit code.
    pub(super) fn tell(&self, console: &Console) -> u8 {
        console.failure(&self.message, &self.fields);
        self.exit.code()
    }
}

impl From<RunError> for Failed {
    fn from(error: RunError) -> Self {
        Self { exit: error.exit, message: error.message, fields: error.fields }
    }
}

/// Settles what flags and variables ask for, without a configuration file, and does `work` with
/// that; the exit code. What goes wrong is said in the log.
pub(super) fn with_settings(
    flags: &RunFlags,
    work: impl FnOnce(&Environment, &Settings, &Arc<Console>) -> Result<(), Failed>,
) -> u8 {
    let process = environment::of_process();
    let settings = Settings::new(flags, &process, &Value::Null).map_err(Failed::options);
    let prepared = settings.and_then(|settings| Ok((log::console(&settings, None)?, settings)));
    match prepared {
        Ok((console, settings)) => match work(&process, &settings, &console) {
            Ok(()) => 0,
            Err(failed) => failed.tell(&console),
        },
        Err(failed) => failed.tell(&log::beginning()),
    }
}

/// Where a script's surroundings come from.
pub(super) struct Around<'a> {
    /// Variables.
    pub(super) process: &'a Environment,
    /// Whether they are in `__ENV` unless something else is asked for.
    pub(super) is_included: bool,
    /// Files.
    pub(super) shelf: &'a Shelf,
}

impl<'a> Around<'a> {
    /// On this machine, of a command that shows a script or packs it.
    pub(super) fn here(process: &'a Environment) -> Self {
        Self { process, is_included: false, shelf: &Shelf::Here }
    }
}

/// The modes that k6 has; all of them are the same here.
const COMPATIBILITY_MODES: [&str; 4] = ["", "base", "extended", "experimental_enhanced"];

/// Errs for a mode that there is not.
fn check_mode(settings: &Settings) -> Result<(), Failed> {
    let mode = settings.compatibility_mode.as_deref().unwrap_or_default();
    if COMPATIBILITY_MODES.contains(&mode) {
        return Ok(());
    }
    let told = format!(
        "--compatibility-mode (K6_COMPATIBILITY_MODE) {mode}: it is none of extended, base and \
         experimental_enhanced"
    );
    Err(Failed::new(ExitCode::Unspecified, told))
}

/// Runs the script's top level.
pub(super) fn load(
    name: &Path,
    settings: &Settings,
    around: &Around<'_>,
    console: &Arc<Console>,
) -> Result<Collected, Failed> {
    check_mode(settings)?;
    let source = source::of(name, settings, around.shelf)?;
    let mut env = source.env;
    env.extend(environment::of_script(around.process, settings, around.is_included));
    let read = |path: &Path| around.shelf.read_text(path);
    let collecting = Collecting {
        script: source.script,
        sources: source.sources,
        env,
        secrets: Secrets::read_from(&settings.secret_sources, &read).map_err(Failed::config)?,
        limits: LIMITS,
        connectors: Arc::new(registry()),
        console: Arc::clone(console),
    };
    let mut collected = collect(collecting).map_err(|error| Failed::loading(name, &error))?;
    if let Some(options) = source.options {
        collected.options = options;
    } else if let Some(unfit) = &collected.unfit_option {
        return Err(Failed::config(unfit));
    }
    Ok(collected)
}

/// What HTTP_PROXY, HTTPS_PROXY and NO_PROXY say. One that can't be used is an error: requests that
/// went past it would be another test.
pub(super) fn proxies(process: &Environment) -> Result<Proxies, Failed> {
    Proxies::from_environment(|name| process.get(name).cloned()).map_err(Failed::config)
}

/// One of several processes that run a script together.
pub(super) struct Part<'a> {
    /// Its number, from 0…
    pub(super) number: u32,
    /// …of so many.
    pub(super) of: u32,
    /// What the script exports as `options`, wherever that was found.
    pub(super) options: &'a Value,
}

/// Runs the script's top level and makes one set of options; those of a part, where there are
/// several.
pub(super) fn ask(
    script: &Path,
    flags: &RunFlags,
    settings: &Settings,
    around: &Around<'_>,
    part: Option<&Part<'_>>,
    console: &Arc<Console>,
) -> Result<Asked, Failed> {
    let mut collected = load(script, settings, around, console)?;
    let mut of_flags = flags.options().map_err(Failed::options)?;
    if let Some(part) = part {
        collected.options = part.options.clone();
        of_flags.execution_segment = Segment::nth(part.number, part.of);
        of_flags.execution_segment_sequence = Some(SegmentSequence::alike(part.of));
    }
    let config_file = config_file::read(flags, around)?;
    let (of_script, unknown) =
        Options::from_json(Tier::Script, &collected.options).map_err(Failed::options)?;
    for key in unknown {
        console.warn(&format!("There is no option \"{key}\" of scripts: it is not used"));
    }
    let tiers = Tiers {
        config_file: Options::from_json(Tier::ConfigFile, &config_file).map_err(Failed::options)?.0,
        script: of_script,
        environment: Options::from_environment(around.process).map_err(Failed::options)?,
        flags: of_flags,
    };
    let consolidated = consolidate(tiers).map_err(Failed::options)?;
    let is_exported = |name: &str| collected.functions.iter().any(|known| known == name);
    consolidated.check_exports(is_exported).map_err(Failed::options)?;
    for warning in &consolidated.warnings {
        console.warn(warning);
    }
    Ok(Asked { collected, consolidated })
}

/// Which tags are set without the script's doing.
pub(super) fn system_tags(options: &Options) -> SystemTags {
    match &options.system_tags {
        Some(tags) => SystemTags::from_keys(tags.0.iter().copied()),
        None => SystemTags::default(),
    }
}
