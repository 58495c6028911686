//! Conformance with k6: every script of `sojourn-vu/tests/scripts` against what the real k6 did.
//!
//! - `K6_SCRIPTS=http/` runs those alone whose names have this in them, and prints what differs;
//! - `missing.txt` names scripts that need what is not there yet, `different.txt` those that differ
//!   on purpose, each with its reason. A listed script that passes fails the test, so that the lists
//!   stay true.

#![allow(clippy::print_stdout, reason = "the table is what a reader of its output looks for")]

mod archives;
mod compare;
mod lists;
mod page;
mod play;
mod script;
mod seen;
mod starter;
mod targets;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;

use lists::Lists;
use script::Script;
use sojourn_clock::now_ns;
use targets::Targets;

/// Scripts at a time: most wait more than they compute.
const AT_ONCE: usize = 8;

/// How a script did.
struct Outcome {
    differences: Vec<String>,
    took_ms: u64,
}

#[test]
fn scripts_do_what_k6_does() {
    let filter = std::env::var("K6_SCRIPTS").ok().filter(|it| !it.is_empty());
    let mut scripts = script::all();
    if let Some(filter) = &filter {
        scripts.retain(|script| filter.split(',').any(|part| script.name.contains(part)));
    }
    let folder = tempfile::tempdir().unwrap();
    let targets = Targets::start(&script::folder(), folder.path());
    let outcomes = run_all(&scripts, &targets);
    drop(targets);
    let lists = Lists::read();
    let wrong = told(&scripts, &outcomes, &lists, filter.is_some());
    assert!(wrong.is_empty(), "{} scripts:\n{}", wrong.len(), wrong.join("\n"));
}

/// Runs them side by side, those that wait long first.
fn run_all(scripts: &[Script], targets: &Targets) -> BTreeMap<String, Outcome> {
    let mut order: Vec<&Script> = scripts.iter().collect();
    order.sort_by_key(|script| !waits_long(script));
    let queue = Mutex::new(VecDeque::from(order));
    let outcomes = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(script) = queue.lock().unwrap().pop_front() else { return };
                    let outcome = run_one(script, targets);
                    outcomes.lock().unwrap().insert(script.name.clone(), outcome);
                }
            });
        }
    });
    outcomes.into_inner().unwrap()
}

fn waits_long(script: &Script) -> bool {
    let waits = ["sleep(", "duration", "setTimeout", "delay", "timeout", "rate:"];
    waits.iter().any(|word| script.source.contains(word))
}

fn run_one(script: &Script, targets: &Targets) -> Outcome {
    let out = tempfile::tempdir().unwrap();
    let began_ns = now_ns();
    let code = play::play(script, targets, out.path());
    let took_ms = (now_ns() - began_ns) / 1_000_000;
    let seen = seen::Seen { script, targets, out: out.path() }.value(code);
    let mut differences = compare::differences(script, &seen);
    if took_ms >= 1_000 {
        // Sampled once a second: a short script lasts that long on a busy machine.
        let sampled = ["metrics.vus: should not", "metrics.vus_max: should not"];
        differences.retain(|it| !sampled.iter().any(|begins| it.starts_with(begins)));
    }
    Outcome { differences, took_ms }
}

/// Prints the table by folder; what is wrong.
fn told(
    scripts: &[Script],
    outcomes: &BTreeMap<String, Outcome>,
    lists: &Lists,
    is_verbose: bool,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut table: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    for script in scripts {
        let outcome = &outcomes[&script.name];
        let differences = lists.relevant(&script.name, &outcome.differences);
        let row = table.entry(script.part()).or_default();
        row[3] += 1;
        match (differences.is_empty(), lists.has(&script.name)) {
            (true, false) => row[usize::from(lists.different.contains_key(&*script.name))] += 1,
            (false, true) => row[if lists.is_missing(&script.name) { 2 } else { 1 }] += 1,
            (true, true) => wrong.push(format!("{}: passes, but is listed", script.name)),
            (false, false) => {
                wrong.push(format!("{}:\n    {}", script.name, differences.join("\n    ")));
            }
        }
        if is_verbose {
            println!("{} {} ms", script.name, outcome.took_ms);
        }
    }
    println!("{:<14}{:>7}{:>9}{:>9}{:>5}", "", "passes", "differs", "missing", "all");
    let total = table.values().fold([0; 4], |sum, row| std::array::from_fn(|at| sum[at] + row[at]));
    for (part, row) in table.into_iter().chain([("all", total)]) {
        println!("{part:<14}{:>7}{:>9}{:>9}{:>5}", row[0], row[1], row[2], row[3]);
    }
    let mut slow: Vec<_> = outcomes.iter().collect();
    slow.sort_by_key(|(_, outcome)| std::cmp::Reverse(outcome.took_ms));
    for (name, outcome) in slow.iter().take(5) {
        println!("{name} took {} ms", outcome.took_ms);
    }
    wrong
}
