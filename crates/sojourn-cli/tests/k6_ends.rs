//! How scripts end: nothing begins after the end, no sample is lost, and what can't be told does not
//! hide what the test came to.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sojourn_testkit::{
    Output, Program, Reply, Request, Responder, Server, TempDir, response, sojourn, temp_dir,
};

fn folder_with(script: &str) -> TempDir {
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("test.js"), script).unwrap();
    folder
}

fn run(folder: &Path, words: &[&str]) -> Output {
    let all = ["k6", "run", "--quiet", "test.js"].iter().chain(words);
    sojourn(all).in_dir(folder).timeout(Duration::from_secs(120)).run().unwrap()
}

/// Paths as they were asked for.
#[derive(Clone, Default)]
struct Book(Arc<Mutex<Vec<String>>>);

impl Responder for Book {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        self.0.lock().unwrap().push(request.path.to_owned());
        Reply::now(response(200, "text/plain", b"ok"))
    }
}

/// Users are nearly always between two iterations when the end comes, the next one given to them.
/// One that began all the same would outlive its second's sleep.
const BUSY: &str = r#"
import http from 'k6/http';
import { sleep } from 'k6';
export const options = { scenarios: { s: {
  executor: 'constant-vus', vus: 50, duration: '1s', gracefulStop: '0s' } } };
let began;
export default function () {
  began = began || Date.now();
  if (Date.now() - began >= 1000) {
    sleep(2);
    http.get('BASE/late');
  }
  for (let i = 0; i < 10000; i++) {}
}
"#;

#[test]
fn no_iteration_outlives_an_end_that_came_before_its_beginning() {
    let book = Book::default();
    let server = Server::start(book.clone()).unwrap();
    let folder = folder_with(&BUSY.replace("BASE", &server.url("")));
    let output = run(folder.path(), &["--threads", "1"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(book.0.lock().unwrap().is_empty(), "{output}");
}

const MANY: &str = r#"
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';
const counted = new Counter('counted');
export const options = { scenarios: { s: {
  executor: 'per-vu-iterations', vus: 400, iterations: 1, maxDuration: '60s' } } };
export default function () {
  sleep(1);
  for (let i = 0; i < 100; i++) counted.add(1);
}
"#;

#[test]
fn samples_of_users_that_wake_at_once_are_all_handed_over() {
    let folder = folder_with(MANY);
    let output = run(folder.path(), &["--threads", "1", "--out", "json=samples.json"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(!output.stderr.contains("incomplete"), "{output}");
    let text = std::fs::read_to_string(folder.path().join("samples.json")).unwrap();
    let is_sample =
        |line: &&str| line.contains(r#""metric":"counted""#) && line.contains(r#""type":"Point""#);
    assert_eq!(text.lines().filter(is_sample).count(), 40_000);
}

const FAILING: &str = r#"
export const options = { iterations: 2, thresholds: { iterations: ['count<1'] } };
export default function () {}
"#;

#[test]
fn what_can_not_be_written_does_not_hide_what_the_test_came_to() {
    let folder = folder_with(FAILING);
    let output = run(folder.path(), &["--summary-export", "nowhere/summary.json"]);
    assert_eq!(output.code, Some(99), "{output}");
    assert!(output.stderr.contains("nowhere/summary.json"), "{output}");
    assert!(output.stderr.contains("thresholds on metrics 'iterations'"), "{output}");
    let binary = env!("CARGO_BIN_EXE_sojourn");
    let line = format!("'{binary}' k6 run --quiet test.js > /dev/full");
    let output = Program::new("bash").args(["-c", &line]).in_dir(folder.path()).run().unwrap();
    assert_eq!(output.code, Some(99), "{output}");
    assert!(output.stderr.contains("the summary can't be written"), "{output}");
}

#[test]
fn the_csv_output_has_keys_and_values_too() {
    let folder = folder_with(FAILING);
    let out = "csv=fileName=a.csv,timeFormat=rfc3339,saveInterval=5s";
    let output = run(folder.path(), &["--out", out, "--no-thresholds"]);
    assert_eq!(output.code, Some(0), "{output}");
    let text = std::fs::read_to_string(folder.path().join("a.csv")).unwrap();
    let line = text.lines().find(|line| line.starts_with("iterations,")).unwrap();
    assert!(line.split(',').nth(1).unwrap().contains('T'), "{line}");
    let output = run(folder.path(), &["--out", "csv=name=a.csv"]);
    assert_eq!(output.code, Some(104), "{output}");
    assert!(output.stderr.contains("unknown key"), "{output}");
}

const LATE: &str = r#"
import { sleep } from 'k6';
export const options = { summaryTrendStats: ['max'], scenarios: { s: {
  executor: 'constant-arrival-rate', rate: 20, timeUnit: '1s', duration: '1s',
  preAllocatedVUs: +__ENV.USERS } } };
export default function () {
  sleep(__ENV.USERS > 10 ? 0 : 1.2);
}
"#;

#[test]
fn a_run_whose_iterations_were_dropped_is_void_which_counts_where_it_is_strict() {
    let folder = folder_with(LATE);
    let told = "missed arrivals: 16 of 21 were never started (limit 0.1 %)";
    let summary = ["--summary-export", "summary.json"];
    for (words, code) in [(&["--strict"][..], 109), (&["--summary-mode", "legacy"], 0)] {
        let words: Vec<&str> =
            words.iter().chain(&summary).chain(&["-e", "USERS=5"]).copied().collect();
        let output = run(folder.path(), &words);
        assert_eq!(output.code, Some(code), "{output}");
        // A busy machine may have been late besides.
        assert!(output.stdout.contains(&format!("    generator: VOID: {told}")), "{output}");
        assert!(output.stdout.contains(", 16 out of 21\n"), "{output}");
        let is_error = output.stderr.contains(&format!("the run is void: {told} (--strict)"));
        assert_eq!(is_error, code != 0, "{output}");
        let text = std::fs::read_to_string(folder.path().join("summary.json")).unwrap();
        let summary: serde_json::Value = serde_json::from_str(&text).unwrap();
        let generator = &summary["sojourn"]["generator"];
        assert_eq!((&generator["void"], &generator["causes"][0]), (&true.into(), &told.into()));
        assert_eq!(generator["iterations"], serde_json::json!({ "due": 21, "dropped": 16 }));
        assert!(generator["machine"]["busy"].is_number(), "{text}");
    }
    // With users enough nothing is dropped, by whichever process.
    let words = ["-e", "USERS=40", "--generators", "2"];
    let output = run(folder.path(), &words);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.contains(", 0 out of 21\n"), "{output}");
    assert!(output.stdout.contains("lag p(99)"), "{output}");
}
