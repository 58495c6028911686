//! `sojourn session coordinator`: the load of a session script by generators that dial in.

use sojourn_engine::{Joined, RunError};

use super::run::{Making, coordinate, join_making};
use crate::{errors::UsageError, fleet_flags::FleetFlags};

/// Run a session script with generators that dial in from other machines
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn coordinator test.js --listen 0.0.0.0:7000 --key-file fleet.key --generators 4
  sojourn session coordinator test.js --listen 0.0.0.0:7000 --key-file fleet.key --generators 4

Each generator is started as `sojourn generator --join HOST:PORT --key-file fleet.key`.")]
pub(crate) struct Coordinator {
    #[command(flatten)]
    run: Making,
    #[command(flatten)]
    fleet: FleetFlags,
}

/// Makes the run.
pub(super) fn run(command: &Coordinator) -> Result<u8, UsageError> {
    coordinate(&command.run, &command.fleet)
}

/// Makes the load of the same run for the process that coordinates it.
pub(super) fn join(command: &Coordinator, joined: Joined) -> Result<(), RunError> {
    join_making(&command.run, joined)
}
