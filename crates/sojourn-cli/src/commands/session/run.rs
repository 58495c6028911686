//! `sojourn session run`: the load of a session script, and its report.

use std::path::PathBuf;
use std::sync::Arc;

use sojourn_engine::Sessions;
use sojourn_session::{Mix, Program, SessionLoad, session_load};

use super::{
    log,
    read::{Script, ScriptFlags},
    validate::validate,
};
use crate::{
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
  sojourn session run test.js --strict --seed 7
  sojourn session run test.js --define env=prod
  sojourn session run test.js --log clients.txt
  sojourn session run test.js --validate       one client of each session, told in full
  sojourn session run test.js --validate --dump traffic.txt --show-secrets")]
pub(crate) struct Run {
    #[command(flatten)]
    pub(super) script: ScriptFlags,
    /// One client of each session instead of the load, with all that it sent, got and checked;
    /// exit code 0 if checks held and no answer was an error, else 99. Endless loops go around once
    #[arg(long)]
    pub(super) validate: bool,
    /// Where --validate tells the traffic [default: standard output]
    #[arg(long, value_name = "FILE", requires = "validate")]
    pub(super) dump: Option<PathBuf>,
    /// Tell header fields such as Authorization and Cookie as they are, not as ***
    #[arg(long, requires = "validate")]
    pub(super) show_secrets: bool,
    /// Where lines of session.log go [default: standard error]
    #[arg(long, value_name = "FILE")]
    pub(super) log: Option<PathBuf>,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// Longest time from a request's beginning to its answer's end
    #[arg(long, value_name = "D", default_value = TIMEOUT)]
    #[arg(value_parser = sojourn_plan::duration_ns)]
    pub(super) timeout: u64,
    #[command(flatten)]
    pub(super) flags: RunFlags,
}

/// Makes the run.
pub(crate) fn run(command: &Run) -> Result<u8, UsageError> {
    let script = command.script.read()?;
    if script.program.has_events() {
        return Err(UsageError::new(
            "session.publish and session.expect are not run yet",
            "take them out, or write the journey as a journey file",
        ));
    }
    if command.validate {
        return validate(command, script);
    }
    let Script { name, definition, program, text } = script;
    let load = session_load(&name, text, &definition, &program, command.timeout);
    let SessionLoad { mut plan, mixes, steps } = load;
    plan.seed = command.seed;
    let program = Arc::new(program);
    let sessions = sessions(command, &program, mixes, steps);
    let (mut log, mut writer) = (None, None);
    if program.has_log() || command.log.is_some() {
        let names = program.sessions().map(str::to_owned).collect();
        let (sender, thread) = log::start(command.log.as_ref(), names)?;
        (log, writer) = (Some(sender), Some(thread));
    }
    let stop = signals::stop_on_signals();
    let made =
        runner::make_with(&plan, &command.flags, (false, false), &mut |options, progress| {
            // The log's only sender goes along, so that the log ends with the run.
            let sessions = Sessions { log: log.take(), ..sessions.clone() };
            let ended = sojourn_engine::run_sessions(&plan, options, sessions, &stop, progress);
            if let Some(writer) = writer.take() {
                writer.finish();
            }
            Ok(ended?.summary)
        })?;
    runner::say_where(&made);
    Ok(made.code)
}

/// What generators need besides a plan, without log and onlooker.
pub(super) fn sessions(
    command: &Run,
    program: &Arc<Program>,
    mixes: Vec<Mix>,
    steps: Vec<usize>,
) -> Sessions {
    Sessions {
        program: Arc::clone(program),
        mixes,
        steps,
        timeout_ns: command.timeout,
        redirects_max: REDIRECTS_MAX,
        user_agent: concat!("sojourn/", env!("CARGO_PKG_VERSION")).to_owned(),
        log: None,
        trace: None,
    }
}
