//! Summaries as text.

use std::path::Path;

use serde_json::Value;
use sojourn_k6::metrics::{Registry, Shard, ShardOptions, TagSets, Totals, builtin};
use sojourn_k6::summary::{
    Identity, Mode, Source, Terminal, TimeUnit, TrendStat, data, export, legacy_text, machine, text,
};
use sojourn_k6::thresholds::{Moment, Thresholds};

use super::golden::{Run, elapsed_ns, folders, json, text as read};

/// The text of a folder's run by our own account of its samples.
fn compare(kind: &str, unit: Option<TimeUnit>, write: impl Fn(&Source<'_>) -> String) {
    each(kind, "export.json", unit, |source, folder| {
        assert_text(&write(source), &read(folder, "summary.txt"), folder);
    });
}

/// Every run of a kind, its length by a file that k6 wrote.
fn each(kind: &str, file: &str, unit: Option<TimeUnit>, look: impl Fn(&Source<'_>, &Path)) {
    for folder in folders(kind) {
        let mut run = Run::read(&folder);
        let elapsed_ns = elapsed_ns(&json(&folder, file));
        run.thresholds.evaluate(&run.totals, elapsed_ns, Moment::End);
        let stats = run.trend_stats();
        let source = Source {
            registry: &run.registry,
            totals: &run.totals,
            thresholds: &run.thresholds,
            elapsed_ns,
            trend_stats: &stats,
            time_unit: unit,
            generator: None,
        };
        look(&source, &folder);
    }
}

/// Names the first line that differs.
fn assert_text(found: &str, expected: &str, folder: &Path) {
    for (at, (line, other)) in found.lines().zip(expected.lines()).enumerate() {
        assert_eq!(line, other, "{}, line {}", folder.display(), at + 1);
    }
    assert!(found == expected, "{}: other ends", folder.display());
}

#[test]
fn compact_texts_are_k6s() {
    compare("compact", None, |source| text(source, Mode::Compact, false));
}

#[test]
fn full_texts_are_k6s() {
    compare("full", None, |source| text(source, Mode::Full, false));
}

#[test]
fn coloured_texts_are_k6s() {
    compare("full-colour", None, |source| text(source, Mode::Full, true));
}

#[test]
fn texts_in_one_unit_are_k6s() {
    for (word, unit) in
        [("s", TimeUnit::Seconds), ("ms", TimeUnit::Milliseconds), ("us", TimeUnit::Microseconds)]
    {
        let kind = format!("unit_{word}");
        compare(&kind, Some(unit), |source| text(source, Mode::Compact, false));
    }
}

#[test]
fn legacy_texts_are_k6s() {
    compare("legacy", None, |source| legacy_text(source, false));
    compare("legacy-colour", None, |source| legacy_text(source, true));
    compare("unit_us-legacy", Some(TimeUnit::Microseconds), |source| legacy_text(source, false));
}

#[test]
fn data_are_k6s() {
    for kind in ["data", "data-legacy"] {
        each(kind, "data.json", None, |source, folder| {
            let terminal = Terminal { no_colour: true, ..Terminal::default() };
            assert_values(&data(source, terminal, None), &json(folder, "data.json"), folder);
        });
    }
}

#[test]
fn exports_are_k6s() {
    for kind in ["compact", "full", "legacy"] {
        each(kind, "export.json", None, |source, folder| {
            assert_values(&export(source), &json(folder, "export.json"), folder);
        });
    }
}

#[test]
fn machines_summaries_are_k6s() {
    each("data-machine", "data.json", None, |source, folder| {
        let mut expected = json(folder, "data.json");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let generated_at = text(&expected["metadata"]["generated_at"]);
        let script = text(&expected["config"]["script"]);
        let identity =
            Identity { generated_at: &generated_at, version: "2.2.0", script: Some(&script) };
        let mut found = machine(source, identity);
        for value in [&mut found, &mut expected] {
            // k6 lists metrics in an order that changes from run to run.
            let metrics = value["results"]["metrics"].as_array_mut().unwrap();
            metrics.sort_by_key(|metric| metric["name"].to_string());
        }
        assert_values(&found, &expected, folder);
    });
}

/// The same keys and values, in whatever order, numbers to the last bit but one.
fn assert_values(found: &Value, expected: &Value, folder: &Path) {
    match (found, expected) {
        (Value::Object(own), Value::Object(other)) => {
            let mut keys: Vec<_> = own.keys().collect();
            let mut others: Vec<_> = other.keys().collect();
            keys.sort();
            others.sort();
            assert_eq!(keys, others, "{}", folder.display());
            own.iter().for_each(|(key, value)| assert_values(value, &other[key], folder));
        }
        (Value::Array(own), Value::Array(other)) => {
            assert_eq!(own.len(), other.len(), "{}: {own:?} {other:?}", folder.display());
            own.iter().zip(other).for_each(|(own, other)| assert_values(own, other, folder));
        }
        (Value::Number(own), Value::Number(other)) => {
            let (own, other) = (own.as_f64().unwrap(), other.as_f64().unwrap());
            let is_near = (own - other).abs() <= other.abs() * f64::EPSILON;
            assert!(is_near, "{}: {own} {other}", folder.display());
        }
        _ => assert_eq!(found, expected, "{}", folder.display()),
    }
}

#[test]
fn what_k6_does_not_measure_stands_below() {
    let mut registry = Registry::new();
    let thresholds = Thresholds::new(&mut registry, []).unwrap();
    let sets = TagSets::new(registry.matcher());
    let stats = [TrendStat::parse("max").unwrap(), TrendStat::parse("p(99)").unwrap()];
    for (samples, note) in [(0, false), (9, false), (20_001, true)] {
        let mut shard = Shard::new(ShardOptions::default());
        for k in 1..=samples {
            shard.add(builtin::ITERATION_LAG, sets.empty(), k, k as f64);
        }
        let mut totals = Totals::default();
        totals.merge(shard.take());
        let source = Source {
            registry: &registry,
            totals: &totals,
            thresholds: &thresholds,
            elapsed_ns: 1,
            trend_stats: &stats,
            time_unit: Some(TimeUnit::Milliseconds),
            generator: None,
        };
        let compact = text(&source, Mode::Compact, false);
        for text in [&compact, &legacy_text(&source, false)] {
            assert_eq!(text.contains("█ SOJOURN"), samples > 0, "{text}");
            assert_eq!(text.contains("iteration_lag...: max="), samples > 0, "{text}");
            assert_eq!(text.contains("within 0.05% of the exact ones"), note, "{text}");
        }
        assert_eq!(compact.matches("iteration_lag").count(), usize::from(samples > 0));
        assert!(data(&source, Terminal::default(), None)["metrics"].get("iteration_lag").is_none());
    }
}
