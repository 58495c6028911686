//! Reads a run of the real k6: its samples and what it printed of them.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sojourn_k6::metrics::{
    Contains, MetricId, MetricKind, Registry, Sample, Shard, ShardOptions, TagSets, Totals, builtin,
};
use sojourn_k6::summary::TrendStat;
use sojourn_k6::thresholds::{Spec, Thresholds};

/// One run and the account that we make of its samples.
pub(super) struct Run {
    pub(super) registry: Registry,
    pub(super) thresholds: Thresholds,
    pub(super) totals: Totals,
    pub(super) samples: Vec<Sample>,
    pub(super) options: Value,
}

/// The folders `golden/NAME/KIND` of all scripts' runs of this kind.
pub(super) fn folders(kind: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/metrics");
    let scripts = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<_> = scripts.map(|path| path.join(kind)).filter(|p| p.exists()).collect();
    folders.sort();
    assert!(!folders.is_empty());
    folders
}

pub(super) fn text(folder: &Path, name: &str) -> String {
    let path = folder.join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(super) fn json(folder: &Path, name: &str) -> Value {
    serde_json::from_str(&text(folder, name)).unwrap()
}

impl Run {
    pub(super) fn read(folder: &Path) -> Self {
        let options = json(folder.parent().unwrap(), "options.json");
        let lines: Vec<Value> = text(folder, "samples.json").lines().map(line).collect();
        let (mut registry, ids) = registry(&lines, &options);
        let specs = specs(&options["thresholds"]);
        let thresholds = Thresholds::new(&mut registry, specs).unwrap();
        let mut sets = TagSets::new(registry.matcher());
        let options_of_shard =
            ShardOptions { samples_max: lines.len(), is_full: true, is_exact: false };
        let mut shard = Shard::new(options_of_shard);
        for line in lines.iter().filter(|line| line["type"] == "Point") {
            add(line, &ids, &mut sets, &mut shard);
        }
        let samples = shard.take_samples(Vec::new());
        let mut totals = Totals::default();
        totals.merge(shard.take());
        Self { registry, thresholds, totals, samples, options }
    }

    /// What the script wants to know of trends.
    pub(super) fn trend_stats(&self) -> Vec<TrendStat> {
        let names = self.options["summaryTrendStats"].as_array();
        names.map_or_else(TrendStat::defaults, |names| {
            names.iter().map(|name| TrendStat::parse(name.as_str().unwrap()).unwrap()).collect()
        })
    }
}

/// A line of samples, its value as text: as a number it would be read with an error in its last bit.
fn line(text: &str) -> Value {
    let (head, rest) = text.split_once("\"value\":").unwrap_or((text, ""));
    let Some((value, rest)) = rest.split_once(',') else {
        return serde_json::from_str(text).unwrap();
    };
    serde_json::from_str(&format!("{head}\"value\":\"{value}\",{rest}")).unwrap()
}

/// The metrics that the samples name, and those of the script `empty.js`, whose names say what they
/// are.
fn registry(lines: &[Value], options: &Value) -> (Registry, HashMap<String, MetricId>) {
    let mut registry = Registry::new();
    let mut ids = HashMap::new();
    for line in lines.iter().filter(|line| line["type"] == "Metric") {
        let data = &line["data"];
        let contains = match data["contains"].as_str().unwrap() {
            "time" => Contains::Time,
            "data" => Contains::Data,
            _ => Contains::Default,
        };
        let name = data["name"].as_str().unwrap();
        let id = registry.declare(name, kind(data["type"].as_str().unwrap()), contains).unwrap();
        ids.insert(name.to_owned(), id);
    }
    for key in options["thresholds"].as_object().into_iter().flat_map(|map| map.keys()) {
        let name = key.split('{').next().unwrap();
        if registry.find(name).is_none() {
            let kind = kind(name.split('_').next().unwrap());
            registry.declare(name, kind, Contains::Default).unwrap();
        }
    }
    (registry, ids)
}

fn kind(word: &str) -> MetricKind {
    match word {
        "counter" => MetricKind::Counter,
        "gauge" => MetricKind::Gauge,
        "rate" => MetricKind::Rate,
        "trend" => MetricKind::Trend,
        other => panic!("{other} is no kind"),
    }
}

fn specs(thresholds: &Value) -> Vec<(String, Vec<Spec>)> {
    let spec = |value: &Value| Spec {
        text: value.as_str().or_else(|| value["threshold"].as_str()).unwrap().to_owned(),
        abort_on_fail: value["abortOnFail"].as_bool().unwrap_or_default(),
        // All of these tests are shorter than their delays.
        delay_abort_ns: if value["delayAbortEval"].is_null() { 0 } else { u64::MAX },
    };
    let all = thresholds.as_object().into_iter().flatten();
    all.map(|(key, list)| (key.clone(), list.as_array().unwrap().iter().map(spec).collect()))
        .collect()
}

fn add(line: &Value, ids: &HashMap<String, MetricId>, sets: &mut TagSets, shard: &mut Shard) {
    let data = &line["data"];
    let pairs = |value: &Value| -> Vec<(String, String)> {
        let all = value.as_object().into_iter().flatten();
        all.map(|(key, value)| (key.clone(), value.as_str().unwrap().to_owned())).collect()
    };
    let (tags, metadata) = (pairs(&data["tags"]), pairs(&data["metadata"]));
    let base = sets.empty().clone();
    let set = sets.with(&base, &borrowed(&tags));
    let set =
        if metadata.is_empty() { set } else { sets.with_metadata(&set, &borrowed(&metadata)) };
    let metric = ids[line["metric"].as_str().unwrap()];
    let at_ns = nanoseconds(data["time"].as_str().unwrap());
    let value: f64 = data["value"].as_str().unwrap().parse().unwrap();
    let group = set.get("group").unwrap_or_default().to_owned();
    if metric == builtin::GROUP_DURATION {
        shard.enter_group(&group, at_ns);
    }
    match set.get("check").map(str::to_owned) {
        Some(check) if metric == builtin::CHECKS => {
            shard.check(&group, &check, &set, at_ns, value != 0.0);
        }
        _ => shard.add(metric, &set, at_ns, value),
    }
}

fn borrowed(pairs: &[(String, String)]) -> Vec<(&str, &str)> {
    pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect()
}

fn nanoseconds(text: &str) -> u64 {
    let at: jiff::Timestamp = text.parse().unwrap();
    at.as_nanosecond().try_into().unwrap()
}

/// How long a test took, by what an export, data or a machine's summary says of it.
pub(super) fn elapsed_ns(value: &Value) -> u64 {
    let seconds = if let Some(ms) = value["state"]["testRunDurationMs"].as_f64() {
        ms / 1e3
    } else if let Some(seconds) = value["config"]["duration"].as_f64() {
        seconds
    } else {
        let iterations = &value["metrics"]["iterations"];
        iterations["count"].as_f64().unwrap() / iterations["rate"].as_f64().unwrap()
    };
    (seconds * 1e9).round() as u64
}
