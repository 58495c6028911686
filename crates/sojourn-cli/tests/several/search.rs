//! `sojourn search` of systems whose capacity is known.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use sojourn_testkit::{Output, temp_dir};

use super::{is_full, json, plan, run, start};
use crate::{common::alone, mock::Mocked};

/// A search on a mock's queue; with a report of each kind.
fn search(queue: &str, arrivals: &str, more: &str, arguments: &[&str]) -> Output {
    let mock = Mocked::start(&[], &["--queue", queue]);
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("plan.yaml"), plan(&mock.address, arrivals, more)).unwrap();
    let usual = ["search", "plan.yaml", "--format", "json", "--report", "page.html"];
    let output = run(folder.path(), &[&usual[..], arguments].concat());
    if output.code == Some(0) {
        let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
        assert!(page.contains("Throughput by rate"), "{page}");
    }
    output
}

fn is_within(output: &Output, capacity_per_s: f64, share: f64) {
    assert_eq!(output.code, Some(0), "{output}");
    let found = json(output)["capacity_per_s"].as_f64().unwrap();
    let off = found / capacity_per_s - 1.0;
    let told = format!("found {found:.1}/s of {capacity_per_s}/s, {:+.2} % off", off * 100.0);
    assert!(off.abs() <= share, "{told}: {output}");
}

#[test]
fn a_queue_of_four_servers_has_the_capacity_of_four_servers() {
    let _turn = alone();
    // D/D/4 of 10 ms: 400/s.
    let arguments = ["--from", "150/s", "--step", "5s", "--per-core", "0.5"];
    let output = search("mdc:servers=4,rate=100", "constant", "", &arguments);
    is_within(&output, 400.0, 0.05);
    let report = json(&output);
    assert_eq!(report["end"]["limit"]["by"], "growth", "{output}");
    assert_eq!(report["end"]["confirmed"], true, "{output}");
    let found = report["capacity_per_s"].as_f64().unwrap();
    assert!((report["per_unit"][0]["per_s"].as_f64().unwrap() - 2.0 * found).abs() < 1e-6);
    assert!(output.stderr.contains("confirm") || output.stderr.contains("held"), "{output}");
}

#[test]
fn random_arrivals_and_services_are_found_out_too() {
    if !is_full() {
        return;
    }
    let _turn = alone();
    let output = search("mmc:servers=4,rate=500", "poisson", "", &["--from", "400/s"]);
    is_within(&output, 2_000.0, 0.05);
    let output = search("mm1:rate=1000", "poisson", "", &["--from", "200/s"]);
    is_within(&output, 1_000.0, 0.05);
}

#[test]
fn a_threshold_may_be_the_limit() {
    let _turn = alone();
    // Two servers of 10 ms, and nobody may wait: beyond 200/s somebody always does.
    let more = "thresholds: [ 'journey.get.p50 < 5ms', 'completed > 1000000', 'lag.p99 < 2s' ]\n";
    let output =
        search("mdc:servers=2,rate=100", "constant", more, &["--from", "80/s", "--step", "5s"]);
    assert_eq!(output.code, Some(99), "{output}");
    let report = json(&output);
    assert_eq!(report["end"]["end"], "never_held");
    assert_eq!(report["end"]["limit"]["text"], "journey.get.p50 < 5ms");
    assert_eq!(report["end"]["failed_per_s"], 5.0);
    let left_out = report["left_out"].as_array().unwrap();
    assert_eq!(left_out.len(), 1, "{output}");
    assert_eq!(left_out[0][0], "completed > 1000000");
    assert_eq!(report["capacity_per_s"], Value::Null);
}

#[test]
fn the_ceiling_is_kept_and_run_files_where_they_are_asked_for() {
    let _turn = alone();
    let mock = Mocked::start(&[], &["--queue", "mdc:servers=4,rate=100"]);
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("plan.yaml"), plan(&mock.address, "poisson", "")).unwrap();
    let arguments = ["search", "plan.yaml", "--to", "60/s", "--from", "60/s", "--step", "5s"];
    let output = run(folder.path(), &[&arguments[..], &["--runs", "kept"]].concat());
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.contains("at least 60/s: nothing higher was to be tried"), "{output}");
    let kept = std::fs::read_dir(folder.path().join("kept")).unwrap().count();
    assert_eq!(kept, 2, "one step and its confirmation: {output}");
    let pages = std::fs::read_dir(folder.path().join("reports")).unwrap().count();
    assert_eq!(pages, 1, "{output}");
}

