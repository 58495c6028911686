//! `sojourn run`: a journey file, as it is or one journey only.

use std::path::PathBuf;

use sojourn_plan::Overrides;

use crate::{
    errors::UsageError,
    files::read_plan,
    runner::{self, RunFlags},
};

/// Run a journey file
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn run journey.yaml
  sojourn run journey.yaml --target http://127.0.0.1:8080 --label git=$(git rev-parse --short HEAD)
  sojourn run journey.yaml --once --debug
  sojourn run journey.yaml --report ci.json --report page.html")]
pub(crate) struct Run {
    /// Journey file (YAML)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Base of the plan's relative URLs, instead of the file's `target:`
    #[arg(long, value_name = "URL")]
    target: Option<String>,
    /// Label of the run, repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    label: Vec<(String, String)>,
    /// Value for `${NAME}` in the file, before the environment's, repeatable
    #[arg(long, short = 'e', value_name = "NAME=VALUE", value_parser = pair)]
    env: Vec<(String, String)>,
    /// Seed of everything random
    #[arg(long)]
    seed: Option<u64>,
    /// One journey of each kind instead of the load
    #[arg(long)]
    once: bool,
    /// Tell every request, event and decision on standard error
    #[arg(long)]
    debug: bool,
    #[command(flatten)]
    flags: RunFlags,
}

/// Makes the run.
pub(crate) fn run(command: &Run) -> Result<u8, UsageError> {
    let overrides = Overrides {
        target: command.target.clone(),
        labels: command.label.clone(),
        seed: command.seed,
        environment: command.env.clone(),
    };
    let plan = read_plan(&command.file, &overrides)?;
    let made = runner::make(&plan, &command.flags, command.once, command.debug)?;
    runner::say_where(&made);
    Ok(made.code)
}

/// `NAME=VALUE`.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}
