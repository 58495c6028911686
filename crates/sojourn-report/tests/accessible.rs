//! The HTML pages held against rules of accessibility, in light and dark and on a phone, with all
//! their folded parts open. Needs Chromium and Playwright, and fails without them.

use std::{fs, process::Command};

use serde_json::json;
use sojourn_report::render;
use sojourn_services::PLAYWRIGHT;

use crate::{payments, several};

/// No rule is broken, the console is silent, and nobody else is asked.
fn is_clean(html: &str) {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    fs::write(&page, html).unwrap();
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
    let looks = looks.as_array().unwrap();
    assert_eq!(looks.len(), 3);
    for look in looks {
        let at = format!("at {} {}", look["width"], look["scheme"]);
        for what in ["violations", "errors", "elsewhere"] {
            assert_eq!(look[what], json!([]), "{what} {at}");
        }
        assert_eq!(look["wider"], false, "{at}");
    }
}

#[test]
fn the_report_of_a_run() {
    is_clean(&render::html(&payments::model()).unwrap());
}

#[test]
fn the_report_of_a_search() {
    is_clean(&render::capacity_html(&several::capacity("payments")).unwrap());
}

#[test]
fn the_report_of_a_sweep() {
    is_clean(&render::sweep_html(&several::sweep("payments")).unwrap());
}
