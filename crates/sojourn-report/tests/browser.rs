//! The HTML report in a real browser: no error on its console, every chart drawn, the script's
//! parts at work. Needs chromium on the PATH and fails without it.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use sojourn_report::{ReportModel, render};

use crate::payments;

/// Runs before the page's own script: collects errors.
const BEFORE: &str = "<script>window.errors = [];
addEventListener('error', (event) => errors.push(String(event.message)));
window.alert = () => errors.push('alert');
const consoleError = console.error;
console.error = (...args) => { errors.push(args.join(' ')); consoleError(...args); };
</script>";

/// Runs after it: measures the charts, uses them, and leaves what it found in the document.
const AFTER: &str = include_str!("browser.js");

/// What a page found out about itself with the script `after`, and what the browser said.
pub(crate) fn inspect(html: &str, after: &str, width: u32) -> (serde_json::Value, Output) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let html = html.replacen("<head>", &format!("<head>{BEFORE}"), 1).replacen(
        "</body>",
        &format!("<script>{after}</script></body>"),
        1,
    );
    let page = folder.path().join("report.html");
    fs::write(&page, html).expect("the page is written");
    let output = browse(folder.path(), &page, width);
    let dom = String::from_utf8_lossy(&output.stdout);
    let attribute = dom
        .split("data-report=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap_or_else(|| panic!("the page did not report; the browser said {output:?}"))
        .replace("&quot;", "\"")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    let report = serde_json::from_str(&attribute).expect("the page's report is JSON");
    (report, output)
}

fn browse(folder: &Path, page: &Path, width: u32) -> Output {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let browser = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .flat_map(|path| names.map(|name| path.join(name)))
        .find(|path| path.is_file())
        .expect("chromium is on the PATH (apt-get install chromium)");
    // `timeout` ends a browser that hangs, and only that one.
    Command::new("timeout")
        .arg("120")
        .arg(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .arg("--virtual-time-budget=5000")
        .args(["--disable-background-networking", "--enable-logging=stderr"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("--window-size={width},900"))
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser runs")
}

fn check(model: &ReportModel, width: u32) -> serde_json::Value {
    let html = render::html(model).expect("the template renders");
    let (report, output) = inspect(&html, AFTER, width);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(report["errors"], serde_json::json!([]), "at {width} px");
    assert!(!said.contains(":CONSOLE"), "the console is not empty: {said}");
    assert_eq!(report["overflow"], false, "the page is wider than {width} px");
    assert_eq!(report["flat"], 0, "a chart has no size: {report}");
    report
}

#[test]
fn charts_are_drawn_and_work() {
    for width in [1280, 500] {
        let report = check(&payments::model(), width);
        assert!(report["svgs"].as_u64() > Some(20), "{report}");
        assert!(report["tip"].as_str().is_some_and(|tip| tip.contains("waiting for initiated: ")));
        assert!(report["traffic"].as_str().is_some_and(|tip| tip.contains("at once: ")));
        assert_eq!(report["zoomed"], "250 0 500 240");
        assert_eq!(report["stepped"], true);
        assert_eq!(report["reset"], "0 0 1000 240");
        assert_eq!(report["off"], true);
    }
}

#[test]
fn an_empty_report_has_no_errors() {
    check(&payments::empty(), 1280);
}

#[test]
fn foreign_names_do_not_run() {
    let mut model = payments::model();
    let evil = "</script><img src=x onerror=alert(1)><script>alert(2)</script>";
    model.identity.name = evil.into();
    model.journeys[0].name = evil.into();
    model.journeys[0].kept[0].key = Some(evil.into());
    model.journeys[0].stages[0].name = evil.into();
    for series in &mut model.journeys[0].timeline.series {
        if series.of == "initiated" {
            series.of = evil.into();
        }
    }
    let report = check(&model, 1280);
    assert!(report["tip"].as_str().is_some_and(|tip| tip.contains("<img src=x")));
}
