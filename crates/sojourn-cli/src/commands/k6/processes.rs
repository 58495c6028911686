//! `--generators` of a script's run: processes that share its users, here or elsewhere.

use std::path::Path;

use serde_json::Value;
use sojourn_engine::{Joined, RunError};
use sojourn_k6::flags::{Settings, SummaryMode};
use sojourn_vu::{Console, Share, ShareLink, take_part};

use super::run::{self, Making};
use super::script::{self, Around, Asked, Failed, Part};
use super::{config_file, environment, log};
use crate::{errors::UsageError, shelf::Shelf};

/// Errs for a script that only one process can read.
pub(super) fn refuse_standard_input(script: &Path) -> Result<(), UsageError> {
    match script == Path::new("-") {
        false => Ok(()),
        true => Err(UsageError::new(
            "a script on standard input can't be given to several processes (--generators)",
            "write it to a file",
        )),
    }
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

/// Errs for what only this machine has.
pub(super) fn refuse_what_is_here(asked: &Asked) -> Result<(), Failed> {
    match asked.consolidated.options.local_ips {
        None => Ok(()),
        Some(_) => Err(Failed::config(
            "--local-ips: an address is one machine's, and generators on others have others; leave \
             it out",
        )),
    }
}

/// Runs a share of the users for the process that conducts the test.
pub(super) fn join(command: &Making, joined: Joined) -> Result<(), RunError> {
    let wrong = |why: String| RunError::with(why, None);
    let shelf = Shelf::of(&joined);
    let link = ShareLink::begin(joined).map_err(wrong)?;
    match share(command, &shelf, &link) {
        Ok(share) => take_part(share, link).map_err(wrong),
        Err(failed) => {
            link.refuse(&failed.message);
            Err(wrong(failed.message))
        }
    }
}

/// What this process does, of the same words that the other one has read.
fn share(command: &Making, shelf: &Shelf, link: &ShareLink) -> Result<Share, Failed> {
    let process = environment::of(shelf);
    let around = Around { process: &process, is_included: true, shelf };
    let config: Value = config_file::read(&command.flags, &around)?;
    let settings = Settings::new(&command.flags, &process, &config).map_err(Failed::options)?;
    let output = command.flags.console_output.as_ref();
    let output = output.or_else(|| process.get("K6_CONSOLE_OUTPUT"));
    let console = log::passed_on(&settings, output.map(String::as_str), link)?;
    let part = Part { number: link.number(), of: link.of(), options: link.options() };
    let flags = &command.flags;
    let mut asked = script::ask(&command.script, flags, &settings, &around, Some(&part), &console)?;
    asked.collected.go_by(script::proxies(&process)?);
    let users = asked.consolidated.requirements().max_vus;
    // One that has dialled in has its machine for itself.
    let beside = if matches!(shelf, Shelf::Sent(_)) { 1 } else { link.of() as usize };
    let threads = settings.threads.unwrap_or_else(|| run::threads(users, beside));
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
