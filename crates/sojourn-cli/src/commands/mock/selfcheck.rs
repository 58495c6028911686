//! `sojourn mock selfcheck`: how much the mock can hold on this machine.

use crate::errors::UsageError;

/// How much it can hold on this machine, and how exactly
#[derive(Debug, clap::Args)]
pub(crate) struct Selfcheck {}

/// Climbs.
pub(crate) fn run(_command: &Selfcheck) -> Result<u8, UsageError> {
    Ok(0)
}
