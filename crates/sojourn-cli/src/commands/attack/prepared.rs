//! An attack as its command line has it: the same in every process that makes its load.

use sojourn_clock::SECOND_NS;
use sojourn_engine::{RunOptions, Targets};
use sojourn_plan::{AttackLoad, Pace, Plan, Target};

use super::{
    Attack,
    inputs::{self, Failure},
};
use crate::{errors::UsageError, fail_if, shelf::Shelf};

/// A request without a timeout: a year.
const NO_TIMEOUT_NS: u64 = 365 * 86_400 * SECOND_NS;

/// What an attack is made of, but for where its results go.
pub(super) struct Prepared {
    pub(super) plan: Plan,
    pub(super) options: RunOptions,
    pub(super) attack: sojourn_engine::Attack,
    /// What may go wrong with a stream of targets yet.
    pub(super) failure: Failure,
}

impl Prepared {
    /// Of these words, which `command` was read from, with files from this shelf.
    pub(super) fn of(
        command: &Attack,
        words: &[String],
        shelf: &Shelf,
        run_id: String,
    ) -> Result<Self, UsageError> {
        let load = load(command)?;
        let thresholds: Result<_, _> =
            command.fail_if.iter().map(|condition| fail_if::threshold(condition)).collect();
        let thresholds =
            thresholds.map_err(|why| UsageError::new(why, "see `sojourn attack -h`"))?;
        let inputs = inputs::read(command, shelf)?;
        let listed: &[Target] = match &inputs.targets {
            Targets::Listed(targets) => targets,
            Targets::Stream(_) | Targets::Scripted(_) => &[],
        };
        let text = inputs::command_line(words, listed);
        let plan = sojourn_plan::attack_plan(&command.name, text, listed, &load, thresholds);
        let mut plan =
            plan.map_err(|error| UsageError::new(error.to_string(), "see -pace in the help"))?;
        plan.labels.clone_from(&command.label);
        let mut options = RunOptions::new(None, run_id);
        options.threads = command.threads;
        options.lag_budget_ns = command.lag_budget;
        options.client = command.connections.config(shelf)?;
        options.client.connect_timeout_ns = load.timeout_ns;
        options.client.spin = command.spin;
        let attack = sojourn_engine::Attack {
            name: command.name.clone(),
            targets: inputs.targets,
            workers_max: load.workers_max,
            redirects_max: u32::try_from(command.redirects).ok(),
            allowed_hosts: command.allow_host.clone(),
            body_max: command.max_body.0,
            chunked: command.chunked,
            results: None,
            patient: false,
        };
        Ok(Self { plan, options, attack, failure: inputs.failure })
    }
}

fn load(command: &Attack) -> Result<AttackLoad, UsageError> {
    let wrong = |error: sojourn_plan::PaceError| {
        UsageError::new(error.to_string(), "such as -rate 50/1s or -pace 30s@50,1m@200")
    };
    let pace = match &command.pace {
        Some(pace) => Pace::parse(pace).map_err(wrong)?,
        None => Pace::rate(&command.rate).map_err(wrong)?,
    };
    let workers_max = u32::try_from(command.max_workers).unwrap_or(u32::MAX);
    if pace == Pace::Unpaced && command.max_workers == u64::MAX {
        return Err(UsageError::runtime("-rate=0 requires setting -max-workers"));
    }
    if workers_max == 0 {
        return Err(UsageError::new("-max-workers 0 lets nothing happen", "use at least 1"));
    }
    Ok(AttackLoad {
        pace,
        poisson: command.poisson,
        duration_ns: (command.duration > 0).then_some(command.duration),
        workers_max,
        timeout_ns: if command.timeout == 0 { NO_TIMEOUT_NS } else { command.timeout },
    })
}
