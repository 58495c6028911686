//! The command lines and CI files that the docs show are ones that can be run.

use std::{ffi::OsString, path::Path};

use serde_json::Value;

use super::blocks::{Block, all, blocks, page, root};
use crate::reported::RunFormat;

/// A text with a number for each `$(command)`.
fn said(text: &str) -> String {
    let mut parts = text.split("$(");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |so_far, part| {
        let rest = part.split_once(')').map_or("", |(_, rest)| rest);
        so_far + "4711" + rest
    })
}

/// Every `sojourn` command of a shell's text, in words.
fn commands(text: &str) -> Vec<Vec<String>> {
    // What a CI server puts in is a word like any other, and what a command says is a number.
    let text = text.replace("\\\n", " ").replace("${{", "$").replace("}}", "");
    let text = said(&text);
    let lines = text.lines().map(str::trim);
    // In what a terminal shows they stand behind its prompt.
    let lines = lines.map(|line| line.strip_prefix("$ ").unwrap_or(line));
    let lines = lines.filter(|line| line.starts_with("sojourn "));
    lines
        .map(|line| {
            let words = shlex::split(line).unwrap_or_else(|| panic!("no words: {line}"));
            let ends = |word: &String| matches!(word.as_str(), "|" | ">" | "&&" | "||" | ";");
            words.into_iter().take_while(|word| !ends(word)).collect()
        })
        .collect()
}

/// What the guide calls a session script: `run` looks into it to know what it is.
const SESSION_SCRIPT: &str = "test.js";

/// What this program has against the words or a report that they ask for.
fn wrong(page: &str, words: &[String]) -> Option<String> {
    let session = root().join("examples/session-orders.js");
    let there = |word: &String| match word == SESSION_SCRIPT {
        true => session.clone().into_os_string(),
        false => OsString::from(word),
    };
    let rewritten = words.iter().map(there).collect();
    if let Err(error) = crate::parse(rewritten) {
        return Some(format!("{page}: {}\n{error}", words.join(" ")));
    }
    for pair in words.windows(2).filter(|pair| pair[0] == "--report") {
        let is_template = pair[1].ends_with(".tmpl");
        let is_known = RunFormat::check_name(Path::new(&pair[1])).is_ok();
        if !is_template && !is_known {
            return Some(format!("{page}: a report of an unknown format, {}", pair[1]));
        }
    }
    None
}

#[test]
fn commands_of_the_guide() {
    let (mut count, mut all_wrong) = (0, Vec::new());
    let is_shell = |block: &Block| {
        block.language == "sh" || block.language == "text" && block.text.starts_with("$ ")
    };
    for block in all().into_iter().filter(is_shell) {
        for words in commands(&block.text) {
            all_wrong.extend(wrong(&block.place(), &words));
            count += 1;
        }
    }
    assert!(all_wrong.is_empty(), "{}", all_wrong.join("\n"));
    assert!(count >= 60, "{count}");
}

/// Every text of a document.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| texts(field, found)),
        _ => {}
    }
}

/// The CI files of a page, with their commands looked at.
fn ci_files(name: &str) -> Vec<Value> {
    let found = blocks(name, &page(name)).into_iter().filter(|block| block.language == "yaml");
    let files: Vec<Value> = found
        .map(|block| {
            serde_saphyr::from_str(&block.text)
                .unwrap_or_else(|error| panic!("{}: {error}", block.place()))
        })
        .collect();
    let mut all = Vec::new();
    files.iter().for_each(|file| texts(file, &mut all));
    let all: Vec<_> = all.iter().flat_map(|text| commands(text)).collect();
    assert!(all.iter().any(|words| words[1] == "run"), "{name} shows no run");
    let all_wrong: Vec<_> = all.iter().filter_map(|words| wrong(name, words)).collect();
    assert!(all_wrong.is_empty(), "{}", all_wrong.join("\n"));
    files
}

/// Whether a report of this name is written by one of the commands of a text.
fn writes(text: &str, report: &str) -> bool {
    commands(text).iter().flatten().any(|word| word == report)
}

#[test]
fn the_workflow_for_github() {
    let files = ci_files("docs/ci/github-actions.md");
    for file in &files {
        for job in file["jobs"].as_object().expect("jobs").values() {
            assert!(job["runs-on"].is_string());
            for step in job["steps"].as_array().expect("steps") {
                assert!(step["run"].is_string() != step["uses"].is_string(), "{step}");
            }
        }
    }
    let steps = files[0]["jobs"]["load"]["steps"].as_array().unwrap();
    let of = |action: &str| {
        let uses = |step: &&Value| step["uses"].as_str().is_some_and(|it| it.starts_with(action));
        steps.iter().find(uses).unwrap_or_else(|| panic!("no {action}"))
    };
    let load = steps.iter().find(|step| step["name"] == "Load").unwrap()["run"].as_str().unwrap();
    let junit = of("mikepenz/action-junit-report")["with"]["report_paths"].as_str().unwrap();
    assert!(writes(load, junit) && junit.ends_with(".xml"), "{junit}");
    let kept = of("actions/upload-artifact")["with"]["path"].as_str().unwrap();
    assert!(kept.contains("load.html"));
    assert!(kept.split_whitespace().all(|file| writes(load, file)), "{kept}");
    let mut all = Vec::new();
    texts(&files[0], &mut all);
    let summary = "cat load.md >> \"$GITHUB_STEP_SUMMARY\"";
    assert!(all.iter().any(|text| text.contains(summary)) && writes(load, "load.md"));
}

#[test]
fn the_pipeline_for_gitlab() {
    let files = ci_files("docs/ci/gitlab.md");
    let job = &files[0]["load test"];
    let script = job["script"].as_array().unwrap();
    let is_written = |file: &Value| {
        let file = file.as_str().unwrap();
        script.iter().any(|line| writes(line.as_str().unwrap(), file))
    };
    assert!(is_written(&job["artifacts"]["reports"]["junit"]));
    assert!(job["artifacts"]["paths"].as_array().unwrap().iter().all(is_written));
    assert!(is_written(&Value::from("load.md")));
    assert!(files[0]["stages"].as_array().unwrap().contains(&job["stage"]));
}
