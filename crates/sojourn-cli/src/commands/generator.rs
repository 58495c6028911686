//! `sojourn generator`: a process of generators, which a run with `--generators` starts itself.

use sojourn_engine::{Joined, RunError};

#[cfg(feature = "script")]
use super::session;
use super::{Command, run};
use crate::errors::UsageError;

/// Makes load for the run whose socket is standard input.
pub(crate) fn run() -> Result<u8, UsageError> {
    let joined = Joined::from_standard_input()?;
    let words = std::iter::once("sojourn").chain(joined.words().iter().map(String::as_str));
    match crate::parse(words.map(Into::into).collect()) {
        Ok(Command::Run(command)) => run::join(&command, joined),
        #[cfg(feature = "script")]
        Ok(Command::Session(command)) => session::join(&command, joined),
        // The coordinator read the same words, and is one of the above.
        Ok(_) => joined.refuse(&RunError::with("this command makes no load", None)),
        Err(error) => joined.refuse(&RunError::with(error.to_string(), None)),
    }
    // Whatever became of it: the coordinator says so.
    Ok(0)
}
