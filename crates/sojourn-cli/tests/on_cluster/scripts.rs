//! k6 scripts by pods.

use super::*;

const SCRIPT: &str = r#"
import http from 'k6/http';
import { check } from 'k6';
import { path } from './lib/path.js';
const rows = JSON.parse(open('./rows.json'));
export const options = { scenarios: {
  shared: { executor: 'shared-iterations', vus: 8, iterations: 100 },
  arriving: { executor: 'constant-arrival-rate', rate: 50, duration: '4s', preAllocatedVUs: 100 },
}, thresholds: { checks: ['rate==1'], http_reqs: ['count<LIMIT'] } };
export function setup() { return { shop: __ENV.SHOP }; }
export default function (data) {
  const row = rows[__VU % rows.length];
  const answer = http.get(`http://target:8080/${data.shop}/${path}/${row}`);
  check(answer, { 'it is there': (it) => it.status === 200 });
}
export function handleSummary(data) {
  return { stdout: 'handled\n', 'made/summary.json': JSON.stringify(data) };
}
"#;

/// With the module that it imports, the file that it opens and the variable that it names.
fn run(name: &str, limit: &str) -> (Namespace, Output, Value) {
    let namespace = Namespace::new(name, &plan(1, "1s"));
    namespace.start_target();
    std::fs::create_dir(namespace.path("lib")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(namespace.path(name), text).unwrap();
    write("test.js", &SCRIPT.replace("LIMIT", limit));
    write("lib/path.js", "export const path = 'items';\n");
    write("rows.json", "[1, 2, 3]");
    let line = RUN.replace("plan.yaml", "test.js");
    let output = namespace.sojourn(&format!("{line} -e SHOP=7")).run().unwrap();
    let summary = std::fs::read_to_string(namespace.path("made/summary.json"));
    let summary = summary.unwrap_or_else(|error| panic!("{error}: {output}"));
    (namespace, output, serde_json::from_str(&summary).unwrap())
}

#[test]
fn a_k6_script_is_run_by_pods_with_all_that_it_reads() {
    let (namespace, output, summary) = run("k6", "302");
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.contains("by 4 generators"), "{output}");
    assert!(output.stdout.ends_with("handled\n"), "{output}");
    let metrics = &summary["metrics"];
    let value = |metric: &str, name: &str| metrics[metric]["values"][name].as_f64().unwrap_or(0.0);
    // On a busy machine a generator may be without a user for a moment: that is counted.
    let made = value("iterations", "count") + value("dropped_iterations", "count");
    // And, as in k6, the one at the very end.
    assert!((300.0..=301.0).contains(&made), "{made}: {output}");
    assert_eq!(value("checks", "passes"), value("iterations", "count"), "{output}");
    assert_eq!(summary["setup_data"]["shop"], "7", "{output}");
    nothing_is_left(&namespace);
}

/// Each generator makes some 75 requests: only all of them break it.
#[test]
fn a_k6_threshold_is_held_against_all_pods_together() {
    let (namespace, output, _) = run("k6-threshold", "200");
    assert_eq!(output.code, Some(99), "{output}");
    assert!(output.stderr.contains("thresholds on metrics 'http_reqs'"), "{output}");
    nothing_is_left(&namespace);
}
