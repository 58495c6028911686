//! What the processes' samples come to.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Desk;
use crate::mock::Mocked;

/// Samples that are functions of an iteration's number: 300 of one trend, 15,000 of another.
const TRENDS: &str = r#"
import exec from 'k6/execution';
import { check, group } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
export const options = {
  vus: 9, iterations: 300,
  summaryTrendStats: ['avg', 'min', 'med', 'max', 'p(90)', 'p(95)', 'p(99.9)', 'count'],
  thresholds: { 'few{third:0}': ['max<1e9'] },
};
const [few, many] = [new Trend('few'), new Trend('many', true)];
const [sum, share, level] = [new Counter('sum'), new Rate('share'), new Gauge('level')];
export default function () {
  const number = exec.scenario.iterationInTest;
  few.add(number * 1.7 - 20, { third: number % 3 });
  for (let k = 0; k < 50; k++) many.add(Math.pow(1.0007, number * 50 + k));
  sum.add(number); share.add(number % 4 === 0); level.add(number);
  group(`part ${number % 2}`, () => check(number, { 'is even': (it) => it % 2 === 0 }));
}
"#;

const STATS: [&str; 6] = ["min", "med", "max", "p(90)", "p(95)", "p(99.9)"];

#[test]
fn percentiles_are_those_of_all_samples() {
    for more in [&[][..], &["--exact-percentiles"], &["--summary-mode=full"]] {
        let desk = Desk::new(TRENDS);
        let output = desk.run(&[&["--generators", "3"], more].concat());
        assert_eq!(output.code, Some(0), "{output}");
        let of = |metric: &str| STATS.map(|name| desk.figure(metric, name));
        let (few, many, of_third) = (of("few"), of("many"), of("few{third:0}"));
        let plain = |metric: &str, name: &str| desk.figure(metric, name);
        let sums = [plain("sum", "count"), plain("share", "passes"), plain("checks", "passes")];
        assert_eq!(sums, [44_850.0, 75.0, 150.0]);
        assert_eq!((plain("level", "min"), plain("level", "max")), (0.0, 299.0));
        assert_eq!([desk.count("few"), desk.count("many")], [300, 15_000]);
        let text = output.stdout;
        let desk = Desk::new(TRENDS);
        let output = desk.run(more);
        assert_eq!(output.code, Some(0), "{output}");
        let of = |metric: &str| STATS.map(|name| desk.figure(metric, name));
        assert_eq!((few, many, of_third), (of("few"), of("many"), of("few{third:0}")));
        // The printed summary has the same lines; which group came first is chance.
        assert_eq!(names(&text), names(&output.stdout));
    }
}

/// What the lines of a summary are about, sorted; but for numbers of users, which a run of less
/// than a second has not.
fn names(text: &str) -> Vec<String> {
    let name = |line: &str| {
        let line = line.trim_start().split(['.', ':']).next().unwrap_or_default().trim();
        line.to_owned()
    };
    let names = text.lines().map(name);
    let mut names: Vec<_> = names.filter(|it| !it.is_empty() && !it.starts_with("vus")).collect();
    names.sort_unstable();
    names
}

/// Figures of the real mock's own, for requests and what they carried.
#[test]
fn the_summary_counts_what_the_mock_counts() {
    let mock = Mocked::start(&[], &["--latency", "3ms"]);
    let script = format!(
        "import http from 'k6/http';\nexport const options = {{ vus: 30, iterations: 900 }};\n\
         export default function () {{ http.get('http://{}/x'); }}\n",
        mock.address
    );
    let desk = Desk::new(&script);
    let output = desk.run(&["--generators", "3"]);
    assert_eq!(output.code, Some(0), "{output}");
    let seen = mock.metric("responses_total{code=\"200\"}");
    assert_eq!(seen, 900);
    assert_eq!((desk.count("http_reqs"), desk.count("iterations")), (900, 900));
    assert!(desk.figure("http_req_duration", "min") >= 3.0, "{output}");
    assert_eq!(desk.figure("http_req_failed", "passes"), 0.0);
}

