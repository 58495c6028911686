//! `sojourn run`: a journey file, as it is or one journey only.

use sojourn_engine::{Joined, Processes, RunError, Stop};
use sojourn_kubernetes::Coordinating;
use sojourn_plan::Plan;

use crate::{
    connectors::registry,
    errors::UsageError,
    fleet_flags::{FleetFlags, Gathered},
    for_pods::Packed,
    kubernetes_flags::{Asked, OnFlags, Outline, TermsFlags},
    plan_flags::PlanFlags,
    process_flags::ProcessFlags,
    rehearsal::{self, Share},
    runner::{self, How, RunFlags},
    shelf::Shelf,
    signals,
};

/// Run a journey file
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn run journey.yaml
  sojourn run journey.yaml --target http://127.0.0.1:8080 --label git=$(git rev-parse --short HEAD)
  sojourn run journey.yaml --once --debug
  sojourn run journey.yaml --generators 4
  sojourn run journey.yaml --on kubernetes --generators 8 --away-from app=checkout
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
    making: Making,
    #[command(flatten)]
    on: OnFlags,
    #[command(flatten)]
    terms: TermsFlags,
}

/// What is to be run and how, wherever its generators are.
#[derive(Debug, clap::Args)]
pub(crate) struct Making {
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

/// Flags of `run` that are not for the coordinator's pod: they say where the run is, or what
/// becomes of its results here.
pub(crate) const NOT_FOR_PODS: &[&str] =
    &["output", "report", "format", "nfr", "live", "web", "quiet"];

/// Makes the run.
pub(crate) fn run(command: &Run) -> Result<u8, UsageError> {
    if command.on.is_asked() {
        return run_on_kubernetes(command);
    }
    OnFlags::refuse_without_cluster(&["run"], &TermsFlags::IDS)?;
    let command = &command.making;
    let plan = command.plan.read()?;
    let stop = signals::stop_on_signals();
    if !command.rehearse.is_empty() {
        return rehearsal::rehearse(&plan, &command.rehearse, &command.flags, &stop);
    }
    command.make(&plan, command.spread.processes()?, &stop)
}

fn run_on_kubernetes(command: &Run) -> Result<u8, UsageError> {
    let Making { plan, flags, spread, .. } = &command.making;
    let asked = (plan, flags.machine.ca.as_deref(), &flags.out);
    let (plan, packed) = Packed::journey_file(&command.on.pods, asked, (&["run"], NOT_FOR_PODS))?;
    let asked = Asked {
        outline: Outline::of(&plan)?,
        generators: spread.count().unwrap_or(1),
        command: Coordinating::Journeys,
        packed,
        terms: command.terms.terms(),
    };
    command.on.make(asked, &flags.results())
}

/// Makes the run with generators that dial in.
pub(crate) fn coordinate(command: &Making, fleet: &FleetFlags) -> Result<u8, UsageError> {
    let shelf = Shelf::noting();
    let plan = command.plan.read_from(&shelf)?;
    command.flags.machine.options_from(&shelf, String::new())?;
    let stop = signals::stop_on_signals();
    let gathered = fleet.gather(&command.spread, shelf.into_parcel(), &stop)?;
    let made = command.make(&plan, Some(gathered.processes.clone()), &stop);
    Gathered::come_to(made, &stop)
}

/// Makes the load of the same run for the process that coordinates it.
pub(crate) fn join(command: &Run, joined: Joined) -> Result<(), RunError> {
    join_making(&command.making, joined)
}

/// The same of a coordinator's.
pub(crate) fn join_making(command: &Making, joined: Joined) -> Result<(), RunError> {
    let shelf = Shelf::of(&joined);
    let run_id = joined.run_id().to_owned();
    let options = command.flags.machine.options_from(&shelf, run_id);
    match command.plan.read_from(&shelf).and_then(|plan| Ok((plan, options?))) {
        Ok((plan, mut options)) => {
            options.once = command.once;
            joined.serve(&plan, &options, &registry())
        }
        Err(error) => Err(joined.refuse(error.into())),
    }
}

impl Making {
    fn make(
        &self,
        plan: &Plan,
        processes: Option<Processes>,
        stop: &Stop,
    ) -> Result<u8, UsageError> {
        let how = How { once: self.once, debug: self.debug, processes, ..How::default() };
        let made = runner::make(plan, &self.flags, how, stop)?;
        runner::say_where(&made);
        Ok(made.code)
    }
}
