//! `sojourn session`: tests written in the session DSL.

mod coordinator;
mod curl;
mod figures;
mod log;
mod pods;
mod read;
mod run;
mod validate;
mod writer;

use sojourn_engine::{Joined, RunError};

use crate::errors::UsageError;
pub(crate) use read::ScriptFolder;

/// Run session scripts: tests written in JavaScript for many thousands of clients
#[derive(Debug, clap::Args)]
pub(crate) struct Session {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Run(Box<run::Run>),
    Coordinator(Box<coordinator::Coordinator>),
    Curl(curl::Curl),
}

/// Makes the load of the same run for the process that coordinates it.
pub(crate) fn join(command: &Session, joined: Joined) -> Result<(), RunError> {
    match &command.what {
        What::Run(command) => run::join(command, joined),
        What::Coordinator(command) => coordinator::join(command, joined),
        // No coordinator reads such words.
        What::Curl(_) => Err(joined.refuse(RunError::with("session curl makes no load", None))),
    }
}

/// Does what is asked.
pub(crate) fn run(command: &Session) -> Result<u8, UsageError> {
    match &command.what {
        What::Run(command) => run::run(command),
        What::Coordinator(command) => coordinator::run(command),
        What::Curl(command) => curl::run(command),
    }
}
