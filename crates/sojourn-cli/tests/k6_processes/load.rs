//! What is asked of the target, and by whom.

use std::collections::{BTreeMap, BTreeSet};

use super::Desk;

/// Three kinds of load at once. Each iteration asks for its scenario, its number, and its user's
/// numbers.
const EXECUTORS: &str = r#"
import http from 'k6/http';
import exec from 'k6/execution';
import { sleep } from 'k6';
export const options = { scenarios: {
  shared: { executor: 'shared-iterations', vus: 7, iterations: 41 },
  each: { executor: 'per-vu-iterations', vus: 5, iterations: 3 },
  arriving: {
    executor: 'constant-arrival-rate', rate: 97, duration: '2005ms', preAllocatedVUs: 40 },
  looping: { executor: 'constant-vus', vus: 4, duration: '2s' },
} };
export default function () {
  const { scenario, vu } = exec;
  http.get(`BASE/${scenario.name}/${scenario.iterationInTest}/${vu.idInTest}/${__VU}`);
  if (scenario.name === 'looping') sleep(0.05);
}
"#;

/// What one run has asked for.
#[derive(Default)]
struct Asked {
    /// Numbers of iterations by scenario, as they came.
    numbers: BTreeMap<String, Vec<u64>>,
    users: BTreeSet<u64>,
}

impl Asked {
    fn of(desk: &Desk) -> Self {
        let mut asked = Self::default();
        for path in desk.book.paths() {
            let parts: Vec<&str> = path.split('/').collect();
            let [_, scenario, number, user, own] = parts[..] else { panic!("{path}") };
            asked.numbers.entry(scenario.to_owned()).or_default().push(number.parse().unwrap());
            asked.users.insert(user.parse().unwrap());
            assert!(own.parse::<u64>().is_ok(), "{path}");
        }
        asked
    }

    /// Those of a scenario, each of which was begun once.
    fn distinct(&self, scenario: &str) -> BTreeSet<u64> {
        let all = &self.numbers[scenario];
        let distinct: BTreeSet<u64> = all.iter().copied().collect();
        assert_eq!(distinct.len(), all.len(), "{scenario}: {all:?}");
        distinct
    }
}

/// Checks a run by itself: the summary counts what the target has seen. How many arrivals found no
/// user.
fn balanced(desk: &Desk) -> usize {
    let seen = desk.book.paths().len();
    assert_eq!((desk.count("http_reqs"), desk.count("iterations")), (seen, seen));
    desk.count("dropped_iterations")
}

#[test]
fn iterations_are_those_of_one_process() {
    let mut arrivals = Vec::new();
    for flags in [&["--generators", "3"][..], &[], &["--generators", "2", "--threads", "2"]] {
        let desk = Desk::new(EXECUTORS);
        let output = desk.run(flags);
        assert_eq!(output.code, Some(0), "{output}");
        let dropped = balanced(&desk);
        let asked = Asked::of(&desk);
        assert_eq!(asked.distinct("shared"), (0..41).collect());
        assert_eq!(asked.distinct("each").len(), 15);
        let arrived = asked.distinct("arriving");
        // On a busy machine a process may be without a user for a moment: that is counted.
        assert_eq!(arrived.len() + dropped, 195, "{output}");
        assert!(arrived.iter().all(|number| *number < 195));
        // 40 + 7 + 5 + 4 users, each of which has a number of its own.
        assert!(asked.users.len() <= 56, "{:?}", asked.users);
        assert_eq!(desk.figure("vus_max", "value"), 56.0, "{output}");
        asked.distinct("looping");
        arrivals.push(arrived.len());
    }
    assert!(arrivals.iter().all(|count| *count > 150), "{arrivals:?}");
}

/// Users' numbers, and what each of them may be used for: __VU is one number of the whole test.
#[test]
fn users_of_all_processes_have_numbers_of_their_own() {
    let script = r#"
import http from 'k6/http';
import exec from 'k6/execution';
export const options = { scenarios: {
  each: { executor: 'per-vu-iterations', vus: 8, iterations: 1 } } };
export default function () {
  const { vu, instance } = exec;
  http.get(`BASE/${vu.idInTest}/${__VU}/${vu.idInInstance}/${instance.vusActive}`);
}
"#;
    let desk = Desk::new(script);
    let output = desk.run(&["--generators", "3"]);
    assert_eq!(output.code, Some(0), "{output}");
    let mut users = Vec::new();
    for path in desk.book.paths() {
        let numbers: Vec<u64> =
            path.split('/').skip(1).map(|number| number.parse().unwrap()).collect();
        let [in_test, own, in_instance, active] = numbers[..] else { panic!("{path}") };
        assert_eq!(in_test, own);
        assert!((1..=3).contains(&in_instance) && (1..=3).contains(&active), "{path}");
        users.push(in_test);
    }
    users.sort_unstable();
    assert_eq!(users, [1, 2, 3, 4, 5, 6, 7, 8]);
}

