//! What differs between what a run did and what it should have done.

use serde_json::{Value, json};

use super::script::{Golden, Script};
use super::seen::sort_by_message;

/// One line for each difference.
pub(super) fn differences(script: &Script, seen: &Value) -> Vec<String> {
    let mut found = Vec::new();
    match &script.golden {
        Golden::Recorded(golden) => {
            for (member, expected) in golden.as_object().unwrap() {
                if member != "script" && member != "row" {
                    let mut expected = expected.clone();
                    let mut own = seen[member].clone();
                    if member == "log" {
                        (expected, own) = (log(script, expected), log(script, own));
                    }
                    compare(member, &expected, &own, &mut found);
                }
            }
        }
        Golden::Expected(expected) => {
            compare("exit_code", &expected["exit_code"], &seen["exit_code"], &mut found);
            let part = expected["log_has"].as_str().unwrap_or_default();
            if !seen["log"].to_string().contains(part) {
                found.push(format!("log: nothing of {part:?} in {}", seen["log"]));
            }
        }
    }
    found
}

/// Nothing that may differ between engines is left in it.
fn log(script: &Script, mut log: Value) -> Value {
    for line in log.as_array_mut().into_iter().flatten() {
        for (_, value) in line.as_object_mut().into_iter().flatten() {
            if let Some(text) = value.as_str() {
                *value = engine_free(text).into();
            }
        }
    }
    if let (Some("sorted"), Some(lines)) = (script.directive("Log"), log.as_array_mut()) {
        sort_by_message(lines);
    }
    log
}

/// A text without what only k6's JavaScript engine makes:
///
/// - errors that Go code throws are called `GoError` there and `Error` here;
/// - texts of errors that engines throw themselves (`Cannot read property …`) are each engine's own,
///   their kind is not;
/// - of positions in stack traces the file and the line count, not the column, not the instruction;
///   functions within the engine or the tool (`native`) are not looked at.
fn engine_free(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.replace("GoError", "Error").split('\n') {
        match line.strip_prefix("\tat ") {
            Some(frame) if is_inner(frame) => {}
            Some(frame) => lines.push(format!("\tat {}", place(frame))),
            None => lines.push(without_own_words(line)),
        }
    }
    lines.join("\n").trim_end_matches('\n').to_owned()
}

fn is_inner(frame: &str) -> bool {
    frame.contains("native") || frame.starts_with("<eval>") || frame.contains("(<eval>")
}

const KINDS: [&str; 5] =
    ["TypeError", "ReferenceError", "SyntaxError", "RangeError", "InternalError"];

fn without_own_words(line: &str) -> String {
    let found = KINDS.iter().filter_map(|kind| Some((line.find(&format!("{kind}: "))?, kind)));
    match found.min() {
        Some((at, kind)) => format!("{}{kind}", &line[..at]),
        None => line.to_owned(),
    }
}

/// `file:///folder/script.js:12` of a frame.
fn place(frame: &str) -> String {
    let inner = frame.rsplit_once('(').map_or(frame, |(before, last)| {
        // `file:1:2(3)` ends in an instruction, `name (file:1:2(3))` is about a function.
        let is_instruction = last.trim_end_matches(')').bytes().all(|byte| byte.is_ascii_digit());
        if is_instruction { before } else { last }
    });
    let inner = inner.rsplit_once('(').map_or(inner, |(_, last)| last).trim_end_matches(')');
    let mut parts: Vec<&str> = inner.split(':').collect();
    if parts.len() > 2 {
        parts.pop();
    }
    parts.join(":")
}

/// Compares member by member; `null` is not compared.
fn compare(path: &str, expected: &Value, seen: &Value, found: &mut Vec<String>) {
    match (expected, seen) {
        (Value::Null, _) => {}
        (Value::Object(wanted), Value::Object(own)) => {
            for (name, value) in wanted {
                let path = format!("{path}.{name}");
                match own.get(name) {
                    Some(own) => compare(&path, value, own, found),
                    None if value.is_null() => {}
                    None => found.push(format!("{path}: missing, should be {}", brief(value))),
                }
            }
            for (name, value) in own.iter().filter(|(name, _)| !wanted.contains_key(*name)) {
                found.push(format!("{path}.{name}: should not be there: {}", brief(value)));
            }
        }
        (Value::Array(wanted), Value::Array(own)) if wanted.len() == own.len() => {
            for (at, (value, own)) in wanted.iter().zip(own).enumerate() {
                compare(&format!("{path}[{at}]"), value, own, found);
            }
        }
        (Value::Array(wanted), Value::Array(own)) => {
            let extra = own.iter().filter(|it| !wanted.contains(it)).map(brief);
            let missing = wanted.iter().filter(|it| !own.contains(it)).map(brief);
            let mut told = format!("{path}: {} elements, should be {}", own.len(), wanted.len());
            extra.for_each(|it| told.push_str(&format!("\n        + {it}")));
            missing.for_each(|it| told.push_str(&format!("\n        - {it}")));
            found.push(told);
        }
        _ if expected == seen || same_number(expected, seen) => {}
        _ => found.push(format!("{path}: {} should be {}", brief(seen), brief(expected))),
    }
}

fn same_number(one: &Value, other: &Value) -> bool {
    one.is_number() && one.as_f64() == other.as_f64()
}

fn brief(value: &Value) -> String {
    let text = if value.is_null() { json!(null).to_string() } else { value.to_string() };
    let end = text.char_indices().nth(600).map_or(text.len(), |(at, _)| at);
    text[..end].to_owned()
}
