//! `sojourn session run`: the load of a session script, and its report.

use std::path::PathBuf;
use std::sync::Arc;

use sojourn_engine::Sessions;
use sojourn_session::{SessionLoad, session_load};

use super::read::{Script, read};
use crate::{
    connectors::registry,
    errors::UsageError,
    runner::{self, RunFlags},
    signals,
};

/// Longest time from a request's beginning to its answer's end where the flag does not say.
const TIMEOUT: &str = "60s";
/// Redirects that are followed at most.
const REDIRECTS_MAX: u32 = 10;

/// Run a session script
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn run test.js                          a session script is recognised
  sojourn session run test.js --report page.html
  sojourn session run test.js --strict --seed 7")]
pub(crate) struct Run {
    /// Session script (JavaScript or TypeScript)
    #[arg(value_name = "FILE")]
    script: PathBuf,
    /// What is probably a slip (an unused parameter, a placeholder that nothing fills) is an error
    #[arg(long)]
    strict: bool,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Longest time from a request's beginning to its answer's end
    #[arg(long, value_name = "D", default_value = TIMEOUT)]
    #[arg(value_parser = sojourn_plan::duration_ns)]
    timeout: u64,
    #[command(flatten)]
    flags: RunFlags,
}

/// Makes the run.
pub(crate) fn run(command: &Run) -> Result<u8, UsageError> {
    let Script { definition, program, channels, text } = read(&command.script, command.strict)?;
    let name = command
        .script
        .file_stem()
        .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let load = session_load(&name, text, &definition, (&program, &channels), command.timeout);
    let SessionLoad { mut plan, mixes, steps, events } = load;
    plan.seed = command.seed;
    let sessions = Sessions {
        program: Arc::new(program),
        mixes,
        steps,
        events,
        timeout_ns: command.timeout,
        redirects_max: REDIRECTS_MAX,
        user_agent: concat!("sojourn/", env!("CARGO_PKG_VERSION")).to_owned(),
        cookies: definition.options.cookies,
        log: None,
    };
    let (stop, connectors) = (signals::stop_on_signals(), registry());
    let made =
        runner::make_with(&plan, &command.flags, (false, false), &mut |options, progress| {
            let with = (sessions.clone(), &connectors);
            let ended = sojourn_engine::run_sessions(&plan, options, with, &stop, progress)?;
            Ok(ended.summary)
        })?;
    runner::say_where(&made);
    Ok(made.code)
}
