//! `sojourn wrk` in a build without it.

use std::ffi::OsString;

use crate::errors::UsageError;

/// wrk's command line: not in this build
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Wrk {
    /// Whatever it was called with
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    words: Vec<OsString>,
}

/// Says how to have it.
pub(crate) fn run(_command: &Wrk) -> Result<u8, UsageError> {
    Err(UsageError::with(
        "this build has no `wrk`, whose scripts need LuaJIT",
        Some("build with `cargo build --release --features full`".to_owned()),
    ))
}
