//! `sojourn k6`: k6's command line.

mod archive;
mod browser;
mod carried;
mod check;
mod config_file;
mod coordinator;
mod differs;
mod display;
mod environment;
mod frames;
mod held;
mod inspect;
mod journeys;
mod log;
mod new;
mod outputs;
mod pods;
mod processes;
mod progress;
mod remote;
mod run;
mod script;
mod source;
mod summary;
mod timeline;
mod types;
mod written;

use sojourn_engine::{Joined, RunError};

use super::completions;
use crate::errors::UsageError;

/// k6 scripts, unchanged: k6's command line
#[derive(Debug, clap::Args)]
#[command(
    version,
    after_help = "Examples:
  sojourn k6 run script.js
  sojourn run script.js                     the same: scripts are recognised
  sojourn k6 run -u 25 -d 30s -e BASE=http://127.0.0.1:8080 script.ts
  sojourn k6 run --generators 4 script.js   the same test by four processes, one summary
  sojourn k6 run --on kubernetes --generators 8 script.js
  sojourn k6 coordinator script.js --listen 0.0.0.0:7000 --key-file fleet.key --generators 4
  sojourn k6 run --out json=samples.json.gz --summary-export summary.json script.js
  sojourn k6 run --web --live screen script.js     watched in a browser and on the whole terminal
  sojourn k6 check script.js                what it uses, what is missing or differs
  sojourn k6 inspect --execution-requirements script.js
  sojourn k6 types                          declarations for editors and TypeScript
  sojourn k6 archive script.js              all in one file, which k6 runs too
  sojourn k6 run --paused --address localhost:6565 script.js
  sojourn k6 resume                         begins it, from another terminal or machine

Exit codes are k6's: 0 passed, 99 a threshold failed, 104 wrong options, 105 a signal, 107 the
script threw outside iterations, 108 and 110 it ended or failed the test."
)]
pub(crate) struct K6 {
    #[command(subcommand)]
    command: Command,
}

/// What to do.
#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Run a script
    Run(Box<run::Run>),
    /// Run a script with generators that dial in from other machines
    Coordinator(Box<coordinator::Coordinator>),
    /// List what a script uses and what is missing here, without running it
    Check(check::Check),
    /// Show a script's options
    Inspect(Box<inspect::Inspect>),
    /// Pack a script and all that it needs into one file
    Archive(Box<archive::Archive>),
    /// Write a script to begin with
    New(new::New),
    /// Write declarations of all modules, for editors and TypeScript
    Types(types::Types),
    /// How a test goes that was started with --address
    Status(remote::At),
    /// Its metrics so far, as JSON
    Stats(remote::At),
    /// Begin no further iterations of an externally controlled scenario
    Pause(remote::At),
    /// Go on, or begin a test that was started with --paused
    Resume(remote::At),
    /// Change how many users an externally controlled scenario has
    Scale(remote::Scale),
    /// Print shell completions: the same as `sojourn completions`
    Completion(completions::Completions),
    /// Print the version
    Version(Version),
}

/// Print the version
#[derive(Debug, clap::Args)]
struct Version {
    /// As JSON, with the system that it is for
    #[arg(long)]
    json: bool,
}

impl Version {
    fn text(&self) -> String {
        let version = env!("CARGO_PKG_VERSION");
        if !self.json {
            return format!("sojourn {version}");
        }
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        serde_json::json!({ "version": version, "os": os, "arch": arch }).to_string()
    }
}

/// Runs its share of the users for the process that conducts the test.
pub(crate) fn join(command: &K6, joined: Joined) -> Result<(), RunError> {
    match &command.command {
        Command::Run(command) => processes::join(&command.making, joined),
        Command::Coordinator(command) => processes::join(&command.making, joined),
        // Nobody else starts processes.
        _ => Err(joined.refuse(RunError::with("this command makes no load", None))),
    }
}

/// Does it; the exit code.
pub(crate) fn run(command: &K6) -> Result<u8, UsageError> {
    let done = obey(command);
    log::end();
    done
}

fn obey(command: &K6) -> Result<u8, UsageError> {
    match &command.command {
        Command::Run(command) => run::run(command),
        Command::Coordinator(command) => coordinator::run(command),
        Command::Check(command) => check::run(command),
        Command::Inspect(command) => inspect::run(command),
        Command::Archive(command) => archive::run(command),
        Command::New(command) => new::run(command),
        Command::Types(command) => types::run(command),
        Command::Status(at) => remote::status(at),
        Command::Stats(at) => remote::stats(at),
        Command::Pause(at) => remote::pause(at, true),
        Command::Resume(at) => remote::pause(at, false),
        Command::Scale(command) => remote::scale(command),
        Command::Completion(command) => completions::run(command),
        Command::Version(command) => {
            println!("{}", command.text());
            Ok(0)
        }
    }
}
