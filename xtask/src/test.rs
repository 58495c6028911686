//! `cargo xtask test`: all that must hold before a change is taken, cheapest first.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::phase::phase;
use crate::shell::{cargo, find_on_path, run as run_command, show};
use crate::{Failure, services, tidy, tools};

type Work = fn() -> Result<(), String>;

/// Runs the slow tests too.
const FULL: &str = "--full";
static IS_FULL: AtomicBool = AtomicBool::new(false);

/// In the order in which they run.
const PHASES: &[(&str, Work)] = &[
    ("tools", tools::ensure),
    ("services", services::ensure),
    ("format", format),
    ("clippy", clippy),
    ("tidy", tidy::check),
    ("deny", cargo_deny),
    ("test", test),
];

/// Runs the named phases, or all of them when none is named.
pub(crate) fn run(words: &[&str]) -> Result<(), Failure> {
    let names: Vec<&str> = words.iter().copied().filter(|word| *word != FULL).collect();
    if names.len() < words.len() {
        IS_FULL.store(true, Ordering::Relaxed);
    }
    let known = |name: &&str| PHASES.iter().any(|(phase, _)| phase == name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        return Err(Failure::usage(&format!("`{unknown}` is no phase of test")));
    }
    for (name, work) in PHASES {
        if names.is_empty() || names.contains(name) {
            phase(name, work)?;
        }
    }
    Ok(())
}

fn format() -> Result<(), String> {
    run_command(&mut cargo(&["fmt", "--all", "--check"]))
        .map_err(|error| format!("{error}; `cargo fmt --all` mends it"))
}

/// In the release profile, so that build scripts and macros are those of the tests.
fn clippy() -> Result<(), String> {
    let arguments = ["clippy", "--release", "--workspace", "--all-targets", "--", "-D", "warnings"];
    run_command(&mut cargo(&arguments))
}

/// Our own check of `deny.toml` is part of tidy; cargo-deny's finer one runs where it is installed.
/// Advisories are left out: they need the network, and change without the project changing.
fn cargo_deny() -> Result<(), String> {
    if find_on_path("cargo-deny").is_none() {
        eprintln!("  cargo-deny is not installed: tidy's reading of deny.toml must do");
        return Ok(());
    }
    run_command(&mut cargo(&["deny", "--all-features", "check", "licenses", "bans", "sources"]))
}

/// Every test and doctest. The last line counts them.
fn test() -> Result<(), String> {
    const KAFKA_FEATURES: [&str; 4] =
        ["--package", "sojourn-broker-kafka", "--features", "tls,zstd"];
    let mut count = Count::default();
    let outcomes = [
        count_tests(&["--workspace"], &mut count),
        // Apart from the others: in one build with them, the features of its dependencies would
        // have nearly all of the default build compiled a second time.
        count_tests(&["--package", "sojourn-mock", "--features", "est"], &mut count),
        // Only what these features change.
        count_tests(
            &[&KAFKA_FEATURES[..], &["--", "tls::", "zstd", "compress"]].concat(),
            &mut count,
        ),
    ];
    let Count { suites, passed, failed, ignored } = count;
    println!("cargo test: {passed} passed, {failed} failed, {ignored} ignored in {suites} suites");
    outcomes.into_iter().collect()
}

/// Runs the tests of some packages and adds them to a count.
fn count_tests(which: &[&str], total: &mut Count) -> Result<(), String> {
    let mut command = cargo(&["test", "--release", "--no-fail-fast"]);
    command.args(which);
    if IS_FULL.load(Ordering::Relaxed) {
        command.env("SOJOURN_TESTS", "full");
    }
    let shown = show(&command);
    eprintln!("  $ {shown}");
    let explain = |error: std::io::Error| format!("`{shown}`: {error}");
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(explain)?;
    let mut count = Count::default();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line.map_err(explain)?;
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            count.read(&line);
        }
    }
    let status = child.wait().map_err(explain)?;
    total.add(&count);
    if !status.success() {
        return Err(format!("`{shown}` ended with {status}"));
    }
    if count.passed == 0 {
        return Err(format!("`{shown}` ran no test"));
    }
    Ok(())
}

/// The sum of the test binaries' closing lines.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    suites: u64,
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Count {
    fn add(&mut self, other: &Self) {
        self.suites += other.suites;
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }

    /// Adds a line such as `test result: ok. 3 passed; 0 failed; 1 ignored; …`; others are passed
    /// over.
    fn read(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ") else {
            return;
        };
        self.suites += 1;
        let words: Vec<&str> = result.split([' ', ';']).collect();
        for pair in words.windows(2) {
            let number = pair[0].parse().unwrap_or(0);
            match pair[1] {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_summed() {
        let mut count = Count::default();
        for line in [
            "running 3 tests",
            "test one ... ok",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; in 0.1s",
            "test result: FAILED. 12 passed; 2 failed; 0 ignored; 0 measured; 7 filtered out",
        ] {
            count.read(line);
        }
        let expected = Count { suites: 2, passed: 15, failed: 2, ignored: 1 };
        assert_eq!(count, expected);
        count.add(&expected);
        assert_eq!(count, Count { suites: 4, passed: 30, failed: 4, ignored: 2 });
    }

    #[test]
    fn an_unknown_phase_is_wrong_usage() {
        assert!(matches!(run(&["format", "lint"]), Err(Failure::Usage(_))));
    }
}
