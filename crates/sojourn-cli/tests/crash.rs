//! Interrupted and killed runs: what was measured is still there.

use std::path::Path;
use std::time::Duration;

use sojourn_testkit::{
    MisbehavingServer, Misbehaviour, Output, Program, Running, TempDir, sojourn, temp_dir,
};

/// A run against a server, in a folder of its own, that would go on for a minute.
struct LongRun {
    running: Running,
    server: MisbehavingServer,
    folder: TempDir,
}

impl LongRun {
    fn start(behaviour: Misbehaviour) -> Self {
        let server = MisbehavingServer::in_sequence(&[behaviour]).unwrap();
        let folder = temp_dir().unwrap();
        let plan = format!(
            "name: long\ntarget: {}\njourneys:\n  get:\n    root: {{ http: {{ method: GET, url: /, \
             timeout: 20s }}, expect: {{ status: 200 }} }}\nload:\n  - {{ rate: 50/s, steady: 60s, \
             drain: 20s }}\nhealth: {{ lag_p99_max: 60s }}\n",
            server.url("")
        );
        std::fs::write(folder.path().join("plan.yaml"), plan).unwrap();
        let arguments = ["run", "plan.yaml", "--quiet", "--output", "run.sojourn"];
        let running = sojourn(arguments).in_dir(folder.path()).start().unwrap();
        Self { running, server, folder }
    }

    /// Waits until the run has sent so many requests.
    fn until(&self, requests: u64) {
        while self.server.server().requests() < requests {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn report(folder: &Path) -> Output {
    let arguments = ["report", "run.sojourn", "--format", "json"];
    sojourn(arguments).in_dir(folder).run().unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"))
}

#[test]
fn a_killed_run_is_readable_up_to_its_last_second() {
    let run = LongRun::start(Misbehaviour::Status(200));
    run.until(150);
    let pid = run.running.pid().to_string();
    Program::new("kill").args(["-9", &pid]).run().unwrap();
    assert_eq!(run.running.wait().unwrap().code, None);
    let read = report(run.folder.path());
    assert_eq!(read.code, Some(0), "{read}");
    let model = json(&read);
    assert!(model["verdict"]["cut_off"].is_string(), "{}", model["verdict"]);
    let started = model["ledger"]["journeys_total"]["whole_run"]["started"].as_u64().unwrap();
    // Three seconds at 50/s were sent; at least the first two whole ones are in the file.
    assert!((100..=151).contains(&started), "{started}");
    let text = sojourn(["report", "run.sojourn"]).in_dir(run.folder.path()).run().unwrap();
    assert!(text.stdout.to_lowercase().contains("cut off"), "{text}");
}

#[test]
fn the_first_interrupt_reports_everything() {
    let run = LongRun::start(Misbehaviour::Status(200));
    run.until(60);
    run.running.interrupt().unwrap();
    let output = run.running.wait().unwrap();
    assert_eq!(output.code, Some(105), "{output}");
    let model = json(&report(run.folder.path()));
    assert_eq!(model["verdict"]["interrupted"], true);
    assert_eq!(model["ledger"]["balanced"], true);
    let whole = &model["ledger"]["journeys_total"]["whole_run"];
    assert_eq!(whole["started"].as_u64().unwrap(), run.server.server().requests());
    assert_eq!(whole["started"], whole["completed"]);
    assert!(run.folder.path().join("run.html").exists());
}

#[test]
fn the_second_interrupt_ends_at_once_and_still_balances() {
    let run = LongRun::start(Misbehaviour::Silence);
    run.until(20);
    run.running.interrupt().unwrap();
    // The first is being obeyed when it is said; only then is a second one a second one.
    std::thread::sleep(Duration::from_millis(300));
    run.running.interrupt().unwrap();
    let begun_ns = sojourn_clock::now_ns();
    let output = run.running.wait().unwrap();
    let took_s = (sojourn_clock::now_ns() - begun_ns) as f64 / 1e9;
    assert_eq!(output.code, Some(105), "{output}");
    assert!(took_s < 12.0, "it drained for {took_s} s");
    let model = json(&report(run.folder.path()));
    assert_eq!(model["ledger"]["balanced"], true);
    let whole = &model["ledger"]["journeys_total"]["whole_run"];
    assert_eq!(whole["started"], whole["in_flight_at_cutoff"], "{whole}");
}
