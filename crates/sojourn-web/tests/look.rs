//! A page in a real browser, looked at by the script beside this file.

use std::{path::Path, process::Command};

use serde_json::Value;
use sojourn_services::PLAYWRIGHT;

/// What the browser found at an address; pictures go to this folder.
pub(crate) fn look(address: &str, what: &str, pictures: &Path) -> Value {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/dashboard.py");
    let output = Command::new("timeout")
        .arg("120")
        .arg(PLAYWRIGHT.python().unwrap())
        .args([script, address, what])
        .arg(pictures)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the browser failed: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}
