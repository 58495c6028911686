//! Runs whose generators are processes of their own: the same load and the same figures as in one,
//! and nothing left behind.

#[cfg(feature = "script")]
mod heartbeats;
mod polled;
mod processes;
#[cfg(feature = "script")]
mod shared_files;
#[cfg(feature = "script")]
mod television;

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use sojourn_testkit::{
    Output, Program, Reply, Request, Responder, Running, Server, free_port, response, sojourn,
    temp_dir,
};

use crate::common::until;

/// Every path that was asked for, in order of arrival. `/token` is answered with a token.
#[derive(Clone, Default)]
pub(crate) struct Target(pub(crate) Arc<Mutex<Vec<String>>>);

impl Responder for Target {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let mut asked = self.0.lock().unwrap();
        asked.push(request.path.to_owned());
        let token = format!(r#"{{"token":"t{}"}}"#, asked.len());
        Reply::now(response(200, "application/json", token.as_bytes()))
    }
}

impl Target {
    pub(crate) fn sorted(&self) -> Vec<String> {
        let mut asked = std::mem::take(&mut *self.0.lock().unwrap());
        asked.sort_unstable();
        asked
    }
}

/// A plan with setup, renewed values, data rows and two kinds of load.
pub(crate) fn plan(base: &str, load: &str) -> String {
    format!(
        "name: several\ntarget: {base}\n\
         setup: [{{ name: log-in, http: GET /token, extract: {{ token: body.token }} }}]\n\
         data: {{ rows: {{ csv: rows.csv }} }}\n\
         journeys:\n  visit:\n    root: {{ http: 'GET /v/{{{{ token }}}}/{{{{ row.rows.id }}}}' }}\n\
         load:\n  - {{ journey: visit, {load} }}\nhealth: {{ lag_p99_max: 60s }}\n"
    )
}

pub(crate) fn folder(plan: &str) -> sojourn_testkit::TempDir {
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("plan.yaml"), plan).unwrap();
    let rows: String = (0..50).map(|row| format!("{row}\n")).collect();
    std::fs::write(folder.path().join("rows.csv"), format!("id\n{rows}")).unwrap();
    folder
}

fn run(folder: &Path, flags: &[&str]) -> (Output, Value) {
    let words = ["run", "plan.yaml", "--quiet", "--format", "json", "--report", "r.json"];
    let output = sojourn(words.iter().chain(flags)).in_dir(folder).run().unwrap();
    // A busy machine may make a run void; what was sent and counted is true all the same.
    assert!(matches!(output.code, Some(0 | 3)), "{output}");
    let report = serde_json::from_str(&output.stdout).unwrap();
    (output, report)
}

pub(crate) fn whole_run<'r>(report: &'r Value, class: &str) -> &'r Value {
    &report["ledger"]["journeys_total"]["whole_run"][class]
}

#[test]
fn they_send_what_one_would() {
    let target = Target::default();
    let server = Server::start(target.clone()).unwrap();
    let load = "arrivals: poisson, rate: 150/s, steady: 2s, drain: 5s";
    let folder = folder(&plan(&server.url(""), load));
    let (_, alone) = run(folder.path(), &["--threads", "2"]);
    let by_one = target.sorted();
    let (output, report) = run(folder.path(), &["--generators", "3", "--threads", "2"]);
    assert_eq!(target.sorted(), by_one, "{output}");
    for class in ["started", "completed", "missed", "in_flight_at_cutoff"] {
        assert_eq!(whole_run(&report, class), whole_run(&alone, class), "{class}");
    }
    assert_eq!(report["ledger"]["balanced"], true);
    let notes = report["notes"].to_string();
    assert!(notes.contains("3 processes of 2 threads"), "{notes}");
}

