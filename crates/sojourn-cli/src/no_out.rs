//! `--out` in a build without outputs.

use std::path::PathBuf;

use sojourn_plan::Plan;

use crate::{errors::UsageError, shelf::Shelf, watchers::Watchers};

/// Says how to have them.
pub(crate) fn ask_for_variables(out: &[String], _shelf: &Shelf) -> Result<(), UsageError> {
    out.first().map_or(Ok(()), |it| Err(refuse(it)))
}

/// Says how to have them.
pub(crate) fn watch(
    out: &[String],
    _watchers: &mut Watchers,
    _run: (&str, &Plan),
    _ca_file: Option<PathBuf>,
) -> Result<(), UsageError> {
    out.first().map_or(Ok(()), |it| Err(refuse(it)))
}

/// An output's kind: what follows it may hold what lets us into it.
pub(crate) fn shown(out: &str) -> String {
    out.split_once('=').map_or("***", |(kind, _)| kind).to_owned()
}

fn refuse(out: &str) -> UsageError {
    UsageError::with(
        format!("this build has no outputs, so that `--out {}` is sent nowhere", shown(out)),
        Some("build with `cargo build --release --features full`".to_owned()),
    )
}
