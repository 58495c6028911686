//! The project's own automation, run as `cargo xtask`.
//!
//! - `test`: everything that CI runs, in phases; the first that fails ends it and is named.
//! - `tidy`: the rules that no compiler checks (sizes, docs, links, licences of dependencies).
//! - `bench`: the crates' benchmarks, and comparisons with other tools.
//! - `services`: the real servers that the connectors' tests need.
//! - `pictures`: those of the README and the guide.
//! - `fuzz`: any bytes for every parser of foreign input.
//!
//! Progress goes to stderr, results to stdout. Exit codes: 0 done, 1 a check failed, 2 wrong usage.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it speaks to the terminal")]

mod bench;
mod deny;
mod fuzz;
mod metadata;
mod phase;
mod pictures;
mod services;
mod shell;
mod test;
mod tidy;
mod tools;

use std::process::ExitCode;

const USAGE: &str = "\
The project's own automation

usage: cargo xtask test [--full] [PHASE…] everything CI runs, or only these phases:
                                          tools services format clippy tidy deny test;
                                          --full: the slow tests of every broker too
       cargo xtask test fleet [--cluster] what several machines make of one run; --cluster: on a
                                          real Kubernetes of two nodes, which needs root and Go
       cargo xtask tidy                   sizes, docs, links, names, licences of dependencies
       cargo xtask bench [--record] [NAME…]   benchmarks whose name or crate is NAME, or all;
                                          `http` compares our HTTP client with wrk against nginx,
                                          `brokers` the taps with bare clients and other tools;
                                          --record writes the figures into bench/README.md
       cargo xtask pictures               docs/pictures/ anew: the demo in a terminal, in a
                                          browser, as a report
       cargo xtask fuzz [--seconds N] [TARGET…]   any bytes for these fuzz targets, or for all, 20 s
                                          or N each; a finding is a file in fuzz/findings/
       cargo xtask fuzz TARGET --input FILE   one input again
       cargo xtask services up|down|status    Kafka, RabbitMQ, NATS, Redis, MQTT, Postgres, SQS on
                                          free ports of this machine, to work with by hand
       cargo xtask services install           what they need (`up` and `test` do it too)

examples: cargo xtask test
          cargo xtask test format tidy
          cargo xtask bench --record http";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["test", phases @ ..] => test::run(phases),
        ["tidy"] => tidy::run(),
        ["bench", options @ ..] => bench::run(options),
        ["services", words @ ..] => services::run(words),
        ["pictures"] => pictures::run(),
        ["fuzz", words @ ..] => fuzz::run(words),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        [] => Err(Failure::usage("which task?")),
        [other, ..] => Err(Failure::usage(&format!("`{other}` is no task, or has too many words"))),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Check(message)) => {
            eprintln!("xtask: {message}");
            ExitCode::from(1)
        }
        Err(Failure::Usage(message)) => {
            eprintln!("xtask: {message}\n\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Why a task did not succeed.
#[derive(Debug)]
enum Failure {
    /// Something is wrong with the project or the machine.
    Check(String),
    /// Something is wrong with the command.
    Usage(String),
}

impl Failure {
    fn usage(message: &str) -> Self {
        Self::Usage(message.to_owned())
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::Check(message)
    }
}