#[test]
fn events_of_their_journeys_meet_in_one_ledger() {
    let (hooks, listen) = (free_port().unwrap(), free_port().unwrap());
    let folder = temp_dir().unwrap();
    let mock = format!(
        "seed: 1\nroutes:\n  - route: POST /charges/{{id}}\n    status: 202\n    callbacks:\n      \
         - after: uniform(1ms, 50ms)\n        share: 90%\n        http: {{ url: \
         'http://127.0.0.1:{hooks}/hooks', json: {{ type: Settled, id: '{{{{ path.id }}}}' }} }}\n"
    );
    std::fs::write(folder.path().join("mock.yaml"), mock).unwrap();
    let plan = format!(
        "name: charges\ntarget: http://127.0.0.1:{listen}\nchannels:\n  hooks: {{ webhook: {{ \
         listen: 127.0.0.1:{hooks} }} }}\njourneys:\n  charge:\n    root: {{ http: 'POST \
         /charges/{{{{ key }}}}', expect: {{ status: 202 }}, key: '{{{{ uuid() }}}}' }}\n    \
         stages: [{{ name: settled, on: hooks, match: {{ type: Settled }}, key: $.id }}]\n    \
         within: 3s\nload:\n  - {{ journey: charge, rate: 100/s, steady: 3s, drain: 10s }}\n\
         health: {{ lag_p99_max: 60s, silent_max: 60s, tap_behind_max: 60s }}\n"
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).unwrap();
    let address = format!("127.0.0.1:{listen}");
    let words = ["mock", "mock.yaml", "--listen", &address];
    let mock = sojourn(words).in_dir(folder.path()).start().unwrap();
    until("the mock listens", || std::net::TcpStream::connect(&address).is_ok());
    let (output, report) = run(folder.path(), &["--generators", "2"]);
    mock.terminate().unwrap();
    mock.wait().unwrap();
    assert_eq!(report["ledger"]["balanced"], true, "{output}");
    assert_eq!(whole_run(&report, "started"), 300, "{output}");
    let [completed, lost] =
        ["completed", "lost"].map(|class| whole_run(&report, class).as_u64().unwrap());
    assert_eq!(completed + lost, 300, "{output}");
    // A tenth is never called back: within five deviations.
    assert!((4..=56).contains(&lost), "{lost}");
}

/// A run of two processes that would go on for a minute, once it has sent something.
fn long_run(target: &Target, server: &Server, folder: &Path) -> (Running, Vec<u32>) {
    let words = ["run", "plan.yaml", "--quiet", "--output", "run.sojourn", "--generators", "2"];
    let running = sojourn(words).in_dir(folder).start().unwrap();
    until("the load has begun", || target.0.lock().unwrap().len() > 30);
    assert!(server.connections() >= 2);
    let children = children(running.pid());
    assert_eq!(children.len(), 2);
    (running, children)
}

/// Processes that a process has started and that have not been waited for.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let text = std::fs::read_to_string(path).unwrap();
    text.split_ascii_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

/// Gone, or dead and not yet waited for.
pub(crate) fn is_gone(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    status.map_or(true, |status| status.contains(") Z "))
}

pub(crate) fn kill(pid: u32) {
    signal("-9", pid);
}

pub(crate) fn signal(signal: &str, pid: u32) {
    Program::new("kill").args([signal, &pid.to_string()]).run().unwrap();
}

#[test]
fn a_process_that_dies_makes_the_run_void() {
    let target = Target::default();
    let server = Server::start(target.clone()).unwrap();
    let folder = folder(&plan(&server.url(""), "rate: 50/s, steady: 60s, drain: 5s"));
    let (running, children) = long_run(&target, &server, folder.path());
    kill(children[1]);
    let output = running.wait().unwrap();
    assert_eq!(output.code, Some(3), "{output}");
    assert!(output.stdout.contains("generator 1: its process ended early"), "{output}");
    assert!(children.iter().all(|pid| is_gone(*pid)));
}

