//! Runs that other tests start: the examples for test frameworks at work, and every report of a
//! run, by the program itself.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;
use sojourn_testkit::free_port;

use crate::common::{alone, until};

const SOJOURN: &str = env!("CARGO_BIN_EXE_sojourn");

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn told(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr))
}

fn is_there(program: &str, words: &[&str]) -> bool {
    Command::new(program).args(words).output().is_ok_and(|output| output.status.success())
}

/// Calls the tests of the file as pytest would, for machines that have no pytest.
const WITHOUT_PYTEST: &str = "import test_orders
tests = [(n, f) for n, f in vars(test_orders).items() if n.startswith('test_')]
for name, test in tests:
    test()
print(len(tests), 'passed')
";

#[test]
fn the_example_for_pytest() {
    let _turn = alone();
    let folder = examples().join("from-tests/pytest");
    let has_pytest = is_there("python3", &["-m", "pytest", "--version"]);
    let words: &[&str] = match has_pytest {
        true => &["-m", "pytest", "-q", "-p", "no:cacheprovider", "test_orders.py"],
        false => &["-c", WITHOUT_PYTEST],
    };
    let output = Command::new("python3")
        .args(words)
        .current_dir(folder)
        .env("SOJOURN", SOJOURN)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("python3 is there");
    assert!(output.status.success(), "{}", told(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("4 passed"), "{}", told(&output));
}

/// What Jest gives a test file, as far as the example needs it: Jest itself would have to be
/// installed.
const AS_JEST: &str = r#"
const assert = require("node:assert");
const [before, after, tests] = [[], [], []];
globalThis.beforeAll = (run) => before.push(run);
globalThis.afterAll = (run) => after.push(run);
globalThis.test = (name, run) => tests.push([name, run]);
globalThis.expect = (value) => ({
  toBe: (other) => assert.strictEqual(value, other),
  toEqual: (other) => assert.deepStrictEqual(value, other),
  toBeGreaterThan: (other) => assert.ok(value > other, `${value} > ${other}`),
  toBeLessThan: (other) => assert.ok(value < other, `${value} < ${other}`),
  not: { toContain: (item) => assert.ok(!value.includes(item), item) },
});
require(process.argv[1]);
(async () => {
  let failed = 0;
  for (const run of before) await run();
  for (const [name, run] of tests) {
    try { await run(); } catch (error) { failed += 1; console.error(name, error); }
  }
  for (const run of after) await run();
  console.log(`${tests.length - failed} passed`);
  process.exitCode = failed;
})().catch((error) => { console.error(error); process.exitCode = 1; });
"#;

#[test]
fn the_example_for_jest() {
    let _turn = alone();
    let file = examples().join("from-tests/jest/orders.test.js").canonicalize().unwrap();
    let output = Command::new("node")
        .args(["-e", AS_JEST])
        .arg(file)
        .env("SOJOURN", SOJOURN)
        .output()
        .expect("node is there");
    assert!(output.status.success(), "{}", told(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("4 passed"), "{}", told(&output));
}

/// A run of the examples' shop with these flags, in a folder.
fn run(folder: &Path, flags: &[&str]) -> Output {
    let (port, hooks) = (free_port().expect("a port"), free_port().expect("a port"));
    let mut shop = Command::new(SOJOURN)
        .arg("mock")
        .arg(examples().join("orders-mock.yaml"))
        .args(["--listen", &format!("127.0.0.1:{port}")])
        .env("HOOKS", format!("http://127.0.0.1:{hooks}"))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the shop starts");
    until("the shop listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    let output = Command::new(SOJOURN)
        .arg("run")
        .arg(examples().join("from-tests/orders.yaml").canonicalize().unwrap())
        .args(["--quiet", "--target", &format!("http://127.0.0.1:{port}")])
        .args(["-e", &format!("LISTEN=127.0.0.1:{hooks}"), "-e", "STEADY=1s"])
        .args(["--output", "run.sojourn"])
        .args(flags)
        .current_dir(folder)
        .output()
        .expect("the program runs");
    shop.kill().expect("the shop was there");
    shop.wait().expect("the shop ends");
    output
}

#[test]
fn every_report_of_a_run_at_once_and_later() {
    let _turn = alone();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let template = "{{ identity.name }} {{ verdict.outcome }}\n";
    std::fs::write(folder.join("message.tmpl"), template).unwrap();
    let names = ["a.md", "a.xml", "a.csv", "a.hlog", "a.json", "a.txt", "a.html", "a.ndjson"];
    let mut flags: Vec<&str> = names.iter().flat_map(|name| ["--report", name]).collect();
    flags.extend(["--report", "message.txt=message.tmpl", "--format", "md"]);
    let output = run(folder, &flags);
    assert!(output.status.success(), "{}", told(&output));
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), read("a.md"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("report    message.txt\n"));
    assert_eq!(read("message.txt"), "orders pass\n");
    assert!(read("a.md").starts_with("## ✓ PASS: <code>orders</code>\n"));
    assert!(read("a.xml").contains(" failures=\"0\" errors=\"0\""));
    assert!(read("a.hlog").contains("Tag=stage.hop;journey=order;stage=paid,"));
    // What was started second by second is what the report counts.
    let report: Value = serde_json::from_str(&read("a.json")).unwrap();
    let started = report["ledger"]["journeys_total"]["steady"]["started"].as_u64().unwrap();
    let csv = read("a.csv");
    let head: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let column = |name: &str| head.iter().position(|column| *column == name).unwrap();
    let rows = csv.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let counted: u64 = rows
        .filter(|row| row[column("metric")] == "journeys.started")
        .map(|row| row[column("count")].parse::<u64>().unwrap())
        .sum();
    assert_eq!(counted, started);
    // The same later, of the run file.
    for (format, name) in [("md", "a.md"), ("junit", "a.xml"), ("csv", "a.csv"), ("hlog", "a.hlog")]
    {
        let printed = Command::new(SOJOURN)
            .args(["report", "run.sojourn", "--format", format])
            .current_dir(folder)
            .output()
            .unwrap();
        assert!(printed.status.success(), "{}", told(&printed));
        assert_eq!(String::from_utf8_lossy(&printed.stdout), read(name), "{format}");
    }
}

#[test]
fn a_template_that_is_none_is_refused_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bad.tmpl"), "one\n{% if x %}\n").unwrap();
    for (report, expected) in [
        ("x.txt=bad.tmpl", "bad.tmpl, line "),
        ("x.txt=none.tmpl", "cannot read none.tmpl"),
        ("x.docx", "no report format goes with the name x.docx"),
    ] {
        let output = Command::new(SOJOURN)
            .arg("run")
            .arg(examples().join("from-tests/orders.yaml").canonicalize().unwrap())
            .args(["--report", report])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", told(&output));
        assert!(told(&output).contains(expected), "{}", told(&output));
    }
    assert!(!folder.path().join("reports").exists());
}

#[test]
fn schemas_are_printed() {
    let title = |words: &[&str]| {
        let output = Command::new(SOJOURN).arg("schema").args(words).output().unwrap();
        let schema: Value = serde_json::from_slice(&output.stdout).unwrap();
        schema["title"].as_str().unwrap().to_owned()
    };
    assert_eq!(title(&[]), "Sojourn journey file");
    assert_eq!(title(&["journey"]), "Sojourn journey file");
    assert_eq!(title(&["report"]), "Sojourn report");
}
