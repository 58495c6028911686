//! `sojourn k6`, `sojourn session` and `sojourn convert` in a build without scripts.

use std::ffi::OsString;

use crate::errors::UsageError;

/// k6's command line: not in this build
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct K6 {
    /// Whatever it was called with
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    words: Vec<OsString>,
}

pub(crate) use K6 as Convert;
pub(crate) use K6 as Session;

/// Says how to have it.
pub(crate) fn run(_command: &K6) -> Result<u8, UsageError> {
    Err(UsageError::with(
        "this build runs no scripts, which need a JavaScript engine",
        Some("build with `cargo build --release --features full`".to_owned()),
    ))
}
