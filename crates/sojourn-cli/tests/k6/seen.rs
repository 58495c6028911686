//! What a run did, in the members that golden files have.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::script::{Script, folder};
use super::targets::Targets;

/// Metrics that k6 does not have.
const OURS: [&str; 2] = ["http_req_response", "iteration_lag"];
/// The member of summaries that k6 does not have.
const OUR_MEMBER: &str = "sojourn";

/// What a run left, read with addresses and folders replaced by their names.
pub(super) struct Seen<'a> {
    pub(super) script: &'a Script,
    pub(super) targets: &'a Targets,
    pub(super) out: &'a Path,
}

impl Seen<'_> {
    /// All members.
    pub(super) fn value(&self, code: i32) -> Value {
        let mut all = Map::new();
        let is_run = self.script.directive("Command").is_none();
        all.insert("exit_code".to_owned(), code.into());
        all.insert("log".to_owned(), self.log().into());
        if !is_run || self.script.source.contains("handleSummary") {
            all.insert("stdout".to_owned(), self.understood("stdout"));
        }
        if let Some(names) = self.script.directive("Keep") {
            let kept = names.split_whitespace();
            let kept = kept.map(|name| (name.to_owned(), self.understood(name)));
            all.insert("kept".to_owned(), Value::Object(kept.collect()));
        }
        if is_run {
            if let Some((checks, thresholds)) = self.summary() {
                all.insert("checks".to_owned(), checks);
                all.insert("thresholds".to_owned(), thresholds);
            }
            all.insert("metrics".to_owned(), self.metrics());
        }
        Value::Object(all)
    }

    /// A file's text; empty if there is none.
    fn read(&self, name: &str) -> String {
        self.plain(&self.raw(name))
    }

    fn raw(&self, name: &str) -> String {
        let bytes = std::fs::read(self.out.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// JSON is compared member by member.
    fn understood(&self, name: &str) -> Value {
        match serde_json::from_str::<Value>(&self.raw(name)) {
            Ok(Value::Object(mut members)) => {
                members.remove(OUR_MEMBER);
                self.plain_value(members.into())
            }
            Ok(value) if value.is_array() => self.plain_value(value),
            _ => self.read(name).into(),
        }
    }

    /// The texts within a value made plain; its numbers may have a port's digits in them.
    fn plain_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => self.plain(&text).into(),
            Value::Array(items) => items.into_iter().map(|it| self.plain_value(it)).collect(),
            Value::Object(members) => {
                let plain =
                    |(name, value): (String, Value)| (self.plain(&name), self.plain_value(value));
                members.into_iter().map(plain).collect()
            }
            other => other,
        }
    }

    fn plain(&self, text: &str) -> String {
        let bare = |name| self.targets.address(name).split("//").last().unwrap_or_default();
        let port = |name| bare(name).split(':').nth(1).unwrap_or_default();
        let text = text
            .replace(self.out.to_str().unwrap(), "@OUT@")
            .replace(folder().to_str().unwrap(), "@SCRIPTS@")
            .replace(bare("BASE"), "@BASE@")
            .replace(bare("ROUTES"), "@ROUTES@")
            .replace(bare("TLS"), "@TLS@")
            .replace(bare("WS"), "@WS@")
            .replace(bare("GRPC"), "@GRPC@")
            .replace(bare("SECURE"), "@SECURE@")
            .replace(bare("GRPCS"), "@GRPCS@")
            .replace(port("BASE"), "@PORT@")
            .replace(port("ROUTES"), "@PORT@");
        let mut parts = text.split("->").map(without_client).collect::<Vec<_>>();
        if let (Some(last), Some(raw)) = (parts.last_mut(), text.split("->").last()) {
            raw.clone_into(last);
        }
        parts.join("->")
    }

    /// Lines of the log: level, text, and what else is known of them.
    fn log(&self) -> Vec<Value> {
        let text = self.read("stderr");
        let mut lines: Vec<Value> =
            text.lines().filter(|line| !line.is_empty()).map(line_of).collect();
        match self.script.directive("Log") {
            Some("console") => lines.retain(|line| line["source"] == "console"),
            Some("sorted") => sort_by_message(&mut lines),
            _ => {}
        }
        lines
    }

    /// Checks by path and thresholds that held, of `--summary-export`.
    fn summary(&self) -> Option<(Value, Value)> {
        let summary: Value = serde_json::from_str(&self.raw("summary")).ok()?;
        let summary = self.plain_value(summary);
        let mut checks = Vec::new();
        walk(&summary["root_group"], &mut checks);
        let mut thresholds = Map::new();
        for (name, metric) in summary["metrics"].as_object()? {
            // The exported booleans say whether it failed.
            let Some(its) = metric["thresholds"].as_object() else { continue };
            let held = its.iter().map(|(text, failed)| (text.clone(), json!(failed != true)));
            thresholds.insert(name.clone(), Value::Object(held.collect()));
        }
        Some((checks.into(), thresholds.into()))
    }

    /// Of each metric: type, what it counts, how many samples, and which tags they had.
    fn metrics(&self) -> Value {
        let mut all: BTreeMap<String, Metric> = BTreeMap::new();
        for line in self.raw("samples").lines().filter(|line| !line.is_empty()) {
            // A run that was killed may have left half a line.
            let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
            let name = line["metric"].as_str().unwrap_or_default();
            if OURS.contains(&name) {
                continue;
            }
            let metric = all.entry(name.to_owned()).or_default();
            if line["type"] == "Metric" {
                metric.declared = line["data"].clone();
            } else {
                // Numbers may have a port's digits in them: only texts are made plain.
                metric.add(&line["data"], |text| self.plain(text));
            }
        }
        all.into_iter().map(|(name, metric)| (name.clone(), metric.value(&name))).collect()
    }
}

