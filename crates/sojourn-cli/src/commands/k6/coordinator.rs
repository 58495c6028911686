//! `sojourn k6 coordinator`: a script whose users are on machines that dial in.

use std::path::PathBuf;

use super::run::{By, Making, make};
use super::written::Folder;
use crate::{errors::UsageError, fleet_flags::FleetFlags};

/// Run a script with generators that dial in from other machines
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn coordinator script.js --listen 0.0.0.0:7000 --key-file fleet.key --generators 4
  sojourn k6 coordinator test.tar --listen 0.0.0.0:7000 --key-file fleet.key --generators 4

It is `sojourn run script.js` with the same flags, the same summary and the same exit codes. Each
generator is started as `sojourn generator --join HOST:PORT --key-file fleet.key`; it needs no file
of the script. This process has no users itself.")]
pub(crate) struct Coordinator {
    #[command(flatten)]
    pub(super) making: Making,
    #[command(flatten)]
    fleet: FleetFlags,
    /// Write files below this folder, and one of all of them beside it: in a pod
    #[arg(long, value_name = "DIR", hide = true)]
    write_into: Option<PathBuf>,
}

/// Makes the test.
pub(super) fn run(command: &Coordinator) -> Result<u8, UsageError> {
    let folder = command.write_into.as_deref().map(Folder::make).transpose()?;
    let made = make(&command.making, &By::Fleet(&command.fleet, folder.as_ref()));
    folder.as_ref().map(Folder::pack).transpose()?;
    made
}
