//! The commands of the tour, of the recipes and of the README, run as they stand there: only
//! addresses are free ports of this machine, and durations short.

mod page;
mod shop;

use std::path::{Path, PathBuf};

use page::commands;
use shop::Shop;
use sojourn_testkit::Output;

use crate::common::alone;

/// What is not run here, by a part of its words, and where it is instead.
const LEFT_OUT: [(&str, &str); 10] = [
    ("--on kubernetes", "needs a cluster: tests/kubernetes.rs"),
    ("cargo install", "builds"),
    ("cargo build", "builds"),
    ("cargo xtask", "builds, and runs these tests"),
    ("sojourn image", "needs published images: tests/kubernetes.rs"),
    ("script.js", "needs a script of k6's: tests/k6.rs"),
    ("test.js", "needs a session script: tests/session.rs"),
    ("recorded.har", "needs a recording: tests/session.rs"),
    ("sojourn search journey.yaml --per-core", "the tour has a search: tests/several.rs"),
    ("sojourn attack -targets targets.txt -pace", "the recipes have targets: tests/attack.rs"),
];

/// Runs every command of a page and looks at what came of it; how many ran.
fn run_all(page: &str, shop: &Shop) -> usize {
    let mut ran = 0;
    for command in commands(page) {
        if LEFT_OUT.iter().any(|(part, _)| command.line.contains(part)) {
            continue;
        }
        ran += 1;
        if command.line.contains("sojourn mock ") {
            shop.mock_answers(&command);
            continue;
        }
        // Runs that load as much as they can would disturb those whose timing is looked at.
        let turn = command.line.contains("sojourn attack").then(alone);
        let output = shop.run(&command);
        drop(turn);
        check(&command, &output, shop);
    }
    ran
}

/// How a command may end: the machine may be too slow for a bound on latency or lag, or for a rate.
fn codes(line: &str) -> &'static [i32] {
    let is_bounded = ["-fail-if", "-rate 40000", " demo"].into_iter().any(|it| line.contains(it));
    match line.starts_with("sojourn compare") {
        // Two runs of one plan may differ on a busy machine.
        true => &[0, 3, 99],
        false if is_bounded => &[0, 3, 99],
        false => &[0],
    }
}

/// What each command says or leaves behind.
fn check(command: &page::Command, output: &Output, shop: &Shop) {
    let place = format!("{}: {}", command.place, command.line);
    let code = output.code.unwrap_or(-1);
    assert!(codes(&command.line).contains(&code), "{place}: {output}");
    let says = |words: &str| {
        assert!(output.stdout.contains(words), "{words}: {place}: {output}");
    };
    let words: Vec<&str> = command.line.split_whitespace().collect();
    match words.as_slice() {
        [.., "demo"] => says("JOURNEY payment"),
        ["sojourn", "init", ..] => shop.shorten_journey(),
        ["sojourn", "doctor", ..] => assert!(!output.stdout.is_empty(), "{place}: {output}"),
        ["sojourn", "discover", ..] => says("ThingDone"),
        ["sojourn", "search", ..] => says("CAPACITY"),
        ["sojourn", "sweep", ..] => {
            let told = shop.read("kubectl.txt");
            let scaled = told.lines().filter(|line| line.ends_with("deployment/consumer")).count();
            assert_eq!(scaled, 3, "{told}");
        }
        ["sojourn", "run", _, "--once", ..] => assert!(
            output.stderr.contains("created") || output.stdout.contains("created"),
            "{place}: {output}"
        ),
        ["sojourn", "run", ..] => {
            if !words.contains(&"--quiet") {
                says("JOURNEY create");
            }
            shop.name_run_file();
        }
        // Results, as Vegeta writes them where no terminal is, for those that read them.
        ["sojourn", "attack", ..] => says("GET"),
        ["echo", ..] => says("Latencies"),
        _ => {}
    }
    for pair in words.windows(2).filter(|pair| pair[0] == "--report") {
        assert!(shop.path(pair[1]).is_file(), "{} is not there: {place}: {output}", pair[1]);
    }
}

/// Every run file below a folder, the oldest first.
fn run_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "sojourn") {
                found.push((entry.metadata().unwrap().modified().unwrap(), path));
            }
        }
    }
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

#[test]
fn the_tour() {
    let shop = Shop::open();
    let ran = run_all("docs/tour.md", &shop);
    assert!(ran >= 9, "{ran}");
}

#[test]
fn the_recipes() {
    let shop = Shop::open();
    shop.has_a_journey();
    let ran = run_all("docs/recipes.md", &shop);
    assert!(ran >= 7, "{ran}");
}

#[test]
fn the_readme() {
    let shop = Shop::open();
    let ran = run_all("README.md", &shop);
    assert!(ran >= 8, "{ran}");
}

#[test]
fn what_is_left_out_is_still_there() {
    let pages = ["docs/tour.md", "docs/recipes.md", "README.md"];
    let all: Vec<_> = pages.into_iter().flat_map(commands).collect();
    for (part, why) in LEFT_OUT {
        assert!(all.iter().any(|command| command.line.contains(part)), "{part} ({why})");
    }
}
