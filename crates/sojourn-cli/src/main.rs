//! The `sojourn` command: one file per command, flags to library calls, exit codes. No logic.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the one crate that speaks to people"
)]

mod audit;
mod commands;
mod connectors;
mod control;
mod display;
mod errors;
mod fail_if;
mod files;
#[cfg(feature = "script")]
mod flags_first;
mod fleet_flags;
mod for_pods;
mod framed;
mod given_words;
mod go_flags;
mod go_words;
mod kubernetes_flags;
mod live;
#[cfg(not(feature = "outputs"))]
mod no_out;
mod on_kubernetes;
#[cfg(feature = "outputs")]
mod out;
mod out_flags;
mod outputs;
mod pause;
mod plan_flags;
mod process_flags;
#[cfg(test)]
mod published;
mod rehearsal;
mod report_file;
mod reported;
mod requirements;
mod resource_flags;
mod results;
mod runner;
mod script_words;
mod several;
mod shelf;
mod signals;
mod version;
mod watchers;
mod web;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use commands::Command;
use errors::UsageError;
#[cfg(not(feature = "outputs"))]
use no_out as out;

/// Load tests for event-driven systems: follows every request through the events it causes.
#[derive(Debug, Parser)]
#[command(name = "sojourn", version, about, long_about = None, arg_required_else_help = true)]
#[command(after_help = "Examples:
  sojourn demo                          a whole payments system in this process, loaded and reported
  sojourn init > journey.yaml           a first journey file
  sojourn doctor journey.yaml           can it run here? checks without load
  sojourn run journey.yaml              load, follow, report
  sojourn run journey.yaml --once --debug   follow one journey aloud
  sojourn search journey.yaml           the highest arrival rate that holds its thresholds
  sojourn sweep journey.yaml --vary RATE=50/s,100/s    one run for each value, side by side
  sojourn attack http://127.0.0.1:8080/ -rate 100 -duration 10s      one URL, one line
  sojourn mock --respond body.json --latency 700ms   a server that stands in for another
  sojourn report reports/x.sojourn --format json
  sojourn run journey.yaml --on kubernetes --generators 4    the same run, by pods

Exit codes: 0 passed, 2 wrong usage or a plan that cannot run, 3 void (the figures may not be
believed; the cause is named), 99 a threshold failed, 105 interrupted; of report, encode and plot on
results: 1 wrong input.")]
struct Cli {
    /// Accepted in front of Vegeta's commands, without meaning: `attack -threads` counts
    #[arg(long = "cpus", hide = true, value_name = "N")]
    _cpus: Option<u32>,
    /// Vegeta's: refused with what helps instead
    #[arg(long, hide = true, value_name = "LIST")]
    profile: Option<String>,
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    // A reader that stops reading (`| head`) ends the output, not the program with a panic.
    let words: Vec<OsString> = std::env::args_os().collect();
    if version::is_asked(&words) {
        println!("{}", version::lines());
        return ExitCode::SUCCESS;
    }
    let cli = Cli::try_parse_from(rewritten(words.clone())).unwrap_or_else(|error| {
        if let Some(unknown) = unknown_command(&words, &error) {
            eprintln!("Unknown command: {unknown}");
        }
        error.exit()
    });
    match no_profile(cli.profile.as_deref()).and_then(|()| commands::dispatch(cli.command)) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(error.code())
        }
    }
}

/// The command that there is none of, for Vegeta's words about it in front of clap's hints.
fn unknown_command<'e>(words: &[OsString], error: &'e clap::Error) -> Option<&'e str> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    // A command's own subcommand is none of Vegeta's.
    let first = words.iter().skip(1).find(|word| !word.to_string_lossy().starts_with('-'))?;
    (first == name.as_str()).then_some(name.as_str())
}

/// A command line as clap reads it.
fn rewritten(words: Vec<OsString>) -> Vec<OsString> {
    let words = script_words::rewrite(words);
    #[cfg(feature = "script")]
    let words = flags_first::rewrite(words, &Cli::command());
    go_flags::rewrite(words, Cli::command())
}

/// The command of another process's command line.
fn parse(words: Vec<OsString>) -> Result<Command, clap::Error> {
    Cli::try_parse_from(rewritten(words)).map(|cli| cli.command)
}

/// Go's profiles of its own processor time and memory: there is no Go here.
fn no_profile(asked: Option<&str>) -> Result<(), UsageError> {
    match asked {
        None | Some("") => Ok(()),
        Some(list) => Err(UsageError::new(
            format!("-profile {list}: no profiles of Go's kind can be written"),
            "`perf record -g sojourn …` shows where processor time goes, `heaptrack sojourn …` \
             where memory does",
        )),
    }
}
