//! The HTML report in a real browser: no error on its console, every chart drawn, the script's
//! parts at work. Needs chromium on the PATH and fails without it.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use sojourn_metrics::{SeriesKey, names};
use sojourn_record::{Interval, IntervalRow};
use sojourn_report::{ReportModel, render};

use crate::{payments, resources};

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
    inspect_in(Scheme::Light, html, after, width)
}

/// What the browser's user prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scheme {
    Light,
    Dark,
}

fn inspect_in(scheme: Scheme, html: &str, after: &str, width: u32) -> (serde_json::Value, Output) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let html = html.replacen("<head>", &format!("<head>{BEFORE}"), 1).replacen(
        "</body>",
        &format!("<script>{after}</script></body>"),
        1,
    );
    let page = folder.path().join("report.html");
    fs::write(&page, html).expect("the page is written");
    let output = browse(folder.path(), &page, width, scheme);
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

fn browse(folder: &Path, page: &Path, width: u32, scheme: Scheme) -> Output {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let browser = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .flat_map(|path| names.map(|name| path.join(name)))
        .find(|path| path.is_file())
        .expect("chromium is on the PATH (apt-get install chromium)");
    // Blink's own numbers.
    let preferred = if scheme == Scheme::Dark { 0 } else { 1 };
    // `timeout` ends a browser that hangs, and only that one.
    Command::new("timeout")
        .arg("120")
        .arg(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .arg("--virtual-time-budget=5000")
        .args(["--disable-background-networking", "--enable-logging=stderr"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("--window-size={width},900"))
        .arg(format!("--blink-settings=preferredColorScheme={preferred}"))
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser runs")
}

fn check(model: &ReportModel, width: u32) -> serde_json::Value {
    check_in(Scheme::Light, model, width)
}

fn check_in(scheme: Scheme, model: &ReportModel, width: u32) -> serde_json::Value {
    let html = render::html(model).expect("the template renders");
    let (report, output) = inspect_in(scheme, &html, AFTER, width);
    assert_eq!(report["dark"], scheme == Scheme::Dark, "{report}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(report["errors"], serde_json::json!([]), "at {width} px");
    assert!(!said.contains(":CONSOLE"), "the console is not empty: {said}");
    assert_eq!(report["overflow"], false, "the page is wider than {width} px");
    assert_eq!(report["flat"], 0, "a chart has no size: {report}");
    report
}

#[test]
fn charts_are_drawn_and_work() {
    for (width, scheme) in [(1280, Scheme::Light), (1280, Scheme::Dark), (500, Scheme::Light)] {
        let report = check_in(scheme, &payments::model(), width);
        assert!(report["svgs"].as_u64() > Some(20), "{report}");
        assert!(report["tip"].as_str().is_some_and(|tip| tip.contains("waiting for initiated: ")));
        assert!(report["traffic"].as_str().is_some_and(|tip| tip.contains("at once: ")));
        assert_eq!(report["zoomed"], "250 0 500 240");
        assert_eq!(report["stepped"], true);
        assert_eq!(report["reset"], "0 0 1000 240");
        assert_eq!(report["off"], true);
    }
}

/// A figure as the page shows it, in its base unit; none of a dash.
fn shown(text: &str) -> Option<f64> {
    let units = [
        ("/s", 1.0),
        (" ns", 1.0),
        (" µs", 1e3),
        (" ms", 1e6),
        (" kB", 1e3),
        (" MB", 1e6),
        (" GB", 1e9),
        (" s", 1e9),
        (" B", 1.0),
    ];
    let unit = units.into_iter().find_map(|(unit, by)| Some((text.strip_suffix(unit)?, by)));
    let (number, by) = unit.unwrap_or((text, 1.0));
    if number == "–" {
        return None;
    }
    let number = number.replace(',', "").parse::<f64>();
    Some(number.unwrap_or_else(|_| panic!("no figure: {text}")) * by)
}

/// What the run file has of a second, by the names of the page's chart and line.
fn expected(interval: &Interval, title: &str, line: &str) -> Option<f64> {
    let row = |metric: &str, tags: &[(&str, &str)]| {
        let has = |key: &SeriesKey, (name, value): (&str, &str)| {
            key.tags.iter().any(|(own, is)| own == name && is == value)
        };
        let is_it = |key: &SeriesKey| key.metric == metric && tags.iter().all(|it| has(key, *it));
        interval.rows.iter().find(|(key, _)| is_it(key)).map(|(_, row)| row)
    };
    let resource = |name: &str, figure: &str| {
        let tags = [(names::RESOURCE_NAME, name), (names::FIGURE, figure)];
        match row(names::RESOURCE, &tags)? {
            IntervalRow::Gauge([last, ..]) => Some(*last),
            other => panic!("{other:?}"),
        }
    };
    match (title, line) {
        ("packed", "p50" | "p95" | "p99") => match row(names::STAGE_HOP, &[(names::STAGE, title)])?
        {
            IntervalRow::Trend { p50, .. } => Some(*p50 as f64),
            other => panic!("{other:?}"),
        },
        (_, "completions") => match row(names::JOURNEYS_COMPLETED, &[(names::JOURNEY, "order")])? {
            IntervalRow::Counter(count) => Some(*count as f64),
            other => panic!("{other:?}"),
        },
        ("Cores in use", "api") => resource("api", names::CORES),
        ("Cores in use", "api, limit") => resource("api", names::LIMIT_CORES),
        ("Memory of resources", name) => resource(name, names::MEMORY_BYTES),
        ("pods", name) => resource(name, names::VALUE),
        (title, line) => panic!("{title} has {line}, which nobody expects"),
    }
}

/// Whether a row of a tip is what the run file has of that second.
fn is_of(row: &str, title: &str, interval: &Interval) {
    let (line, text) = row.rsplit_once(": ").unwrap_or_else(|| panic!("{title}: {row}"));
    match line {
        // The run file has no word of them.
        "arrivals" => return,
        "lost or failed" => return assert_eq!(shown(text).unwrap_or(0.0), 0.0, "{title}: {row}"),
        _ => {}
    }
    let expected = expected(interval, title, line);
    match (shown(text), expected) {
        (None, None) => {}
        // Three digits are shown.
        (Some(shown), Some(expected)) if (shown - expected).abs() <= 0.0051 * expected.abs() => {}
        (shown, _) => panic!("{title}: {row}: {shown:?} is not {expected:?}"),
    }
}

#[test]
fn tips_tell_the_seconds_of_the_run_file() {
    let run = resources::known();
    let html = render::html(&ReportModel::from_run(&run)).unwrap();
    for scheme in [Scheme::Light, Scheme::Dark] {
        let (report, _) = inspect_in(scheme, &html, include_str!("values.js"), 1280);
        assert_eq!(report["errors"], serde_json::json!([]));
        assert_eq!(report["dark"], scheme == Scheme::Dark, "{report}");
        let charts = report["charts"].as_object().unwrap();
        let mut rows = 0;
        for (title, seconds) in charts {
            let seconds = seconds.as_array().unwrap();
            assert_eq!(seconds.len(), run.intervals.len());
            let zoomed = &report["zoomed"][title];
            let middle = (&run.intervals[30], zoomed);
            for (interval, tip) in run.intervals.iter().zip(seconds).chain([middle]) {
                let tip = tip.as_array().unwrap();
                assert_eq!(tip[0], format!("{} s", interval.start_ns / 1_000_000_000), "{title}");
                for row in &tip[1..] {
                    is_of(row.as_str().unwrap(), title, interval);
                    rows += 1;
                }
            }
        }
        // Three quantiles, completions, cores, their limit, memory, two values.
        assert!(charts.len() >= 5 && rows >= 9 * 61, "{rows} rows of {:?}", charts.keys());
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
