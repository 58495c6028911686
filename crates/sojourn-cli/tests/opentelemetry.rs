//! A real run's figures and journeys in OpenTelemetry's own messages, over gRPC and over HTTP: what
//! came is what the run file has.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Command,
};

use serde_json::Value;
use sojourn_metrics::{Figure, SeriesPhase, Store};
use sojourn_outputs::exported;
use sojourn_record::{JourneyRecord, RunFile};
use sojourn_testkit::services::OpenTelemetry;

use crate::common::alone;

/// A stream: its metric and its attributes.
type Stream = (String, BTreeMap<String, String>);

fn list(server: &OpenTelemetry, what: &str) -> Vec<Value> {
    serde_json::from_str(&server.list(what).unwrap()).unwrap()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

/// The latest of each stream that counted anything: the value of a sum; the number of a histogram's
/// samples and their sum.
fn arrived(server: &OpenTelemetry) -> BTreeMap<Stream, (u64, f64)> {
    let mut all = BTreeMap::new();
    for point in list(server, "points") {
        let attributes = point["attributes"].as_object().unwrap().iter();
        let attributes = attributes.map(|(name, value)| (name.clone(), text(value))).collect();
        let figure = match point["kind"].as_str() {
            Some("sum") => (point["value"].as_u64().unwrap(), 0.0),
            Some("histogram") => (point["count"].as_u64().unwrap(), point["sum"].as_f64().unwrap()),
            _ => continue,
        };
        all.insert((text(&point["name"]), attributes), figure);
    }
    all.retain(|_, (count, _)| *count > 0);
    all
}

/// The same of the run file.
fn recorded(store: &Store) -> BTreeMap<Stream, (u64, f64)> {
    let mut all = BTreeMap::new();
    for (key, figure) in store.figures() {
        let exported = exported(figure.kind(), &key.metric);
        let value = match figure {
            Figure::Counter(count) => (*count, 0.0),
            Figure::Trend(trend) => (trend.count(), trend.totals().sum as f64 / exported.per_unit),
            _ => continue,
        };
        let phase = match key.phase {
            SeriesPhase::WarmUp => "warm_up",
            SeriesPhase::Steady => "steady",
            SeriesPhase::Any => "any",
        };
        let tags = key.tags.iter().filter(|(_, value)| !value.is_empty());
        let mut attributes: BTreeMap<_, _> =
            tags.map(|(tag, value)| (tag.to_string(), value.to_string())).collect();
        attributes.insert("phase".to_owned(), phase.to_owned());
        all.insert((exported.dotted, attributes), value);
    }
    all.retain(|_, (count, _)| *count > 0);
    all
}

fn check_figures(server: &OpenTelemetry, run: &RunFile) {
    let (arrived, recorded) = (arrived(server), recorded(&run.store));
    let streams = |all: &BTreeMap<Stream, _>| all.keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(streams(&arrived), streams(&recorded));
    assert!(recorded.len() > 20, "{}", recorded.len());
    for (stream, (count, sum)) in &recorded {
        let (found, found_sum) = arrived[stream];
        assert_eq!(found, *count, "{stream:?}");
        assert!((found_sum - sum).abs() <= 1e-9 * sum.abs(), "{stream:?}: {found_sum}, not {sum}");
    }
}

/// Each stage that was seen, and whose predecessor was, with how long after it, nanoseconds.
fn hops(run: &RunFile, journey: &JourneyRecord) -> BTreeMap<String, u64> {
    let mut shapes = run.identity.journeys.iter();
    let shape = shapes.find(|shape| shape.name == journey.journey).unwrap();
    let hop = |stage: &sojourn_record::StageInstant| {
        let declared = shape.stages.iter().find(|it| it.name == stage.name).unwrap();
        let stage_before = journey.stages.iter().find(|it| it.name == declared.after);
        let before_ns = match stage_before {
            Some(before) => before.seen_ns?,
            // The demo's journeys have one step.
            None => journey.steps.first().map_or(journey.t1_ns, |step| step.began_ns),
        };
        let seen_ns = stage.seen_ns?;
        Some((format!("hop to {}", stage.name), seen_ns.saturating_sub(before_ns)))
    };
    journey.stages.iter().filter_map(hop).collect()
}

fn check_journeys(server: &OpenTelemetry, run: &RunFile) {
    let mut traces: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for span in list(server, "spans") {
        traces.entry(text(&span["trace"])).or_default().push(span);
    }
    assert_eq!(traces.len(), run.journeys.len());
    let mut all_hops = 0;
    for spans in traces.values() {
        let (parents, children): (Vec<_>, Vec<_>) =
            spans.iter().partition(|span| span["parent"] == "");
        assert_eq!(parents.len(), 1, "{spans:?}");
        let parent = parents[0];
        let id = parent["attributes"]["journey.id"].as_u64().unwrap();
        let journey = run.journeys.iter().find(|journey| journey.id == id).unwrap();
        assert_eq!(parent["name"], *journey.journey);
        assert_eq!(parent["attributes"]["class"], *journey.class);
        let lasts_ns = |span: &Value| {
            span["end_unix_ns"].as_u64().unwrap() - span["start_unix_ns"].as_u64().unwrap()
        };
        assert_eq!(lasts_ns(parent), journey.end_ns - journey.t0_ns);
        if let Some(trace) = &journey.trace_id {
            assert_eq!(parent["trace"], **trace);
        }
        for child in &children {
            assert_eq!(child["parent"], parent["span"], "{child}");
        }
        let of_hops = children.iter().filter(|span| text(&span["name"]).starts_with("hop "));
        let of_hops: BTreeMap<_, _> =
            of_hops.map(|span| (text(&span["name"]), lasts_ns(span))).collect();
        assert_eq!(of_hops, hops(run, journey), "journey {id}");
        all_hops += of_hops.len();
        let steps: BTreeSet<_> =
            journey.steps.iter().map(|step| format!("step {}", step.name)).collect();
        let of_steps = children.iter().map(|span| text(&span["name"]));
        let of_steps: BTreeSet<_> = of_steps.filter(|name| name.starts_with("step ")).collect();
        assert_eq!(of_steps, steps, "journey {id}");
        assert_eq!(children.len(), of_hops.len() + of_steps.len(), "journey {id}");
    }
    assert!(all_hops > run.journeys.len(), "{all_hops} hops");
}

fn demo(run_file: &Path, outs: &[String]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_sojourn"))
        .args(["demo", "--rate", "40/s", "--warmup", "1s", "--steady", "6s", "--within", "3s"])
        .args(["--drop", "2", "--redeliver", "2", "--quiet", "--output"])
        .arg(run_file)
        .args(outs.iter().map(|out| format!("--out={out}")))
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn both_ways_tell_what_the_run_file_has() {
    let _turn = alone();
    let (over_http, over_grpc) = (OpenTelemetry::start().unwrap(), OpenTelemetry::start().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let run_file = folder.path().join("run.sojourn");
    let outs =
        [format!("otlp={}", over_http.http_url()), format!("otlp-grpc={}", over_grpc.grpc_url())];
    let said = demo(&run_file, &outs);
    let run = RunFile::open(&run_file).unwrap();
    assert!(run.journeys.len() > 20, "{said}");
    for (server, over) in [(&over_http, "http"), (&over_grpc, "grpc")] {
        assert_eq!(server.list("refused").unwrap(), "[]", "{said}");
        assert!(list(server, "requests").iter().all(|request| request["over"] == over));
        check_figures(server, &run);
        check_journeys(server, &run);
    }
    let accounts = said.lines().filter(|line| line.starts_with("output "));
    assert_eq!(accounts.count(), 2, "{said}");
    assert!(!said.contains("dropped") && !said.contains("failure"), "{said}");
}
