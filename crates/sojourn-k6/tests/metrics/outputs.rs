//! Lines of JSON and CSV.

use jiff::tz::{Offset, TimeZone};
use serde_json::Value;
use sojourn_k6::metrics::SystemTags;
use sojourn_k6::output::{CsvLines, JsonLines, TimeFormat};

use super::golden::{Run, folders, text};

#[test]
fn json_lines_are_k6s() {
    for folder in folders("compact").into_iter().chain(folders("full")) {
        let run = Run::read(&folder);
        let mut out = String::new();
        let mut lines = JsonLines::new(TimeZone::UTC);
        lines.push(&mut out, &run.samples, &run.registry, &run.thresholds);
        assert_lines(&out, &text(&folder, "samples.json"), &folder.display().to_string());
    }
}

#[test]
fn csv_lines_are_k6s() {
    for folder in folders("compact").into_iter().chain(folders("legacy")) {
        let run = Run::read(&folder);
        let keys = run.options["systemTags"].as_array();
        let tags = keys.map_or_else(SystemTags::default, |keys| {
            SystemTags::from_keys(keys.iter().map(|key| key.as_str().unwrap()))
        });
        let lines = CsvLines::new(tags, TimeFormat::Unix, TimeZone::UTC);
        let mut out = String::new();
        lines.push_heading(&mut out);
        lines.push(&mut out, &run.samples, &run.registry);
        let expected = text(&folder, "samples.csv");
        let whose = folder.display().to_string();
        if ["names", "thresholds"].iter().any(|name| folder.parent().unwrap().ends_with(name)) {
            // k6 writes several extra tags in an order that changes from line to line.
            assert_eq!(records(&out), records(&expected), "{whose}");
        } else {
            assert_lines(&out, &expected, &whose);
        }
    }
}

/// Five hours and a half east of the others.
#[test]
fn instants_are_written_in_local_time() {
    let zone = TimeZone::fixed(Offset::from_seconds(19_800).unwrap());
    for word in ["unix", "unix_milli", "unix_micro", "unix_nano", "rfc3339", "rfc3339_nano"] {
        let folders = folders(&format!("csv_{word}"));
        let folder = &folders[0];
        let run = Run::read(folder);
        let format = TimeFormat::from_word(word).unwrap();
        let lines = CsvLines::new(SystemTags::default(), format, zone.clone());
        let mut out = String::new();
        lines.push_heading(&mut out);
        lines.push(&mut out, &run.samples, &run.registry);
        assert_lines(&out, &text(folder, "samples.csv"), word);
        let mut lines = JsonLines::new(zone.clone());
        let mut out = String::new();
        lines.push(&mut out, &run.samples, &run.registry, &run.thresholds);
        assert_lines(&out, &text(folder, "samples.json"), word);
    }
}

/// Fields, with the pairs of the last two in order.
fn records(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let ordered = |(at, field): (usize, &str)| {
        let mut parts: Vec<&str> = field.split('&').collect();
        if at > 3 {
            parts.sort_unstable();
        }
        parts.join("&")
    };
    let records = reader.records();
    records.map(|record| record.unwrap().iter().enumerate().map(ordered).collect()).collect()
}

fn assert_lines(found: &str, expected: &str, whose: &str) {
    for (at, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        if found.starts_with("{\"type\":\"Metric\"") {
            // k6 lists submetrics in an order that changes from run to run.
            assert_eq!(metric(found), metric(expected), "{whose}, line {}", at + 1);
            continue;
        }
        assert_eq!(found, expected, "{whose}, line {}", at + 1);
    }
    assert_eq!(found.len(), expected.len(), "{whose}");
}

fn metric(line: &str) -> Value {
    let mut line: Value = serde_json::from_str(line).unwrap();
    if let Some(submetrics) = line["data"]["submetrics"].as_array_mut() {
        submetrics.sort_by_key(|submetric| submetric["name"].to_string());
    }
    line
}
