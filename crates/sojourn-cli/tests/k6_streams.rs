//! `k6/experimental/streams`, by a script that checks itself.

use std::path::Path;

use serde_json::Value;
use sojourn_testkit::{sojourn, temp_dir};

#[test]
fn streams_are_read_as_the_standard_says() {
    let folder = temp_dir().unwrap();
    let summary = folder.path().join("summary.json");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/k6_streams/everything.js");
    let export = format!("--summary-export={}", summary.display());
    let output = sojourn(["k6", "run", "--quiet", &export, script.to_str().unwrap()]);
    let output = output.run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    // Nothing was left waiting: every check was come to.
    let summary: Value = serde_json::from_slice(&std::fs::read(summary).unwrap()).unwrap();
    let checks = &summary["metrics"]["checks"];
    assert_eq!((&checks["passes"], &checks["fails"]), (&Value::from(29), &Value::from(0)));
}
