//! `--generators` of a script's run: processes of this machine that share its users.

use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;
use sojourn_engine::{Joined, RunError};
use sojourn_k6::flags::{Settings, SummaryMode};
use sojourn_vu::{Console, Processes, Share, ShareLink, take_part};

use super::run::{self, Run};
use super::script::{self, Asked, Failed, Part};
use super::{environment, log};
use crate::errors::UsageError;
use crate::process_flags;

/// Processes that share the users.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ProcessFlags {
    /// Processes of this machine that share the users and iterations, each with --threads threads;
    /// they make one test: `setup` once, one summary, thresholds on all of it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    generators: Option<u32>,
    /// Refused: scripts of k6 run on this machine alone
    #[arg(long, hide = true, value_name = "WHERE")]
    on: Option<String>,
}

impl ProcessFlags {
    /// Those that are asked for.
    pub(super) fn asked(&self, script: &Path) -> Result<Option<Processes>, UsageError> {
        if self.on.is_some() {
            return Err(refused("--on"));
        }
        let Some(count) = self.generators else { return Ok(None) };
        if script == Path::new("-") {
            return Err(UsageError::new(
                "a script on standard input can't be given to several processes (--generators)",
                "write it to a file",
            ));
        }
        Ok(Some(Processes { count, words: process_flags::words()? }))
    }
}

/// A command line that would spread a script over machines.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(super) struct Elsewhere {
    /// Whatever it was called with
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _words: Vec<OsString>,
}

/// What is said of it.
pub(super) fn refused(asked: &str) -> UsageError {
    UsageError::new(
        format!("{asked}: scripts of k6 are not spread over machines"),
        "`sojourn run script.js --generators N` spreads one over processes of this machine; \
         journey files and session scripts run on several",
    )
}

/// Whether a test can be shared by so many processes.
pub(super) fn check(asked: &Asked, count: u32, console: &Console) -> Result<(), Failed> {
    let options = &asked.consolidated.options;
    if options.execution_segment.is_some() || options.execution_segment_sequence.is_some() {
        return Err(Failed::config(
            "executionSegment: --generators deals the load out itself, so that there can be no \
             segment besides; leave out one of them",
        ));
    }
    if asked.collected.declares_taps() {
        return Err(Failed::config(
            "tap(): journeys are followed by the process that has their users, and --generators \
             has them in several; leave it out",
        ));
    }
    let users = asked.consolidated.requirements().max_vus;
    if users < u64::from(count) {
        console.warn(&format!("{users} users for {count} processes: some have nothing to do"));
    }
    Ok(())
}

/// Runs a share of the users for the process that conducts the test.
pub(super) fn join(command: &Run, joined: Joined) -> Result<(), RunError> {
    let wrong = |why: String| RunError::with(why, None);
    let link = ShareLink::begin(joined).map_err(wrong)?;
    match share(command, &link) {
        Ok(share) => take_part(share, link).map_err(wrong),
        Err(failed) => {
            link.refuse(&failed.message);
            Err(wrong(failed.message))
        }
    }
}

/// What this process does, of the same words that the other one has read.
fn share(command: &Run, link: &ShareLink) -> Result<Share, Failed> {
    let process = environment::of_process();
    let config: Value = script::config_file(&command.flags, &process)?;
    let settings = Settings::new(&command.flags, &process, &config).map_err(Failed::options)?;
    let output = command.flags.console_output.as_ref();
    let output = output.or_else(|| process.get("K6_CONSOLE_OUTPUT"));
    let console = log::passed_on(&settings, output.map(String::as_str), link)?;
    let part = Part { number: link.number(), of: link.of(), options: link.options() };
    let of = (&process, true);
    let flags = &command.flags;
    let mut asked = script::ask(&command.script, flags, &settings, of, Some(&part), &console)?;
    asked.collected.go_by(script::proxies(&process)?);
    let users = asked.consolidated.requirements().max_vus;
    let threads = settings.threads.unwrap_or_else(|| run::threads(users, link.of() as usize));
    Ok(Share {
        system_tags: script::system_tags(&asked.consolidated.options),
        collected: asked.collected,
        consolidated: asked.consolidated,
        no_thresholds: settings.no_thresholds,
        exact: settings.exact_percentiles,
        is_full: settings.summary_mode == SummaryMode::Full,
        threads,
        has_outputs: !settings.out.is_empty(),
    })
}