#[test]
fn an_interrupted_search_tells_what_is_known() {
    let _turn = alone();
    let mock = Mocked::start(&[], &["--queue", "mdc:servers=4,rate=100"]);
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("plan.yaml"), plan(&mock.address, "constant", "")).unwrap();
    let arguments = ["search", "plan.yaml", "--step", "5s", "--runs", "kept", "--quiet"];
    let running = start(folder.path(), &[&arguments[..], &["--from", "20/s"]].concat());
    // The second step has begun when its run file is there.
    let has_begun = || {
        let files = std::fs::read_dir(folder.path().join("kept"));
        files.is_ok_and(|files| files.count() >= 2)
    };
    for _ in 0..6_000 {
        if has_begun() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(has_begun());
    running.interrupt().unwrap();
    let output = running.wait().unwrap();
    assert_eq!(output.code, Some(105), "{output}");
    for words in ["(interrupted)", "at least 20/s (held once): the search was stopped"] {
        assert!(output.stdout.contains(words), "{words}: {output}");
    }
}

#[test]
fn what_cannot_be_searched_is_wrong_usage() {
    let folder = temp_dir().unwrap();
    let address = "127.0.0.1:9".parse().unwrap();
    let open = plan(&address, "constant", "");
    let users = open.replace("arrivals: constant, rate: \"${RATE:-400/s}\"", "users: 5");
    std::fs::write(folder.path().join("open.yaml"), &open).unwrap();
    std::fs::write(folder.path().join("users.yaml"), users).unwrap();
    for (arguments, said) in [
        (&["users.yaml"][..], "users, who keep their own pace"),
        (&["open.yaml", "--from", "50"], "write 50/s"),
        (&["open.yaml", "--from", "0/s"], "above zero"),
        (&["open.yaml", "--from", "50/s", "--to", "20/s"], "--to 20/s is below"),
        (&["open.yaml", "--step", "1s"], "shorter than five seconds"),
        (&["open.yaml", "--precision", "40%"], "0.5% to 25%"),
        (&["open.yaml", "--per-core", "0"], "above zero"),
        (&["open.yaml", "--per", "pods"], "UNIT=N"),
        (&["open.yaml", "--report", "page.pdf"], "page.pdf"),
        (&["no-such.yaml"], "no-such.yaml"),
        // Nobody listens there.
        (&["open.yaml"], "127.0.0.1:9"),
    ] {
        let output = run(folder.path(), &[&["search"], arguments].concat());
        assert_eq!(output.code, Some(2), "{arguments:?}: {output}");
        assert!(output.stderr.contains(said), "{said}: {output}");
        assert_eq!(output.stdout, "", "{output}");
    }
}

/// The demo as a process; killed when dropped.
struct Demo {
    child: Child,
    target: String,
    kafka: String,
}

impl Demo {
    fn start(arguments: &[&str]) -> Self {
        let path = env!("CARGO_BIN_EXE_sojourn");
        let mut command = Command::new(path);
        command.args(["demo", "--serve"]).args(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut next = |name: &str| {
            let line = lines.next().unwrap().unwrap();
            line.strip_prefix(name).unwrap_or_else(|| panic!("{line}")).to_owned()
        };
        let (target, kafka) = (next("TARGET="), next("KAFKA="));
        Self { child, target, kafka }
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

#[test]
fn the_demos_bottleneck_is_found_and_named() {
    if !is_full() {
        return;
    }
    let _turn = alone();
    let demo = Demo::start(&["--servers", "settled=4", "--service", "settled=20ms"]);
    let folder = temp_dir().unwrap();
    let example = include_str!("../../../../examples/payments.yaml");
    // Payments only, so that every arrival comes to the bottleneck; evenly, so that minutes do.
    let load =
        example.replace("- { arrivals: poisson,", "- { journey: payment, arrivals: constant,");
    let patient = "health: { lag_p99_max: 1s, tap_behind_max: 5s, silent_max: 5s }\n";
    let text = format!("{}{patient}", load.replace("lag.p99 < 5ms", "lag.p99 < 500ms"));
    std::fs::write(folder.path().join("payments.yaml"), text).unwrap();
    let (target, kafka) = (format!("TARGET={}", demo.target), format!("KAFKA={}", demo.kafka));
    let arguments = ["search", "payments.yaml", "-e", &target, "-e", &kafka, "--format", "json"];
    let steps = ["--from", "40/s", "--step", "10s"];
    let output = run(folder.path(), &[&arguments[..], &steps].concat());
    is_within(&output, 200.0, 0.05);
    let report = json(&output);
    assert_eq!(report["end"]["limit"]["stage"], "settled", "{output}");
}
