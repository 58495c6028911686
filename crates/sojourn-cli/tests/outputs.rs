//! Outputs of a real run: what arrives is what the run file has, and every expression of the
//! dashboard finds data.

use std::{collections::BTreeSet, net::TcpListener, path::Path, process::Command, thread};

use serde_json::Value;
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_metrics::{Figure, SeriesKey, SeriesPhase, Store, names};
use sojourn_outputs::{FLUSH_NS, exported};
use sojourn_record::RunFile;
use sojourn_testkit::{services::Prometheus, sojourn, temp_dir};

use crate::{common::alone, mock::Mocked};

/// The series of an expression now, with their values.
fn query(server: &Prometheus, expression: &str) -> Vec<(Value, f64)> {
    let text = server.query(expression).unwrap();
    let answer: Value = serde_json::from_str(&text).unwrap();
    let result = answer["data"]["result"].as_array();
    let result = result.unwrap_or_else(|| panic!("{expression} yields {text}"));
    let value = |series: &Value| series["value"][1].as_str().unwrap().parse().unwrap();
    result.iter().map(|series| (series["metric"].clone(), value(series))).collect()
}

/// A series' name and labels as Prometheus has them, without `run` and `plan`.
fn labels(key: &SeriesKey, name: String) -> Value {
    let phase = match key.phase {
        SeriesPhase::WarmUp => "warm_up",
        SeriesPhase::Steady => "steady",
        SeriesPhase::Any => "any",
    };
    let mut labels = serde_json::json!({ "__name__": name, "phase": phase });
    for (tag, value) in key.tags.iter().filter(|(_, value)| !value.is_empty()) {
        labels[tag] = value.clone().into();
    }
    labels
}

/// The counts that Prometheus must have: of counters, and of distributions' samples.
fn counts(store: &Store) -> Vec<(Value, f64)> {
    let count = |(key, figure): (&SeriesKey, &Figure)| {
        let name = exported(figure.kind(), &key.metric).name;
        match figure {
            Figure::Counter(count) => Some((labels(key, name), *count as f64)),
            Figure::Trend(trend) => {
                Some((labels(key, format!("{name}_count")), trend.count() as f64))
            }
            _ => None,
        }
    };
    store.figures().filter_map(count).collect()
}

/// A line each, without those that counted nothing: the run file leaves these out.
fn sorted(mut series: Vec<(Value, f64)>) -> Vec<String> {
    series.retain(|(_, value)| *value > 0.0);
    for (labels, _) in &mut series {
        let labels = labels.as_object_mut().unwrap();
        labels.shift_remove("run");
        labels.shift_remove("plan");
        labels.sort_keys();
    }
    let mut lines: Vec<_> =
        series.iter().map(|(labels, value)| format!("{labels} {value}")).collect();
    lines.sort();
    lines
}

/// Every expression of the dashboard, over a short while.
fn expressions() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dashboards/sojourn.json");
    let text = std::fs::read_to_string(path).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let expressions = targets.map(|target| {
        let expression = target["expr"].as_str().unwrap().replace("$__rate_interval", "2m");
        let expression = expression.replace("$__range", "5m").replace("$run", ".*");
        assert!(!expression.contains('$'), "{expression}");
        expression
    });
    expressions.collect()
}

