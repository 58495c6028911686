//! `sojourn session`: tests written in the session DSL.

mod read;
mod run;

use sojourn_engine::Joined;

use crate::errors::UsageError;

/// Run session scripts: tests written in JavaScript for many thousands of clients
#[derive(Debug, clap::Args)]
pub(crate) struct Session {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Run(Box<run::Run>),
}

/// Makes the load of the same run for the process that coordinates it.
pub(crate) fn join(command: &Session, joined: Joined) {
    match &command.what {
        What::Run(command) => run::join(command, joined),
    }
}

/// Does what is asked.
pub(crate) fn run(command: &Session) -> Result<u8, UsageError> {
    match &command.what {
        What::Run(command) => run::run(command),
    }
}
