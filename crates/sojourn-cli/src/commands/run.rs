//! `sojourn run`: a journey file, as it is or one journey only.

use sojourn_engine::Joined;

use crate::{
    connectors::registry,
    errors::UsageError,
    plan_flags::PlanFlags,
    process_flags::ProcessFlags,
    rehearsal::{self, Share},
    runner::{self, How, RunFlags},
    signals,
};

/// Run a journey file
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn run journey.yaml
  sojourn run journey.yaml --target http://127.0.0.1:8080 --label git=$(git rev-parse --short HEAD)
  sojourn run journey.yaml --once --debug
  sojourn run journey.yaml --generators 4
  sojourn run journey.yaml --rehearse 10%,50%,100%
  sojourn run journey.yaml --report ci.json --report page.html
  sojourn run journey.yaml --report summary.md --report junit.xml    for a pull request and CI
  sojourn run journey.yaml --report slack.json=slack.tmpl    by a template of your own
  sojourn run journey.yaml --keep-messages 16MB --report audit.ndjson    telling journeys, whole
  sojourn run journey.yaml --target-pid payments=$(pgrep -o payments-api)
  sojourn run journey.yaml --target-cgroup relay=/sys/fs/cgroup/system.slice/relay.service
  sojourn run journey.yaml --prometheus http://127.0.0.1:9090 --observe queue='sum(queue_length)'")]
pub(crate) struct Run {
    #[command(flatten)]
    plan: PlanFlags,
    /// One journey of each kind instead of the load
    #[arg(long)]
    once: bool,
    /// Tell every request, event and decision on standard error
    #[arg(long, conflicts_with = "generators")]
    debug: bool,
    /// First shares of the load, one run each, such as 10%,50%,100%; ends at the first that fails
    #[arg(long, value_name = "SHARES", value_delimiter = ',', value_parser = rehearsal::share)]
    #[arg(conflicts_with_all = ["once", "debug", "generators"])]
    rehearse: Vec<Share>,
    #[command(flatten)]
    flags: RunFlags,
    #[command(flatten)]
    spread: ProcessFlags,
}

/// Makes the run.
pub(crate) fn run(command: &Run) -> Result<u8, UsageError> {
    let plan = command.plan.read()?;
    let stop = signals::stop_on_signals();
    if !command.rehearse.is_empty() {
        return rehearsal::rehearse(&plan, &command.rehearse, &command.flags, &stop);
    }
    let how = How {
        once: command.once,
        debug: command.debug,
        processes: command.spread.processes()?,
        ..How::default()
    };
    let made = runner::make(&plan, &command.flags, how, &stop)?;
    runner::say_where(&made);
    Ok(made.code)
}

/// Makes the load of the same run for the process that coordinates it.
pub(crate) fn join(command: &Run, joined: Joined) {
    match command.plan.read() {
        Ok(plan) => {
            let mut options = command.flags.machine.options(None, joined.run_id().to_owned());
            options.once = command.once;
            joined.serve(&plan, &options, &registry());
        }
        Err(error) => joined.refuse(&error.into()),
    }
}
