//! `sojourn man`: manual pages, one for each command.

use std::path::PathBuf;

use clap::CommandFactory;

use crate::{errors::UsageError, outputs};

/// Print the manual page, or write one for each command
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn man | man -l -
  sojourn man --output ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Write all pages to this folder: sojourn.1, sojourn-run.1, …
    #[arg(long, short, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

/// Prints it, or writes them.
pub(crate) fn run(command: &Man) -> Result<u8, UsageError> {
    let whole = crate::Cli::command();
    let Some(folder) = &command.output else {
        let mut page = Vec::new();
        // A vector takes everything.
        let _ignored = clap_mangen::Man::new(whole).render(&mut page);
        outputs::print(&String::from_utf8_lossy(&page));
        return Ok(0);
    };
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(whole.disable_help_subcommand(true), folder));
    written.map_err(|error| {
        UsageError::new(
            format!("cannot write manual pages to {}: {error}", folder.display()),
            "choose another folder with --output",
        )
    })?;
    Ok(0)
}
