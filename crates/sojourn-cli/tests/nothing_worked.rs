//! Runs that measured nothing but failures: they pass where no thresholds are set, and say it.

use serde_json::Value;
use sojourn_testkit::{
    Output, Reply, Request, Responder, Server, free_port, response, sojourn, temp_dir,
};

/// Answers one of so many requests with 200, the others with 500.
struct Failing {
    good_each: u64,
    asked: u64,
}

impl Responder for Failing {
    fn respond(&mut self, _: &Request<'_>) -> Reply {
        self.asked += 1;
        let is_good = self.good_each > 0 && self.asked.is_multiple_of(self.good_each);
        Reply::now(response(if is_good { 200 } else { 500 }, "text/plain", b"x"))
    }
}

/// The text, the report as JSON, and the page.
fn run(good_each: u64) -> (Output, Value, String) {
    let server = Server::start(Failing { good_each, asked: 0 }).unwrap();
    let folder = temp_dir().unwrap();
    let plan = format!(
        "name: failing\ntarget: {}\njourneys: {{ visit: {{ root: {{ http: GET /, expect: {{ status: \
         200 }} }} }} }}\nload: {{ rate: 50/s, steady: 2s, drain: 5s }}\nhealth: {{ lag_p99_max: 60s }}\n",
        server.url("")
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).unwrap();
    let words = ["run", "plan.yaml", "--quiet", "--output", "r.sojourn", "--report", "r.html"];
    let output = sojourn(words).in_dir(folder.path()).run().unwrap();
    let words = ["report", "r.sojourn", "--format", "json"];
    let json = sojourn(words).in_dir(folder.path()).run().unwrap();
    let report = serde_json::from_str(&json.stdout).unwrap();
    let page = std::fs::read_to_string(folder.path().join("r.html")).unwrap();
    (output, report, page)
}

#[test]
fn a_run_whose_every_request_failed_says_so_under_its_verdict() {
    let (output, report, page) = run(0);
    // Nothing was asked of it: its exit code is what it was.
    assert!(matches!(output.code, Some(0 | 3)), "{output}");
    let warning = "every request failed: 100 of 100 (100 × 500)";
    assert_eq!(report["verdict"]["warning"], warning, "{output}");
    let lines: Vec<&str> = output.stdout.lines().collect();
    let at = lines.iter().position(|line| line.starts_with("failing  ")).unwrap();
    assert_eq!(lines[at + 1], format!("! {warning}"), "{output}");
    let alert = page.find("role=\"alert\"").unwrap();
    assert!(page[alert..].contains(warning));
}

#[test]
fn one_that_worked_now_and_then_has_no_such_line() {
    let (output, report, page) = run(10);
    assert_eq!(report["verdict"]["warning"], Value::Null, "{output}");
    assert!(!output.stdout.contains("every request failed"), "{output}");
    assert!(!page.contains("every request failed: "));
}

/// One journey with `--once`: whether its event ever comes, or its request is answered well, decides.
#[test]
fn one_journey_that_does_not_arrive_exits_as_a_failed_run() {
    let folder = temp_dir().unwrap();
    let app = format!("127.0.0.1:{}", free_port().unwrap());
    let stages = "stages: [{ name: done, on: app, key: $.id }], within: 300ms, linger: 100ms";
    for (good_each, stages, code, said) in [
        (1, "", 0, "root_failed == 0"),
        (0, "", 99, "root_failed == 0"),
        (1, stages, 99, "lost == 0"),
    ] {
        let server = Server::start(Failing { good_each, asked: 0 }).unwrap();
        let plan = format!(
            "name: once\ntarget: {}\nchannels: {{ app: {{ webhook: {{ listen: \"{app}\", path: /a \
             }} }} }}\njourneys: {{ order: {{ root: {{ http: GET /, key: \"{{{{ uuid() }}}}\", expect: \
             {{ status: 200 }} }}, {stages} }} }}\nload: {{ rate: 50/s, steady: 2s, drain: 5s }}\n\
             thresholds: [\"lost < 10\"]\nhealth: {{ lag_p99_max: 60s }}\n",
            server.url("")
        );
        std::fs::write(folder.path().join("plan.yaml"), plan).unwrap();
        let words = ["run", "plan.yaml", "--once", "--quiet"];
        let output = sojourn(words).in_dir(folder.path()).run().unwrap();
        assert_eq!(output.code, Some(code), "{output}");
        assert!(output.stdout.contains(said), "{output}");
    }
}