#[test]
fn an_interrupt_ends_them_and_their_figures_are_whole() {
    let target = Target::default();
    let server = Server::start(target.clone()).unwrap();
    let folder = folder(&plan(&server.url(""), "rate: 50/s, steady: 60s, drain: 5s"));
    let (running, children) = long_run(&target, &server, folder.path());
    running.interrupt().unwrap();
    let output = running.wait().unwrap();
    assert!(matches!(output.code, Some(3 | 105)), "{output}");
    assert!(children.iter().all(|pid| is_gone(*pid)));
    let words = ["report", "run.sojourn", "--format", "json"];
    let report = sojourn(words).in_dir(folder.path()).run().unwrap();
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    // All but the one of the setup.
    let asked = target.sorted().len() - 1;
    assert_eq!(whole_run(&report, "started"), asked);
    assert_eq!(whole_run(&report, "completed"), asked);
}

#[test]
fn they_end_with_their_coordinator() {
    let target = Target::default();
    let server = Server::start(target.clone()).unwrap();
    let folder = folder(&plan(&server.url(""), "rate: 50/s, steady: 60s, drain: 5s"));
    let (running, children) = long_run(&target, &server, folder.path());
    kill(running.pid());
    running.wait().unwrap();
    until("its processes are gone", || children.iter().all(|pid| is_gone(*pid)));
}

#[test]
fn a_process_without_a_coordinator_says_who_starts_it() {
    let alone = sojourn(["generator"]).input(*b"hello").run().unwrap();
    assert_eq!(alone.code, Some(2), "{alone}");
    assert!(alone.stderr.contains("--generators"), "{alone}");
}

/// Clients of the television script, spread over three processes: the target sees as many tokens
/// and pings as the report says, each client pings with its own token alone, and as often as its
/// own draw says.
#[cfg(feature = "script")]
#[test]
fn clients_of_sessions_are_spread() {
    let script = r#"
definition.setTarget("BASE");
definition.setArrivalPhases([{ duration: 3, rate: 200 }]);
definition.session("television", function (session) {
  session.post("/token", { tag: "token", extraction: { jsonpath: { token: "$.token" } } });
  session.assert("token", session.getVar("token"), "!=", "");
  session.setVar("pings", session.ds.generate("random_number", { range: [3, 6] }));
  session.times(session.getVar("pings"), function (context) {
    context.get("/ping/:token/:pings", {
      tag: "ping", params: { token: session.getVar("token"), pings: session.getVar("pings") } });
    context.waitExp(0.2);
  });
});
"#;
    let target = Target::default();
    let server = Server::start(target.clone()).unwrap();
    let folder = temp_dir().unwrap();
    let script = script.replace("BASE", &server.url(""));
    std::fs::write(folder.path().join("plan.yaml.js"), script).unwrap();
    let words = ["run", "plan.yaml.js", "--quiet", "--format", "json", "--report", "r.json"];
    let mut seen = Vec::new();
    for flags in [["--generators", "3"], ["--threads", "1"]] {
        let output = sojourn(words.iter().chain(&flags)).in_dir(folder.path()).run().unwrap();
        assert!(matches!(output.code, Some(0 | 3)), "{output}");
        let report: Value = serde_json::from_str(&output.stdout).unwrap();
        let asked = target.sorted();
        let clients = asked.iter().filter(|path| *path == "/token").count();
        assert_eq!(whole_run(&report, "started"), clients, "{output}");
        assert_eq!(whole_run(&report, "completed"), clients, "{output}");
        let mut pings = std::collections::BTreeMap::<&str, usize>::new();
        for path in asked.iter().filter(|path| path.starts_with("/ping/")) {
            *pings.entry(path).or_default() += 1;
        }
        assert_eq!(pings.len(), clients, "a token each");
        for (path, count) in &pings {
            assert!(path.ends_with(&format!("/{count}")), "{path} was seen {count} times");
        }
        seen.push((clients, pings.values().sum::<usize>()));
    }
    assert_eq!(seen[0], seen[1], "whoever makes the load, it is the same");
}
