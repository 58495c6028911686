//! k6's command line where it is about commands: flags before them, the user's own configuration
//! file, what is checked without running, the version.

use std::path::Path;

use serde_json::Value;
use sojourn_testkit::{Output, TempDir, sojourn, temp_dir};

const SCRIPT: &str = r#"
export default function () {
  console.log('ran');
}"#;

fn folder(script: &str) -> TempDir {
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("test.js"), script).unwrap();
    folder
}

fn k6(folder: &Path, words: &[&str], variables: &[(&str, &str)]) -> Output {
    let program = sojourn(["k6"].iter().chain(words)).in_dir(folder);
    // Whoever runs tests may have a file of his own.
    let program = program.env("HOME", folder.to_str().unwrap()).env("XDG_CONFIG_HOME", "");
    variables.iter().fold(program, |program, (name, value)| program.env(name, value)).run().unwrap()
}

#[test]
fn flags_may_stand_before_the_command() {
    let folder = folder(SCRIPT);
    let words = ["-q", "--log-format", "raw", "-i", "2", "run", "test.js"];
    let output = k6(folder.path(), &words, &[]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), "ran\nran\n"), "{output}");
}

#[test]
fn the_users_own_configuration_is_the_weakest_and_a_named_one_takes_its_place() {
    let folder = folder(SCRIPT);
    let own = folder.path().join(".config/k6");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("config.json"), r#"{ "vus": 3, "iterations": 3 }"#).unwrap();
    let elsewhere = folder.path().join("elsewhere");
    std::fs::create_dir_all(elsewhere.join("k6")).unwrap();
    std::fs::write(elsewhere.join("k6/config.json"), r#"{ "vus": 2, "iterations": 2 }"#).unwrap();
    std::fs::write(folder.path().join("named.json"), r#"{ "vus": 1, "iterations": 1 }"#).unwrap();
    let runs = |words: &[&str], variables: &[(&str, &str)]| {
        let all = [&["run", "-q", "--log-format", "raw", "test.js"], words].concat();
        let output = k6(folder.path(), &all, variables);
        assert_eq!(output.code, Some(0), "{output}");
        output.stderr.matches("ran").count()
    };
    let xdg = ("XDG_CONFIG_HOME", elsewhere.to_str().unwrap());
    assert_eq!(runs(&[], &[]), 3);
    assert_eq!(runs(&["--generators", "2"], &[]), 3);
    assert_eq!(runs(&[], &[xdg]), 2);
    assert_eq!(runs(&["-c", "named.json"], &[xdg]), 1);
    assert_eq!(runs(&["-i", "5"], &[("K6_VUS", "2")]), 5);
    let inspected = k6(folder.path(), &["inspect", "--execution-requirements", "test.js"], &[]);
    let options: Value = serde_json::from_str(&inspected.stdout).unwrap();
    assert_eq!((&options["vus"], &options["iterations"]), (&3.into(), &3.into()), "{inspected}");
    std::fs::write(own.join("config.json"), "{ \"vus\": ").unwrap();
    let output = k6(folder.path(), &["run", "-q", "test.js"], &[]);
    assert_eq!(output.code, Some(104), "{output}");
    assert!(output.stderr.contains(".config/k6/config.json"), "{output}");
}

#[test]
fn what_is_wrong_is_told_without_a_run() {
    let threshold = "export const options = { thresholds: { nope: ['p(95)<1'] } };";
    let folder = folder(&format!("{threshold}{SCRIPT}"));
    std::fs::write(folder.path().join("fine.js"), SCRIPT).unwrap();
    let none: &[(&str, &str)] = &[];
    for (words, variables, code) in [
        (&["inspect", "test.js"][..], none, 0),
        (&["inspect", "--execution-requirements", "test.js"], &[], 104),
        (&["archive", "test.js"], &[], 104),
        (&["run", "nowhere.js"], &[], 255),
        (&["inspect", "nowhere.js"], &[], 255),
        (&["run", "."], &[], 255),
        (&["run", "-q", "--compatibility-mode", "zz", "fine.js"], &[], 255),
        (&["inspect", "fine.js"], &[("K6_COMPATIBILITY_MODE", "zz")], 255),
        (&["inspect", "--compatibility-mode", "base", "fine.js"], &[], 0),
    ] {
        let output = k6(folder.path(), words, variables);
        assert_eq!(output.code, Some(code), "{words:?}: {output}");
    }
}

#[test]
fn the_version_completions_and_the_scripts_text_are_told() {
    let folder = folder(SCRIPT);
    let version = env!("CARGO_PKG_VERSION");
    let told = |words: &[&str]| {
        let output = k6(folder.path(), words, &[]);
        assert_eq!(output.code, Some(0), "{output}");
        output.stdout
    };
    assert_eq!(told(&["version"]), format!("sojourn {version}\n"));
    assert_eq!(told(&["--version"]), format!("sojourn-k6 {version}\n"));
    let json: Value = serde_json::from_str(&told(&["version", "--json"])).unwrap();
    assert_eq!((&json["version"], &json["os"]), (&version.into(), &std::env::consts::OS.into()));
    let completions = sojourn(["completions", "bash"]).run().unwrap();
    assert_eq!(told(&["completion", "bash"]), completions.stdout);
    told(&["run", "-q", "--new-machine-readable-summary", "--summary-export", "s.json", "test.js"]);
    let text = std::fs::read_to_string(folder.path().join("s.json")).unwrap();
    let summary: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(summary["config"]["script"], SCRIPT);
    assert_eq!(summary["sojourn"]["generator"]["void"], false);
}

#[test]
fn what_a_script_uses_of_modules_is_listed_and_what_of_it_is_missing_or_differs() {
    let script = "import http, { nothing } from 'k6/http';
import * as exec from 'k6/execution';
import streams from 'k6/experimental/streams';
import grpc from 'k6/net/grpc';
import browser from 'k6/browser';
const { vu, test: { never } } = exec;
export default function () {
  http.get(''); http['none'](); http[__ENV.NAME](); vu.idInTest; vu.tags.own = 1;
  new streams.WritableStream(); grpc.StatusOK; browser.newPage();
  (function (http) { http.notOfTheModule(); })({});
}";
    let folder = folder(script);
    let output = k6(folder.path(), &["check", "test.js"], &[]);
    let lines: Vec<&str> = output.stdout.lines().collect();
    let expected = [
        "✗ k6/browser: the module \"k6/browser\" can't be imported: browsers are not driven here; \
         load the pages' requests instead",
        "✓ k6/execution",
        "✓ k6/execution  test",
        "✗ k6/execution  test.never: there is no such name here",
        "✓ k6/execution  vu",
        "✓ k6/execution  vu.idInTest",
        "✓ k6/execution  vu.tags",
        "✓ k6/experimental/streams",
        "✗ k6/experimental/streams  WritableStream: there is no such name here",
        "✓ k6/http",
        "✓ k6/http  get",
        "✗ k6/http  none: there is no such name here",
        "✗ k6/http  nothing: there is no such name here",
        "✓ k6/net/grpc",
        "≈ k6/net/grpc  StatusOK: a number; k6 has an object whose text is its name",
        "",
        "5 things that test.js uses are missing. One differs from k6's.",
    ];
    assert_eq!((output.code, lines), (Some(104), expected.to_vec()), "{output}");
    std::fs::write(folder.path().join("test.js"), "import { from 'k6'").unwrap();
    let output = k6(folder.path(), &["check", "test.js"], &[]);
    assert_eq!(output.code, Some(104), "{output}");
    assert!(output.stderr.contains("test.js: line 1, column "), "{output}");
}
