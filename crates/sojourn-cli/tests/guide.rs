//! The commands of the README and of every page of the guide, run as they stand there: only
//! addresses are free ports of this machine, durations short, and made-up names those of what is
//! there. What a page's other blocks are read by is in `src/published/`.

mod beside;
#[path = "../src/published/blocks.rs"]
mod blocks;
mod brokers;
mod check;
mod ci;
mod cluster;
mod files;
mod here;
mod nomad;
mod page;
mod scripts;
mod shop;
mod system;
#[path = "../src/published/whole.rs"]
mod whole;
mod written;

use std::path::{Path, PathBuf};

use blocks::{pages, root};
#[cfg(feature = "cluster")]
pub(crate) use page::block;
use page::{Command, commands};
use shop::Shop;

use crate::common::alone;

/// What is not run here, by a part of its words, why, and the file with what is tried instead.
const LEFT_OUT: [(&str, &str, &str); 7] = [
    ("cargo install", "builds", "xtask/src/test/suites.rs"),
    ("cargo build", "builds", "xtask/src/test/suites.rs"),
    ("cargo xtask", "builds, and runs these tests", "xtask/src/test/mod.rs"),
    ("sojourn image", "packs for half a minute", "crates/sojourn-cli/tests/kubernetes/image.rs"),
    (
        "script.js --on kubernetes",
        "its coordinator waits for pods",
        "crates/sojourn-cli/tests/kubernetes/scripts.rs",
    ),
    ("kind load", "needs a cluster in Docker", "crates/sojourn-cli/tests/on_cluster.rs"),
    ("skopeo copy", "needs a registry", "crates/sojourn-cli/tests/kubernetes/image.rs"),
];

/// Programs that pages call and a machine may lack.
const OTHERS: [&str; 4] = ["curl", "jq", "man", "openssl"];

/// Commands that last long and load little: the others of their page are run meanwhile.
const LONG: [&str; 2] = ["sojourn search", "sojourn demo --published-experiment"];

/// The pages that have commands, in the groups that are run by a test each.
const TOUR: [&str; 1] = ["docs/tour.md"];
const SHORT: [&str; 2] = ["README.md", "docs/recipes.md"];
const FILES: [&str; 4] =
    ["docs/audit.md", "docs/reports.md", "docs/compare.md", "docs/command-line.md"];
const LOOKING: [&str; 6] = [
    "docs/doctor.md",
    "docs/watch-and-discover.md",
    "docs/live.md",
    "docs/dashboard.md",
    "docs/event-queues.md",
    "docs/mock.md",
];
const LOADING: [&str; 5] = [
    "docs/demo.md",
    "docs/capacity.md",
    "docs/from-vegeta.md",
    "docs/outputs.md",
    "docs/answers.md",
];
const SCRIPTS: [&str; 3] = ["docs/k6.md", "docs/session-dsl.md", "docs/from-wrk.md"];
const SEVERAL: [&str; 1] = ["docs/fleet.md"];

/// Runs every command of some pages, beside each other, since they wait most of the time.
fn run_pages(pages: &[&str]) {
    std::thread::scope(|scope| {
        for page in pages {
            // One that fails fails the scope.
            scope.spawn(move || run_page(page));
        }
    });
}

/// Runs the commands of a page in a folder of its own, and looks at what came of each.
fn run_page(page: &str) {
    let all: Vec<_> = commands(page).into_iter().filter(|it| !is_left_out(it)).collect();
    assert!(!all.is_empty(), "{page}");
    let shop = Shop::open(all.iter().any(|command| command.has("sojourn compare")));
    let makes_one = all.iter().any(|command| command.begins("sojourn init"));
    let names = ["journey.yaml", "payments.yaml", ".sojourn", "sojourn rate"];
    let uses_one = |it: &Command| names.into_iter().any(|name| it.has(name));
    if all.iter().any(uses_one) && !makes_one {
        shop.has_a_journey();
    }
    for command in &all {
        run(command, &all, &shop);
    }
    shop.ends();
}

fn is_left_out(command: &Command) -> bool {
    LEFT_OUT.iter().any(|(part, ..)| command.has(part)) || lacks_a_program(command)
}

/// Whether it calls a program that this machine has not, which is said.
#[allow(clippy::print_stderr, reason = "what a test did not do")]
fn lacks_a_program(command: &Command) -> bool {
    let path = std::env::var_os("PATH").unwrap();
    let is_there = |name: &str| std::env::split_paths(&path).any(|it| it.join(name).is_file());
    let mut parts = command.line.split('|').filter_map(|part| part.split_whitespace().next());
    let missing = parts.find(|name| OTHERS.contains(name) && !is_there(name));
    if let Some(name) = missing {
        eprintln!("{}: not run, there is no {name} on the PATH", command.place);
    }
    missing.is_some()
}

/// Runs a command of a page, all of whose commands these are.
fn run(command: &Command, all: &[Command], shop: &Shop) {
    let of = |part: &str| all.iter().find(|it| it.has(part)).unwrap();
    let is_mock = command.begins("sojourn mock") && !command.has("selfcheck");
    let output = if is_mock {
        return shop.mock_answers(command);
    } else if command.has("--serve ") {
        return shop.serves(command);
    } else if LONG.iter().any(|begin| command.begins(begin)) {
        return shop.goes_on_beside(command);
    } else if command.has("--paused") {
        return shop.waits(command);
    } else if command.begins("sojourn generator") {
        // Run with what coordinates them.
        return;
    } else if command.has("-listen ") && !command.has("sojourn mock") {
        shop.coordinates(command, of("sojourn generator"))
    } else if command.begins("sojourn rate") {
        shop.changes_the_rate(command)
    } else {
        if command.has("-on kubernetes") {
            shop.has_a_cluster(command, "2s");
        } else if command.begins("sojourn fleet ") {
            shop.has_a_run_for(command, of("--detach"));
        } else if command.has("pgrep") {
            shop.has_a_service();
        }
        // Runs that load as much as they can would disturb those whose timing is looked at.
        let _turn = command.has("sojourn attack").then(alone);
        shop.run(command)
    };
    check::check(command, &output, shop);
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
    run_pages(&TOUR);
}

#[test]
fn the_readme_and_the_recipes() {
    run_pages(&SHORT);
}

#[test]
fn pages_about_files() {
    run_pages(&FILES);
}

#[test]
fn pages_about_looking() {
    run_pages(&LOOKING);
}

#[test]
fn pages_about_loading() {
    run_pages(&LOADING);
}

#[test]
fn pages_about_scripts() {
    run_pages(&SCRIPTS);
}

#[test]
fn the_page_about_several_machines() {
    run_pages(&SEVERAL);
}

#[test]
fn every_page_with_commands_is_run() {
    let groups: [&[&str]; 7] = [&TOUR, &SHORT, &FILES, &LOOKING, &LOADING, &SCRIPTS, &SEVERAL];
    let mut run = groups.concat();
    run.sort_unstable();
    let all = pages();
    let all: Vec<_> = all.iter().filter(|page| !commands(page).is_empty()).collect();
    assert_eq!(all, run);
}

#[test]
fn what_is_left_out_is_still_there_and_tried_elsewhere() {
    let all: Vec<_> = pages().iter().flat_map(|page| commands(page)).collect();
    for (part, why, instead) in LEFT_OUT {
        assert!(all.iter().any(|command| command.has(part)), "{part} ({why})");
        assert!(root().join(instead).is_file(), "{part}: there is no {instead}");
    }
}
