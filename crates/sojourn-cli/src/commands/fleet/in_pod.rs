//! What runs in the coordinator's pod besides the coordinator. Nobody types these.

use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};
use sojourn_kubernetes::pod::{self, Keeping};

use crate::{errors::UsageError, outputs, signals};

/// What is done in a pod.
#[derive(Debug, clap::Subcommand)]
pub(super) enum InPod {
    /// Become another command that holds a folder's lock until it ends
    #[command(hide = true)]
    Locked {
        /// Further words of it: a file with a list in JSON
        #[arg(long)]
        words_from: Option<PathBuf>,
        folder: PathBuf,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        words: Vec<String>,
    },
    /// Stay until the results of a folder have been fetched
    #[command(hide = true)]
    Keep {
        folder: PathBuf,
        #[arg(long, value_parser = sojourn_plan::duration_ns)]
        linger: u64,
        #[arg(long, value_parser = sojourn_plan::duration_ns)]
        at_most: u64,
    },
    /// Write a file, or what it is, to standard output
    #[command(hide = true)]
    Hand {
        file: PathBuf,
        #[arg(long)]
        sum: bool,
        #[arg(long, default_value_t = 0)]
        from: u64,
    },
    /// Let who keeps a folder's results go
    #[command(hide = true)]
    Release { folder: PathBuf },
    /// Tell the container's first process to end gracefully
    #[command(hide = true)]
    Interrupt,
}

/// Does it.
pub(super) fn run(command: &InPod) -> Result<u8, UsageError> {
    match command {
        InPod::Locked { words_from, folder, words } => {
            let mut words = words.clone();
            if let Some(file) = words_from {
                words.extend(further_words(file)?);
            }
            return Err(pod::locked(folder, &words).into());
        }
        InPod::Keep { folder, linger, at_most } => {
            let stop = signals::stop_keeping_on_signals();
            let keeping = Keeping { linger_ns: *linger, at_most_ns: *at_most };
            pod::keep(folder, keeping, &mut std::io::stdout(), &|| stop.graceful())?;
        }
        InPod::Hand { file, sum: true, .. } => {
            let sum = pod::sum(file)?;
            outputs::print(&format!("{}\n", serde_json::json!(sum)));
        }
        InPod::Hand { file, from, .. } => pod::hand(file, *from, &mut std::io::stdout())?,
        InPod::Release { folder } => pod::release(folder)?,
        InPod::Interrupt => interrupt()?,
    }
    Ok(0)
}

/// Words that stand in the Secret.
fn further_words(file: &Path) -> Result<Vec<String>, UsageError> {
    let hint = "it comes of the run's Secret: make the run anew";
    let text = std::fs::read_to_string(file)
        .map_err(|error| UsageError::unreadable(file, &error, hint))?;
    // What is wrong with it may be a part of it, which is a secret.
    serde_json::from_str(&text).map_err(|_| {
        UsageError::new(format!("{} is no list of words in JSON", file.display()), hint)
    })
}

/// Only ever another process of this program: outside a pod the first process is the machine's.
fn interrupt() -> Result<(), UsageError> {
    let program = |process: &str| std::fs::read_link(Path::new("/proc").join(process).join("exe"));
    let is_ours = matches!((program("1"), program("self")), (Ok(first), Ok(own)) if first == own);
    if !is_ours {
        return Err(UsageError::plain(
            "the first process is no sojourn: this is no container of a run".to_owned(),
        ));
    }
    kill_process(Pid::INIT, Signal::INT)
        .map_err(|error| UsageError::plain(format!("the coordinator can't be told: {error}")))
}
