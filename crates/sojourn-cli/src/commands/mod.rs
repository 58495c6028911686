//! The commands, one file each.

mod completions;
mod demo;
mod init;
mod mock;
mod report;
mod run;
mod schema;

use crate::errors::UsageError;

/// What to do.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// A whole payments system in this process, loaded and reported: the one-minute tour
    Demo(Box<demo::Demo>),
    /// Run a journey file
    Run(Box<run::Run>),
    /// Write a first journey file to standard output
    Init(init::Init),
    /// A server that stands in for others: holds answers as long as you say, and fails as you say
    Mock(Box<mock::MockCommand>),
    /// Report on a run file
    Report(report::Report),
    /// Print the JSON Schema of journey files, for editors
    Schema,
    /// Print shell completions
    Completions(completions::Completions),
}

/// Does it; the exit code.
pub(crate) fn dispatch(command: Command) -> Result<u8, UsageError> {
    match command {
        Command::Demo(command) => demo::run(&command),
        Command::Run(command) => run::run(&command),
        Command::Init(command) => init::run(&command),
        Command::Mock(command) => mock::run(&command),
        Command::Report(command) => report::run(&command),
        Command::Schema => schema::run(),
        Command::Completions(command) => completions::run(&command),
    }
}
