//! `sojourn completions`: for the shell.

use clap::CommandFactory;

use crate::errors::UsageError;

/// Print shell completions
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  sojourn completions bash > ~/.local/share/bash-completion/completions/sojourn")]
pub(crate) struct Completions {
    /// Which shell
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

/// Prints them.
pub(crate) fn run(command: &Completions) -> Result<u8, UsageError> {
    let mut out = Vec::new();
    clap_complete::generate(command.shell, &mut crate::Cli::command(), "sojourn", &mut out);
    crate::outputs::print(&String::from_utf8_lossy(&out));
    Ok(0)
}
