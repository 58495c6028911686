//! `sojourn coordinator`: a run whose generators dial in from other machines.

use super::run;
use crate::{errors::UsageError, fleet_flags::FleetFlags};

/// Run a journey file or a script with generators that dial in from other machines
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn coordinator journey.yaml --listen 0.0.0.0:7000 --key-file fleet.key --generators 4
  sojourn coordinator test.js --listen 0.0.0.0:7000 --key-file fleet.key --generators 2
  sojourn coordinator script.js --listen 0.0.0.0:7000 --key-file fleet.key --generators 2 --vus 50
  sojourn coordinator journey.yaml --listen 10.0.0.5:7000 --key-file fleet.key --generators 8 \\
    --on-loss continue --reconnect-within 60s

It is `sojourn run` with the same flags, the same report and the same exit codes, of session
scripts and of k6's, too (`sojourn k6 coordinator --help` has their flags). Each generator is
started as `sojourn generator --join HOST:PORT --key-file fleet.key`; it needs no file of the plan.
This process makes no load itself.")]
pub(crate) struct Coordinator {
    #[command(flatten)]
    run: run::Making,
    #[command(flatten)]
    fleet: FleetFlags,
}

/// Makes the run.
pub(crate) fn run(command: &Coordinator) -> Result<u8, UsageError> {
    run::coordinate(&command.run, &command.fleet)
}

/// Makes the load of the same run for the process that coordinates it.
pub(crate) fn join(
    command: &Coordinator,
    joined: sojourn_engine::Joined,
) -> Result<(), sojourn_engine::RunError> {
    run::join_making(&command.run, joined)
}
