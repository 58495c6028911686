//! `sojourn session run`: the load of a session script, and its report.

use std::path::PathBuf;
use std::sync::Arc;

use crossbeam_channel::Sender;
use sojourn_engine::{Joined, Processes, RunError, Sessions, Stop};
use sojourn_plan::Plan;
use sojourn_session::{LogLine, Offer, Program, SessionLoad, session_load};

use super::{
    log, pods,
    read::{Script, ScriptFlags},
    validate::validate,
    writer::Writer,
};
use crate::{
    connectors::registry,
    errors::UsageError,
    fleet_flags::{FleetFlags, Gathered},
    kubernetes_flags::{OnFlags, TermsFlags},
    process_flags::ProcessFlags,
    runner::{self, How, RunFlags},
    shelf::Shelf,
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
  sojourn session run test.js --nfr nfr.yaml   requirements; 99 if it misses one
  sojourn session run test.js --generators 4   as many clients as four processes may have
  sojourn session run test.js --on kubernetes --generators 8
  sojourn session run test.js --define env=prod
  sojourn session run test.js --log clients.txt
  sojourn session run test.js --validate       one client of each session, told in full
  sojourn session run test.js --validate --dump traffic.txt --show-secrets")]
pub(crate) struct Run {
    #[command(flatten)]
    pub(super) making: Making,
    #[command(flatten)]
    pub(super) on: OnFlags,
    #[command(flatten)]
    pub(super) terms: TermsFlags,
}

/// What is to be run and how, wherever its generators are.
#[derive(Debug, clap::Args)]
pub(crate) struct Making {
    #[command(flatten)]
    pub(super) script: ScriptFlags,
    /// One client of each session instead of the load, with all that it sent, got and checked;
    /// exit code 0 if checks held and no answer was an error, else 99. Endless loops go around once
    #[arg(long, conflicts_with = "generators")]
    pub(super) validate: bool,
    /// Where --validate tells the traffic [default: standard output]
    #[arg(long, value_name = "FILE", requires = "validate")]
    pub(super) dump: Option<PathBuf>,
    /// Tell header fields such as Authorization and Cookie as they are, not as ***
    #[arg(long, requires = "validate")]
    pub(super) show_secrets: bool,
    /// Where lines of session.log go [default: standard error]; with --generators to a file for
    /// each process, whose names are this one and a number
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
    #[command(flatten)]
    pub(super) spread: ProcessFlags,
}

/// Makes the run.
pub(crate) fn run(command: &Run) -> Result<u8, UsageError> {
    if command.on.is_asked() {
        return pods::run(command);
    }
    OnFlags::refuse_without_cluster(&["session", "run"], &TermsFlags::IDS)?;
    let command = &command.making;
    let script = command.script.read(&Offer::default(), &Shelf::Here)?;
    say_ignored(&script);
    if command.validate {
        return validate(command, script);
    }
    let stop = signals::stop_on_signals();
    command.make(script, command.spread.processes()?, &stop)
}

/// Makes the run with generators that dial in.
pub(super) fn coordinate(command: &Making, fleet: &FleetFlags) -> Result<u8, UsageError> {
    let shelf = Shelf::noting();
    let script = command.script.read(&Offer::default(), &shelf)?;
    say_ignored(&script);
    command.flags.machine.options_from(&shelf, String::new())?;
    let stop = signals::stop_on_signals();
    let gathered = fleet.gather(&command.spread, shelf.into_parcel(), &stop)?;
    let made = command.make(script, Some(gathered.processes.clone()), &stop);
    Gathered::come_to(made, &stop)
}

/// Says once which of the script's options change nothing: that is no slip of whoever wrote it, so
/// it is nothing to `--strict`.
fn say_ignored(script: &Script) {
    if let Some(ignored) = script.definition.options.ignored() {
        eprintln!("note: {ignored}");
    }
}

/// Makes the load of the same run for the process that coordinates it.
pub(super) fn join(command: &Run, joined: Joined) -> Result<(), RunError> {
    join_making(&command.making, joined)
}

/// The same of a coordinator's.
pub(super) fn join_making(command: &Making, joined: Joined) -> Result<(), RunError> {
    let numbered = |path: &PathBuf| {
        let mut name = path.clone().into_os_string();
        name.push(format!(".{}", joined.number()));
        PathBuf::from(name)
    };
    let shelf = Shelf::of(&joined);
    let loaded = command.script.read(joined.files(), &shelf).and_then(|script| {
        let (plan, sessions) = command.load(script)?;
        let log = command.log(&sessions.program, command.log.as_ref().map(numbered))?;
        let run_id = joined.run_id().to_owned();
        Ok((plan, sessions, log, command.flags.machine.options_from(&shelf, run_id)?))
    });
    match loaded {
        Ok((plan, sessions, log, options)) => logged(log, sessions, |sessions| {
            joined.serve_sessions(&plan, &options, (sessions, &registry()))
        }),
        Err(error) => Err(joined.refuse(RunError::from(error))),
    }
}

/// What writes the log, and its only sender.
type Log = (Sender<LogLine>, Writer);

/// Lets `work` run with a log, which ends with it.
fn logged<T>(log: Option<Log>, sessions: Sessions, work: impl FnOnce(Sessions) -> T) -> T {
    let Some((sender, writer)) = log else { return work(sessions) };
    let done = work(Sessions { log: Some(sender), ..sessions });
    writer.finish();
    done
}

impl Making {
    fn make(
        &self,
        script: Script,
        processes: Option<Processes>,
        stop: &Stop,
    ) -> Result<u8, UsageError> {
        let (plan, sessions) = self.load(script)?;
        let speaks = self.log.is_none() && sessions.program.has_log();
        // Whoever makes the load writes its log.
        let mut log = match processes {
            None => self.log(&sessions.program, self.log.clone())?,
            Some(_) => None,
        };
        let how = How { speaks, processes, ..How::default() };
        let connectors = registry();
        let made = runner::make_with(&plan, &self.flags, how, &mut |options, progress| {
            let ended = logged(log.take(), sessions.clone(), |sessions| {
                let with = (sessions, &connectors);
                sojourn_engine::run_sessions(&plan, options, with, stop, progress)
            });
            Ok(ended?.summary)
        })?;
        runner::say_where(&made);
        Ok(made.code)
    }

    /// The script as a plan, and what its clients do.
    pub(super) fn load(&self, script: Script) -> Result<(Plan, Sessions), UsageError> {
        let Script { name, definition, program, channels, text } = script;
        let with = (&program, &channels);
        let mut load = session_load(&name, text, &definition, with, self.timeout);
        load.plan.seed = self.seed;
        let plan = std::mem::take(&mut load.plan);
        Ok((plan, sessions(self, &Arc::new(program), load, definition.options.cookies)))
    }

    /// Starts the log, where the script or the command line asks for one.
    fn log(&self, program: &Program, path: Option<PathBuf>) -> Result<Option<Log>, UsageError> {
        let is_asked_for = program.has_log() || path.is_some();
        let names = || program.sessions().map(str::to_owned).collect();
        is_asked_for.then(|| log::start(path.as_ref(), names())).transpose()
    }
}

/// What generators need besides a plan, without log and onlooker.
pub(super) fn sessions(
    command: &Making,
    program: &Arc<Program>,
    load: SessionLoad,
    cookies: bool,
) -> Sessions {
    Sessions {
        program: Arc::clone(program),
        mixes: load.mixes,
        steps: load.steps,
        events: load.events,
        timeout_ns: command.timeout,
        redirects_max: REDIRECTS_MAX,
        user_agent: concat!("sojourn/", env!("CARGO_PKG_VERSION")).to_owned(),
        cookies,
        log: None,
        trace: None,
    }
}
