//! What can't be shared by processes is refused before there is any load.

use super::Desk;
use sojourn_testkit::sojourn;

const PLAIN: &str = "import http from 'k6/http';\nexport const options = { vus: 4, iterations: 8 \
                     };\nexport default function () { http.get('BASE/x'); }\n";

#[test]
fn segments_of_ones_own_are_refused() {
    let desk = Desk::new(PLAIN);
    let output = desk.run(&["--generators", "2", "--execution-segment", "0:1/2"]);
    assert_eq!(output.code, Some(104), "{output}");
    assert!(output.stderr.contains("executionSegment"), "{output}");
    assert!(desk.book.paths().is_empty());
}

#[test]
fn journeys_are_refused() {
    let script = "import { tap } from 'sojourn';\nimport http from 'k6/http';\nconst hooks = \
                  tap('hooks', { webhook: { listen: '127.0.0.1:0' }, key: '$.id' });\nexport \
                  default function () { http.get('BASE/x'); }\n";
    let desk = Desk::new(script);
    let output = desk.run(&["--generators", "2"]);
    assert_eq!(output.code, Some(104), "{output}");
    assert!(output.stderr.contains("journeys are followed by the process"), "{output}");
    assert!(desk.book.paths().is_empty());
}

#[test]
fn a_script_that_can_be_read_once_is_refused() {
    let words = ["k6", "run", "-", "--generators", "2"];
    let output = sojourn(words).input(PLAIN.as_bytes()).run().unwrap();
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("write it to a file"), "{output}");
}

/// The top level of a script decides by chance what it declares: the processes would not know of
/// which metric another one speaks.
#[test]
fn a_top_level_that_is_another_in_each_process_is_refused() {
    let script = "import http from 'k6/http';\nimport { Counter } from 'k6/metrics';\nnew \
                  Counter(`own_${open('/proc/self/stat').split(' ')[0]}`);\nexport default \
                  function () { http.get('BASE/x'); }\n";
    let desk = Desk::new(script);
    let output = desk.run(&["--generators", "2"]);
    assert_eq!(output.code, Some(109), "{output}");
    assert!(output.stderr.contains("declared other metrics"), "{output}");
    assert!(desk.book.paths().is_empty());
}

/// Options that are decided by chance are decided once.
#[test]
fn options_are_those_of_one_run_of_the_top_level() {
    let script = "import http from 'k6/http';\nconst pid = open('/proc/self/stat').split(' \
                  ')[0];\nexport const options = { vus: 3, iterations: 9, tags: { pid } };\nexport \
                  default function () { http.get('BASE/x'); }\n";
    let desk = Desk::new(script);
    let output = desk.run(&["--generators", "3", "--out", "json=samples.json"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(desk.book.count("/x"), 9);
    let lines = desk.file("samples.json");
    let pids: std::collections::BTreeSet<&str> = lines
        .lines()
        .filter_map(|line| line.split("\"pid\":\"").nth(1))
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert_eq!(pids.len(), 1, "{pids:?}");
}
