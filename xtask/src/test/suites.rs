//! Every test and doctest, counted; the last line tells.
//!
//! Two lanes run side by side: the command line's tests wait for real runs most of their time, and
//! all others do their work meanwhile, giving way to them.
//!
//! Tests here speak to real servers on machines that are busy with other things. One that fails is
//! run a second time, alone; if it passes then, it is named loudly and counted as passed. Such a
//! test is a defect to mend, of the test or of what it tests.

use std::thread;

use super::Size;
use super::count::Count;
use super::suite::Suite;

/// Every feature there is, in one build: what is tested is what is released.
pub(crate) const EVERY_FEATURE: &str = "sojourn-cli/full";

/// Takes as long as all others together, and a tenth of their processor time.
const LONGEST: &str = "crates/sojourn-cli, test tests";

/// Packages that say what to do where a feature of theirs was left out, and the tests of that.
const WITHOUT_FEATURES: [(&str, &[&str]); 2] =
    [("sojourn-mock", &["enrolment"]), ("sojourn-broker-kafka", &["without"])];

/// More failures than this are no accident.
const SECOND_TRIES_MAX: usize = 8;

/// What a suite counted, and how it ended.
type Run<'a> = (&'a Suite, Count, Result<(), String>);

pub(super) fn run(size: Size) -> Result<(), String> {
    let mut total = Count::default();
    let every = ["--workspace", "--features", EVERY_FEATURE];
    let mut outcomes = vec![run_all(&every, &[], size, &mut total)];
    if size == Size::Full {
        // A build of its own for each, of minutes.
        for (package, names) in WITHOUT_FEATURES {
            outcomes.push(run_all(&["--package", package], names, size, &mut total));
        }
    }
    let Count { suites, passed, failed, ignored, flaky, .. } = total;
    if !flaky.is_empty() {
        println!("FLAKY, passed only when run alone: {}", flaky.join(", "));
    }
    println!("cargo test: {passed} passed, {failed} failed, {ignored} ignored in {suites} suites");
    outcomes.into_iter().collect()
}

/// Builds and runs the tests of some packages, those that fail a second time, and adds them up.
fn run_all(which: &[&str], names: &[&str], size: Size, total: &mut Count) -> Result<(), String> {
    let suites = Suite::build(which)?;
    let docs = Suite::of_docs(which);
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut runs = in_two_lanes(&suites, &docs, &names, size);
    let failures: usize = runs.iter().map(|(_, count, _)| count.distinct_failures().len()).sum();
    for (suite, count, outcome) in &mut runs {
        if outcome.is_err() && count.is_whole() && failures <= SECOND_TRIES_MAX {
            run_again(suite, count, outcome, size);
        }
    }
    let mut errors = Vec::new();
    let passed_before = total.passed;
    for (_, count, outcome) in runs {
        total.add(count);
        errors.extend(outcome.err());
    }
    if total.passed == passed_before {
        errors.push(format!("no test of `{}` was run", which.join(" ")));
    }
    if errors.is_empty() { Ok(()) } else { Err(errors.join("; ")) }
}

/// How many of the longest suite's tests are run at a time: one more than there are cores, since
/// all but those that have a turn to themselves wait most of their time.
fn at_a_time() -> String {
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!("--test-threads={}", cores + 1)
}

fn in_two_lanes<'a>(
    suites: &'a [Suite],
    docs: &'a Suite,
    names: &[String],
    size: Size,
) -> Vec<Run<'a>> {
    let with_more = [names, &[at_a_time()]].concat();
    let lane = |suites: Vec<&'a Suite>, words: &[String], nice: bool| -> Vec<Run<'a>> {
        let run = |suite: &'a Suite| {
            let (count, outcome) = suite.run(words, size, nice);
            (suite, count, outcome)
        };
        suites.into_iter().map(run).collect()
    };
    let (longest, mut others): (Vec<&Suite>, Vec<&Suite>) =
        suites.iter().partition(|suite| suite.is(LONGEST));
    others.push(docs);
    thread::scope(|scope| {
        let beside = scope.spawn(|| lane(others, names, true));
        let mut runs = lane(longest, &with_more, false);
        match beside.join() {
            Ok(others) => runs.extend(others),
            Err(panic) => std::panic::resume_unwind(panic),
        }
        runs
    })
}

/// Runs those that failed once more, one after another, with nothing beside them.
fn run_again(suite: &Suite, count: &mut Count, outcome: &mut Result<(), String>, size: Size) {
    let failures = count.distinct_failures();
    eprintln!("  {} failed and run again, alone: {}", failures.len(), failures.join(", "));
    let mut names = vec!["--exact".to_owned(), "--test-threads=1".to_owned()];
    names.extend(failures.iter().cloned());
    let (again, ended) = suite.run(&names, size, false);
    *outcome = ended;
    if outcome.is_ok() && !failures.iter().all(|name| again.passes.contains(name)) {
        *outcome = Err(format!("{}: a test that failed was not found again", suite.name));
    }
    if outcome.is_ok() {
        count.passed += count.failed;
        count.failed = 0;
        count.flaky = failures;
    }
}
