//! `sojourn k6 new`: a script to begin with.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;

use crate::errors::UsageError;

/// Write a script to begin with
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn k6 new                            writes script.js
  sojourn k6 new --template protocol load.js")]
pub(crate) struct New {
    /// Where it goes
    #[arg(default_value = "script.js")]
    file: PathBuf,
    /// Overwrite a file that is there
    #[arg(short, long)]
    force: bool,
    /// What to begin with
    #[arg(long, value_enum, default_value = "minimal")]
    template: Template,
}

/// What to begin with.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Template {
    /// One request, a few users
    Minimal,
    /// Scenarios, setup, thresholds, a metric of one's own
    Protocol,
}

impl Template {
    fn text(self) -> &'static str {
        match self {
            Self::Minimal => include_str!("new/minimal.js"),
            Self::Protocol => include_str!("new/protocol.js"),
        }
    }
}

/// Writes it.
pub(super) fn run(command: &New) -> Result<u8, UsageError> {
    let shown = command.file.display();
    let mut options = OpenOptions::new();
    options.write(true);
    match command.force {
        true => options.create(true).truncate(true),
        false => options.create_new(true),
    };
    let written = options
        .open(&command.file)
        .and_then(|mut file| file.write_all(command.template.text().as_bytes()));
    match written {
        Ok(()) => {
            println!("{shown} is there. Run it: sojourn k6 run {shown}");
            Ok(0)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(UsageError::new(
            format!("{shown} is there already"),
            "--force overwrites it, or name another file",
        )),
        Err(error) => {
            Err(UsageError::new(format!("{shown}: {error}"), "name a file that can be written"))
        }
    }
}
