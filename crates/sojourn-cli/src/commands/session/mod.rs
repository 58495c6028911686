//! `sojourn session`: tests written in the session DSL.

mod read;
mod run;

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

/// Does what is asked.
pub(crate) fn run(command: &Session) -> Result<u8, UsageError> {
    match &command.what {
        What::Run(command) => run::run(command),
    }
}
