//! Every test and doctest, counted; the last line tells.
//!
//! Tests here speak to real servers on machines that are busy with other things. One that fails is
//! run a second time, alone; if it passes then, it is named loudly and counted as passed. Such a
//! test is a defect to mend, of the test or of what it tests.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use super::Size;
use super::count::Count;
use crate::shell::{cargo, show};

/// Every feature there is, in one build: what is tested is what is released.
pub(super) const EVERY_FEATURE: &str = "sojourn-cli/full";

/// Packages that say what to do where a feature of theirs was left out, and the tests of that.
const WITHOUT_FEATURES: [(&str, &[&str]); 2] =
    [("sojourn-mock", &["enrolment"]), ("sojourn-broker-kafka", &["without"])];

/// More failures than this are no accident.
const SECOND_TRIES_MAX: usize = 8;

pub(super) fn run(size: Size) -> Result<(), String> {
    let mut count = Count::default();
    let every = ["--workspace", "--features", EVERY_FEATURE];
    let mut outcomes = vec![run_twice(&every, &[], size, &mut count)];
    if size == Size::Full {
        // A build of its own for each, of minutes.
        for (package, names) in WITHOUT_FEATURES {
            outcomes.push(run_twice(&["--package", package], names, size, &mut count));
        }
    }
    let Count { suites, passed, failed, ignored, flaky, .. } = count;
    if !flaky.is_empty() {
        println!("FLAKY, passed only when run alone: {}", flaky.join(", "));
    }
    println!("cargo test: {passed} passed, {failed} failed, {ignored} ignored in {suites} suites");
    outcomes.into_iter().collect()
}

/// Runs the tests of some packages, those that fail a second time, and adds them to a count.
fn run_twice(which: &[&str], names: &[&str], size: Size, total: &mut Count) -> Result<(), String> {
    let mut count = Count::default();
    let mut outcome = run_once(which, names, size, &mut count);
    let mut failures = count.failures.clone();
    // A test that starts itself anew is told of twice.
    failures.sort();
    failures.dedup();
    if outcome.is_err() && count.is_whole() && (1..=SECOND_TRIES_MAX).contains(&failures.len()) {
        eprintln!("  {} failed and run again, alone: {}", failures.len(), failures.join(", "));
        let mut names = vec!["--exact", "--test-threads=1"];
        names.extend(failures.iter().map(String::as_str));
        let mut again = Count::default();
        outcome = run_once(which, &names, size, &mut again);
        if outcome.is_ok() && !failures.iter().all(|name| again.passes.contains(name)) {
            outcome = Err("a test that failed was not found again".to_owned());
        }
        if outcome.is_ok() {
            count.passed += count.failed;
            count.failed = 0;
            count.flaky = failures;
        }
    }
    total.add(count);
    outcome
}

fn run_once(which: &[&str], names: &[&str], size: Size, count: &mut Count) -> Result<(), String> {
    let mut command = cargo(&["test", "--release", "--no-fail-fast"]);
    command.args(which).arg("--").args(names);
    if size == Size::Full {
        command.env("SOJOURN_TESTS", "full");
    }
    let shown = show(&command);
    eprintln!("  $ {shown}");
    let explain = |error: std::io::Error| format!("`{shown}`: {error}");
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(explain)?;
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line.map_err(explain)?;
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            count.read(&line);
        }
    }
    let status = child.wait().map_err(explain)?;
    if !status.success() {
        return Err(format!("`{shown}` ended with {status}"));
    }
    if count.passed == 0 {
        return Err(format!("`{shown}` ran no test"));
    }
    Ok(())
}
