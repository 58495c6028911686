//! `sojourn dump`: said to be gone.

use std::ffi::OsString;

use crate::errors::UsageError;

/// Refused: it has become `encode`
#[derive(Debug, clap::Args)]
pub(crate) struct Dump {
    /// Whatever it was called with
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    words: Vec<OsString>,
}

/// Says so.
pub(crate) fn run(_command: &Dump) -> Result<u8, UsageError> {
    // Vegeta's own words, which scripts may know.
    Err(UsageError::runtime(
        "vegeta dump has been deprecated and succeeded by the vegeta encode command",
    ))
}
