//! How tests end before their time, and that nothing stays behind.

use super::Desk;
use crate::common::until;
use crate::generators::{is_gone, kill};

const LONG: &str = r#"
import http from 'k6/http';
import { sleep } from 'k6';
export const options = { vus: 6, duration: '100s' };
export default function () { http.get('BASE/x'); sleep(0.03); }
export function teardown() { http.get('BASE/teardown'); }
"#;

#[test]
fn a_process_that_dies_ends_the_test_and_is_named() {
    let desk = Desk::new(LONG);
    let (running, children) = desk.start(&["--generators", "3"], 3);
    kill(children[1]);
    let output = running.wait().unwrap();
    assert_eq!(output.code, Some(109), "{output}");
    let named = format!("generator process 1 (pid {}) ended early (signal: 9", children[1]);
    assert!(output.stderr.contains(&named), "{output}");
    assert!(output.stderr.contains("lack what was lost"), "{output}");
    assert_eq!(desk.book.count("/teardown"), 1);
    // The others' figures are told, and none that nobody has seen.
    assert!(output.stdout.contains("http_reqs"), "{output}");
    let seen = desk.book.paths().len();
    assert!((1..=seen).contains(&desk.count("http_reqs")), "{output}");
    assert!(children.iter().all(|pid| is_gone(*pid)));
}

#[test]
fn ctrl_c_ends_all_of_them_once_and_their_figures_are_whole() {
    let desk = Desk::new(LONG);
    let (running, children) = desk.start(&["--generators", "3"], 3);
    running.interrupt().unwrap();
    let output = running.wait().unwrap();
    assert_eq!(output.code, Some(105), "{output}");
    assert_eq!(output.stderr.matches("stopping:").count(), 1, "{output}");
    assert_eq!(desk.book.count("/teardown"), 1);
    let (seen, counted) = (desk.book.paths().len(), desk.count("http_reqs"));
    // A request that is cut off leaves no sample; each user has one at most.
    assert!(counted <= seen && seen <= counted + 6, "{counted} of {seen}: {output}");
    assert!(children.iter().all(|pid| is_gone(*pid)));
}

#[test]
fn processes_end_with_the_one_that_conducts() {
    let desk = Desk::new(LONG);
    let (running, children) = desk.start(&["--generators", "2"], 2);
    kill(running.pid());
    running.wait().unwrap();
    until("its processes are gone", || children.iter().all(|pid| is_gone(*pid)));
}

#[test]
fn an_abort_in_one_process_ends_all() {
    let script = r#"
import exec from 'k6/execution';
import http from 'k6/http';
import { sleep } from 'k6';
export const options = { vus: 6, duration: '100s' };
export default function () {
  http.get('BASE/x');
  if (exec.vu.idInTest === 5 && __ITER === 3) exec.test.abort('enough');
  sleep(0.03);
}
export function teardown() { http.get('BASE/teardown'); }
"#;
    let desk = Desk::new(script);
    let output = desk.run(&["--generators", "3"]);
    assert_eq!(output.code, Some(108), "{output}");
    assert!(output.stderr.contains("test aborted: enough"), "{output}");
    assert_eq!(desk.book.count("/teardown"), 1);
}

#[test]
fn a_test_that_one_process_marks_as_failed_has_failed() {
    let script = r#"
import exec from 'k6/execution';
export const options = { vus: 4, iterations: 40 };
export default function () {
  if (exec.scenario.iterationInTest === 17) exec.test.fail('not so');
}
"#;
    let desk = Desk::new(script);
    let output = desk.run(&["--generators", "2"]);
    assert_eq!(output.code, Some(110), "{output}");
    assert!(output.stderr.contains("test marked as failed: not so"), "{output}");
    assert_eq!(desk.count("iterations"), 40);
}

/// Each process has five samples at most: all of them together end the test, though not before the
/// delay is over.
#[test]
fn a_threshold_aborts_by_what_all_have_told() {
    let script = r#"
import http from 'k6/http';
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';
const hits = new Counter('hits');
export const options = { vus: 3, duration: '100s', thresholds: { hits: [
  { threshold: 'count<15', abortOnFail: true, delayAbortEval: '3s' } ] } };
export default function () {
  if (__ITER < 5) hits.add(1);
  sleep(0.1);
}
export function teardown() { http.get('BASE/teardown'); }
export function handleSummary(data) {
  return { stdout: `${data.metrics.hits.values.count} ${data.state.testRunDurationMs}` };
}
"#;
    let desk = Desk::new(script);
    let output = desk.run(&["--generators", "3"]);
    assert_eq!(output.code, Some(99), "{output}");
    assert!(output.stderr.contains("at least one has abortOnFail enabled"), "{output}");
    let numbers: Vec<f64> =
        output.stdout.split_whitespace().map(|number| number.parse().unwrap()).collect();
    assert_eq!(numbers[0], 15.0);
    assert!((3_000.0..60_000.0).contains(&numbers[1]), "{output}");
    assert_eq!(desk.book.count("/teardown"), 1);
}

/// What a user's top level throws is told as in one process, and nobody is left.
#[test]
fn a_top_level_that_throws_for_a_user_ends_the_test() {
    let script = "if (__VU === 5) throw new Error('not me');\nexport const options = { vus: 6, \
                  duration: '100s' };\nexport default function () {}\n";
    let told = [&[][..], &["--generators", "3"]].map(|flags| {
        let output = Desk::new(script).run(flags);
        assert_eq!(output.code, Some(107), "{output}");
        assert!(output.stderr.contains("not me"), "{output}");
        output.stderr.lines().count()
    });
    assert_eq!(told[0], told[1]);
}