/// Three processes of one run, and three runs that each make a segment by themselves.
#[test]
fn segments_make_the_same_whole_one_by_one() {
    let whole = Desk::new(EXECUTORS);
    let output = whole.run(&["--generators", "3"]);
    assert_eq!(output.code, Some(0), "{output}");
    let apart = Desk::new(EXECUTORS);
    let sequence = "--execution-segment-sequence=0,1/3,2/3,1";
    let mut dropped = 0;
    for segment in ["0:1/3", "1/3:2/3", "2/3:1"] {
        let output = apart.run(&[&format!("--execution-segment={segment}"), sequence]);
        assert_eq!(output.code, Some(0), "{output}");
        dropped += apart.count("dropped_iterations");
    }
    let [one, other] = [&whole, &apart].map(Asked::of);
    for scenario in ["shared", "each"] {
        assert_eq!(one.distinct(scenario), other.distinct(scenario), "{scenario}");
    }
    assert_eq!(other.distinct("arriving").len() + dropped, 195);
}

/// What is done once is done once, whoever has the users.
#[test]
fn setup_teardown_and_the_summary_are_made_once() {
    let script = r#"
import http from 'k6/http';
export const options = { vus: 6, iterations: 30 };
export function setup() { http.get('BASE/setup'); return { word: 'made', list: [1, { a: null }] }; }
export default function (data) {
  http.get(`BASE/${data.word}/${data.list[1].a === null}`);
}
export function teardown(data) { http.get(`BASE/teardown/${data.word}`); }
export function handleSummary(data) {
  const { metrics, setup_data } = data;
  return { stdout: `handled ${metrics.iterations.values.count} ${setup_data.word}\n`,
    'made.json': JSON.stringify(data) };
}
"#;
    let desk = Desk::new(script);
    let output = desk.run(&["--generators", "3"]);
    assert_eq!(output.code, Some(0), "{output}");
    let counts = ["/setup", "/made/true", "/teardown/made"].map(|path| desk.book.count(path));
    assert_eq!(counts, [1, 30, 1]);
    let paths = desk.book.paths();
    assert_eq!((paths[0].as_str(), paths[31].as_str()), ("/setup", "/teardown/made"));
    assert_eq!(output.stdout, "handled 30 made\n");
    assert!(desk.file("made.json").contains("http_reqs"));
    assert_eq!(desk.count("http_reqs"), 32);
}

/// All begin at one instant, which each script can ask for.
#[test]
fn all_processes_begin_at_one_instant() {
    let script = r#"
import http from 'k6/http';
import exec from 'k6/execution';
export const options = { vus: 4, iterations: 8 };
export default function () { http.get(`BASE/${exec.scenario.startTime}`); }
"#;
    let desk = Desk::new(script);
    let output = desk.run(&["--generators", "4"]);
    assert_eq!(output.code, Some(0), "{output}");
    let starts: BTreeSet<u64> =
        desk.book.paths().iter().map(|path| path[1..].parse().unwrap()).collect();
    let [first, last] = [starts.first(), starts.last()].map(|start| *start.unwrap());
    // Each process reads wall time by itself, and tells whole milliseconds.
    assert!(last - first <= 2, "{starts:?}");
}

/// Requests keep a distance in the whole test, not in each process.
#[test]
fn requests_per_second_are_those_of_all_together() {
    let script = r#"
import http from 'k6/http';
export const options = { vus: 6, duration: '3s', rps: 40 };
export default function () { http.get('BASE/'); }
"#;
    let desk = Desk::new(script);
    let output = desk.run(&["--generators", "3"]);
    assert_eq!(output.code, Some(0), "{output}");
    // Iterations that wait for their turn at the end may still have it, one for each user.
    let seen = desk.book.paths().len();
    assert!((30..=3 * 40 + 6 + 3).contains(&seen), "{seen}");
}
