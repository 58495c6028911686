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
    assert_eq!((&checks["passes"], &checks["fails"]), (&Value::from(26), &Value::from(0)));
}

/// What there is in its place stands in the refusal.
#[test]
fn mqtt_of_an_extension_is_refused_with_what_there_is() {
    let folder = temp_dir().unwrap();
    let script = "import { Client } from 'k6/x/mqtt'; export default function () {}";
    std::fs::write(folder.path().join("s.js"), script).unwrap();
    let output = sojourn(["k6", "run", "s.js"]).in_dir(folder.path()).run().unwrap();
    assert!(output.code != Some(0), "{output}");
    for part in ["k6/x/mqtt", "can't be imported: MQTT is spoken by the module `sojourn`"] {
        assert!(output.stderr.contains(part), "{output}");
    }
}