/// `127.0.0.1:40000` at the end is one end of a connection, which is another each time.
fn without_client(text: &str) -> String {
    match text.rfind("127.0.0.1:") {
        Some(at) if text[at + 10..].bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{}@CLIENT@", &text[..at])
        }
        _ => text.to_owned(),
    }
}

fn line_of(line: &str) -> Value {
    let Ok(Value::Object(object)) = serde_json::from_str(line) else {
        return json!({ "text": without_time(line) });
    };
    let kept = ["level", "msg", "source", "error", "hint"];
    kept.iter().filter_map(|name| Some(((*name).to_owned(), object.get(*name)?.clone()))).collect()
}

fn without_time(line: &str) -> String {
    let Some((before, rest)) = line.split_once("time=\"") else { return line.to_owned() };
    let after = rest.split_once('"').map_or("", |(_, after)| after);
    format!("{before}time=\"\"{after}")
}

/// Lines that come in no fixed order are compared in that of their texts.
pub(super) fn sort_by_message(lines: &mut [Value]) {
    lines.sort_by_key(|line| line["msg"].as_str().unwrap_or_default().to_owned());
}

fn walk(group: &Value, checks: &mut Vec<Value>) {
    // Arrays or objects by name.
    let each = |value: &Value| -> Vec<Value> {
        match value {
            Value::Array(items) => items.clone(),
            Value::Object(items) => items.values().cloned().collect(),
            _ => Vec::new(),
        }
    };
    for check in each(&group["checks"]) {
        checks.push(json!([check["path"], check["passes"], check["fails"]]));
    }
    for inner in each(&group["groups"]) {
        walk(&inner, checks);
    }
    checks.sort_by_key(joined);
}

#[derive(Default)]
struct Metric {
    declared: Value,
    samples: u64,
    tags: BTreeMap<String, BTreeSet<String>>,
}

impl Metric {
    fn add(&mut self, data: &Value, plain: impl Fn(&str) -> String) {
        self.samples += 1;
        for part in ["tags", "metadata"] {
            for (key, value) in data[part].as_object().into_iter().flatten() {
                let value = plain(value.as_str().unwrap_or_default());
                self.tags.entry(key.clone()).or_default().insert(value);
            }
        }
    }

    fn value(&self, name: &str) -> Value {
        let samples = if matches!(name, "vus" | "vus_max") { None } else { Some(self.samples) };
        let mut value = json!({
            "type": self.declared["type"], "contains": self.declared["contains"],
            "samples": samples, "tags": self.tags,
        });
        if let Some(submetrics) = self.declared["submetrics"].as_array() {
            let suffix = |it: &Value| it["suffix"].as_str().unwrap_or_default().to_owned();
            let mut suffixes: Vec<String> = submetrics.iter().map(suffix).collect();
            suffixes.sort();
            value["submetrics"] = suffixes.into();
        }
        value
    }
}

/// The text by which JavaScript sorts an array of arrays.
fn joined(check: &Value) -> String {
    format!("{},{},{}", check[0].as_str().unwrap_or_default(), check[1], check[2])
}