/// Every sample is written once, by one process, with its tags and metadata.
#[test]
fn outputs_are_written_once() {
    let script = r#"
import http from 'k6/http';
import { check } from 'k6';
export const options = { vus: 6, iterations: 60, tags: { build: '7' },
  systemTags: ['scenario', 'status', 'url', 'vu', 'iter'] };
export default function () {
  check(http.get('BASE/x'), { ok: (r) => r.status === 200 });
}
"#;
    let desk = Desk::new(script);
    let outs = ["--out", "json=samples.json", "--out", "csv=samples.csv"];
    let output = desk.run(&[&["--generators", "3"], &outs[..]].concat());
    assert_eq!(output.code, Some(0), "{output}");
    let lines = desk.file("samples.json");
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut points = BTreeMap::<String, usize>::new();
    let mut declared = BTreeMap::<String, usize>::new();
    let mut iterations = BTreeSet::new();
    for line in &lines {
        let metric = line["metric"].as_str().unwrap().to_owned();
        if line["type"] == "Metric" {
            *declared.entry(metric).or_default() += 1;
            continue;
        }
        let data = &line["data"];
        assert_eq!(data["tags"]["build"], "7", "{line}");
        if metric == "http_reqs" {
            assert_eq!(data["tags"]["status"], "200", "{line}");
            iterations.insert(data["metadata"].to_string());
        }
        *points.entry(metric).or_default() += 1;
    }
    assert!(declared.values().all(|count| *count == 1), "{declared:?}");
    let counts = ["http_reqs", "http_req_duration", "iterations", "checks"];
    assert_eq!(counts.map(|metric| points[metric]), [60; 4], "{points:?}");
    // A user's number and its iteration's say which iteration of the whole test it was.
    assert_eq!(iterations.len(), 60);
    let rows = desk.file("samples.csv");
    let rows = rows.lines().filter(|row| row.starts_with("http_reqs,")).count();
    assert_eq!(rows, 60);
}

/// What scripts print comes from one process, each line once and whole.
#[test]
fn lines_of_scripts_are_told_once() {
    let script = r#"
import exec from 'k6/execution';
export const options = { vus: 6, iterations: 60 };
export default function () {
  console.log(`iteration ${exec.scenario.iterationInTest} of ${__ENV.WORD}`);
  if (exec.scenario.iterationInTest === 13) throw new Error('unlucky');
}
"#;
    let desk = Desk::new(script);
    let flags = ["--generators", "3", "-e", "WORD=all", "--console-output", "said.txt"];
    let output = desk.run(&[&flags[..], &["--log-output", "file=log.txt"]].concat());
    assert_eq!(output.code, Some(0), "{output}");
    let said = desk.file("said.txt");
    let said: BTreeSet<&str> = said.lines().filter_map(|line| line.split("msg=").nth(1)).collect();
    assert_eq!(said.len(), 60, "{said:?}");
    assert!(said.iter().all(|line| line.contains(" of all")), "{said:?}");
    let log = desk.file("log.txt");
    assert_eq!(log.matches("unlucky").count(), 1, "{log}");
    assert!(!output.stderr.contains("iteration "), "{output}");
}

/// Thresholds are looked at where all samples are.
#[test]
fn a_threshold_that_only_all_samples_break_decides() {
    let script = |threshold: &str| {
        format!(
            "import {{ Counter }} from 'k6/metrics';\nconst hits = new Counter('hits');\n\
             export const options = {{ vus: 3, iterations: 12,\n  thresholds: {{ hits: \
             ['{threshold}'] }} }};\nexport default function () {{ hits.add(1); }}\n"
        )
    };
    for (threshold, code) in [("count<12", 99), ("count==12", 0)] {
        let output = Desk::new(&script(threshold)).run(&["--generators", "3"]);
        assert_eq!(output.code, Some(code), "{output}");
        let told = output.stderr.matches("thresholds on metrics 'hits' have been crossed").count();
        assert_eq!(told, usize::from(code == 99), "{output}");
    }
}
