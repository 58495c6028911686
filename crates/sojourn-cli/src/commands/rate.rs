//! `sojourn rate`: another rate for a run that goes on, from another terminal.

use sojourn_live::control::{RateWish, RunningRun, running};

use crate::errors::UsageError;

/// Change the rate of a run that goes on
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn rate 2x                twice the plan's rate
  sojourn rate 50%               half of it
  sojourn rate 120/s             where the plan has one rate that stays the same
  sojourn rate 0x                a pause; 1x ends it
  sojourn rate                   the runs that go on
  sojourn rate 2x --run 20261123-061530-1a2b3c4d

The run's report says when the rate was changed, and by whom. Only runs of the same user on the
same machine are reached.")]
pub(crate) struct Rate {
    /// Such as 2x, 1.5x, 50%, 120/s, 0x
    #[arg(value_parser = RateWish::parse)]
    rate: Option<RateWish>,
    /// Which run: its id or the beginning of it; needed when several go on
    #[arg(long, value_name = "ID")]
    run: Option<String>,
}

/// Asks the run.
pub(crate) fn run(command: &Rate) -> Result<u8, UsageError> {
    let runs = running().map_err(|error| {
        UsageError::runtime(format!("the runs that go on can't be looked for: {error}"))
    })?;
    let Some(wish) = command.rate else {
        println!("{}", listed(&runs));
        return Ok(0);
    };
    let run = chosen(&runs, command.run.as_deref())?;
    let answer = run.ask_rate(wish).map_err(|error| {
        UsageError::runtime(format!("run {} does not answer: {error}", run.run_id))
    })?;
    match answer {
        Ok(words) => {
            println!("run {} ({}): {words}", run.run_id, run.name);
            Ok(0)
        }
        Err(why) => Err(UsageError::runtime(format!("run {} ({}): {why}", run.run_id, run.name))),
    }
}

/// The one that is meant.
fn chosen<'a>(runs: &'a [RunningRun], id: Option<&str>) -> Result<&'a RunningRun, UsageError> {
    let meant = |run: &&RunningRun| id.is_none_or(|id| run.run_id.starts_with(id));
    let meant: Vec<&RunningRun> = runs.iter().filter(meant).collect();
    match (meant.as_slice(), id) {
        ([run], _) => Ok(run),
        ([], None) => Err(UsageError::new(
            "no run goes on",
            "start one with `sojourn run`; only runs of the same user are seen",
        )),
        ([], Some(id)) => Err(UsageError::new(format!("no run {id} goes on"), listed(runs))),
        (several, _) => Err(UsageError::new(
            format!("{} runs go on: say which with --run", several.len()),
            listed(runs),
        )),
    }
}

fn listed(runs: &[RunningRun]) -> String {
    if runs.is_empty() {
        return "no run goes on".to_owned();
    }
    let lines = runs.iter().map(|run| format!("{}  {}", run.run_id, run.name));
    lines.collect::<Vec<_>>().join("\n")
}
