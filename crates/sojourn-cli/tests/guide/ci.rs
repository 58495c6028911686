//! The commands of the files that the guide shows for CI servers, and of the Job that attacks.

use serde_json::Value;

use super::{
    blocks::{Block, blocks, page},
    page::Command,
    run,
    shop::Shop,
};

/// What a CI server puts in.
const GIVEN: [(&str, &str); 4] = [
    ("$GITHUB_SHA", "1f00ab12"),
    ("$RUNNER_NAME", "runner-7"),
    ("$CI_COMMIT_SHORT_SHA", "1f00ab12"),
    ("$TARGET_URL", "http://127.0.0.1:8080"),
];

/// Every text of a document that is a command of ours.
fn commands_in(value: &Value, place: &str, found: &mut Vec<Command>) {
    match value {
        Value::String(text) if text.contains("sojourn ") => {
            let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let line = GIVEN.iter().fold(line, |line, (from, to)| line.replace(from, to));
            found.push(Command { place: place.to_owned(), line });
        }
        Value::Array(items) => items.iter().for_each(|item| commands_in(item, place, found)),
        Value::Object(fields) => {
            fields.values().for_each(|field| commands_in(field, place, found));
        }
        _ => {}
    }
}

fn commands(block: &Block) -> Vec<Command> {
    let mut found = Vec::new();
    let file = serde_saphyr::from_str(&block.text).unwrap();
    commands_in(&file, &block.place(), &mut found);
    found
}

/// Runs the commands of a page's files, in which a run of the main branch is the same one.
fn run_all(name: &str, is_compared: bool) {
    let shop = Shop::open(is_compared);
    shop.has_a_journey_file();
    let all: Vec<Command> = blocks(name, &page(name)).iter().flat_map(commands).collect();
    let ours = all.iter().filter(|command| command.begins("sojourn "));
    let mut count = 0;
    for command in ours {
        if command.has("compare before/") {
            std::fs::create_dir(shop.path("before")).unwrap();
            std::fs::copy(shop.path("load.sojourn"), shop.path("before/load.sojourn")).unwrap();
        }
        run(command, &all, &shop);
        count += 1;
    }
    assert!(count >= 2, "{name}: {count}");
}

#[test]
fn the_workflow_for_github() {
    run_all("docs/ci/github-actions.md", true);
}

#[test]
fn the_pipeline_for_gitlab() {
    run_all("docs/ci/gitlab.md", false);
}

#[test]
fn the_job_that_attacks() {
    let name = "docs/fleet.md";
    let is_job = |block: &Block| block.text.contains("kind: Job\nmetadata: { name: attack }");
    let job = blocks(name, &page(name)).into_iter().find(is_job).unwrap();
    let mut command = commands(&job).remove(0);
    command.line = command.line.replace("/tmp/results.bin", "results.bin");
    let shop = Shop::open(false);
    run(&command, &[], &shop);
    assert!(std::fs::metadata(shop.path("results.bin")).unwrap().len() > 1_000);
}
