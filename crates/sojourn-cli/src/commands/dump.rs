//! `sojourn dump`: said to be gone.

use std::ffi::OsString;

use crate::errors::{Failure, UsageError};

/// Refused: it has become `encode`
#[derive(Debug, clap::Args)]
pub(crate) struct Dump {
    /// Whatever it was called with
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    words: Vec<OsString>,
}

/// Says so.
pub(crate) fn run(_command: &Dump) -> Result<u8, UsageError> {
    Ok(Failure::new("dump has become the command `sojourn encode`").report())
}