#[test]
fn prometheus_has_what_the_run_file_has_and_the_dashboard_finds_it() {
    let _turn = alone();
    let server = Prometheus::start("").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (run_file, lines) = (folder.path().join("run.sojourn"), folder.path().join("out.ndjson"));
    let output = Command::new(env!("CARGO_BIN_EXE_sojourn"))
        .args(["demo", "--rate", "40/s", "--warmup", "1s", "--steady", "6s", "--within", "3s"])
        .args(["--drop", "2", "--redeliver", "2", "--quiet", "--output"])
        .arg(&run_file)
        .arg(format!("--out=prometheus-rw={}/api/v1/write", server.url()))
        .arg(format!("--out=ndjson={}", lines.display()))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let accounts = said.lines().filter(|line| line.starts_with("output "));
    assert_eq!(accounts.count(), 2, "{said}");
    assert!(!said.contains("dropped"), "{said}");

    let run = RunFile::open(&run_file).unwrap();
    let got = "last_over_time({__name__=~\"sojourn_.+(_total|_count)\"}[10m])";
    let (got, expected) = (sorted(query(&server, got)), sorted(counts(&run.store)));
    assert!(expected.len() > 20, "{expected:?}");
    for (got, expected) in got.iter().zip(&expected) {
        assert_eq!(got, expected);
    }
    assert_eq!(got.len(), expected.len());

    for expression in expressions() {
        let series = query(&server, &expression);
        assert!(!series.is_empty(), "no data: {expression}");
        assert!(series.iter().any(|(_, value)| value.is_finite()), "no number: {expression}");
    }

    let text = std::fs::read_to_string(&lines).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // One that is kept for several things may come as often, and is the same journey.
    let told = lines.iter().filter_map(|line| line.get("journey")?["id"].as_u64());
    let kept = run.journeys.iter().map(|journey| journey.id);
    assert_eq!(told.collect::<BTreeSet<_>>(), kept.collect::<BTreeSet<_>>());
}

/// A port whose connections are taken and never answered.
fn silent() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let mut held = Vec::new();
        held.extend(listener.incoming().flatten());
    });
    port
}

#[test]
fn outputs_that_never_answer_change_nothing_of_a_run_but_its_last_lines() {
    const RATE: u64 = 100;
    const SECONDS: u64 = 6;
    let mock = Mocked::start(&[], &["--latency", "1ms"]);
    let (folder, port) = (temp_dir().unwrap(), silent());
    let (target, rate) = (format!("http://{}/", mock.address), RATE.to_string());
    let seconds = format!("{SECONDS}s");
    let attack = ["attack", &target, "-rate", &rate, "-duration", &seconds];
    let usual = ["-output", "run.sojourn", "--live", "off"];
    let kinds = ["otlp", "otlp-grpc", "prometheus-rw", "influxdb"];
    let outs = kinds.map(|kind| format!("--out={kind}=http://127.0.0.1:{port}/loadtests"));
    let words = attack.into_iter().chain(usual).chain(outs.iter().map(String::as_str));
    let began_ns = now_ns();
    let output = sojourn(words).in_dir(folder.path()).run().unwrap();
    let took_ns = now_ns() - began_ns;
    assert_eq!(output.code, Some(0), "{output}");
    // Were one waited for, each second of the run would take ten.
    let most_ns = (SECONDS + 20) * SECOND_NS + FLUSH_NS;
    assert!(took_ns < most_ns, "{took_ns} ns: {output}");

    let run = RunFile::open(&folder.path().join("run.sojourn")).unwrap();
    let hits = run.store.sum(names::STEP_REQUESTS, &[], SeriesPhase::Steady);
    assert_eq!(hits, RATE * SECONDS, "{output}");
    assert_eq!(mock.metric("requests_total"), RATE * SECONDS);
    let lines = output.stderr.lines().filter(|line| line.starts_with("output "));
    let lines: Vec<_> = lines.collect();
    assert_eq!(lines.len(), kinds.len(), "{output}");
    for (line, kind) in lines.iter().zip(kinds) {
        let begin = format!("output    {kind}=http://127.0.0.1:{port}/loadtests: sent 0 seconds");
        assert!(line.starts_with(&begin), "{line}");
        let dropped = line.split_once("; dropped ").map(|(_, dropped)| dropped);
        let count = dropped.and_then(|dropped| dropped.split_once(" seconds, "));
        let count = count.and_then(|(count, _)| count.parse::<u64>().ok());
        assert!(count >= Some(SECONDS), "{line}");
    }
}

#[test]
fn an_output_that_cannot_begin_stops_a_run_before_its_load() {
    for (out, said) in [
        ("ndjson=/no/such/folder/out", "cannot write it"),
        ("prometheus-rw=me:s3cret@host", "must begin with http"),
        ("elsewhere=x", "is no output"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_sojourn"))
            .args(["attack", "http://127.0.0.1:9/", "-rate", "1", "-duration", "1s", "--out", out])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains(said), "{text}");
        assert!(!text.contains("s3cret"), "{text}");
    }
}
