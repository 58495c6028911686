//! The HTML report held against rules of accessibility, in light and dark and on a phone, with all
//! its folded parts open. Needs Chromium and Playwright, and fails without them.

use std::{fs, process::Command};

use serde_json::json;
use sojourn_report::render;
use sojourn_services::PLAYWRIGHT;

use crate::payments;

#[test]
fn no_rule_is_broken_and_nobody_else_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    fs::write(&page, render::html(&payments::model()).unwrap()).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../sojourn-web/tests/dashboard.py");
    let output = Command::new("timeout")
        .arg("120")
        .arg(PLAYWRIGHT.python().unwrap())
        .args([script, &format!("file://{}", page.display()), "page"])
        .arg(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the browser failed: {said}");
    let looks: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for look in looks.as_array().unwrap() {
        let at = format!("at {} {}", look["width"], look["scheme"]);
        for what in ["violations", "errors", "elsewhere"] {
            assert_eq!(look[what], json!([]), "{what} {at}");
        }
        assert_eq!(look["wider"], false, "{at}");
    }
}
