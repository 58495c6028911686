//! The terminal report.

use sojourn_report::{
    model::{AmendmentRow, KeptJourney},
    render,
};

use crate::payments;

/// Compares with a golden file. `UPDATE_GOLDEN=1 cargo test …` writes it anew.
pub(crate) fn check(name: &str, actual: &str) {
    let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, actual).expect("the golden file is writable");
    }
    let expected = std::fs::read_to_string(&path).expect("there is a golden file");
    assert!(actual == expected, "{name} differs; got:\n{actual}");
}

#[test]
fn a_payments_run() {
    check("payments.txt", &render::text(&payments::model(), false));
}

#[test]
fn an_empty_run_that_was_cut_off() {
    check("empty.txt", &render::text(&payments::empty(), false));
}

#[test]
fn no_line_is_wider_than_a_hundred_columns() {
    let mut model = payments::model();
    let journey = &mut model.journeys[0];
    journey.stages[0].name = "a stage with a very long name ".repeat(5);
    journey.steps[0].name = "x".repeat(150);
    journey.steps[0].statuses[0].status = "y".repeat(150);
    journey.stages[1].reached = 123_456_789;
    journey.kept[2].key = Some("k".repeat(300));
    model.ledger.journeys[0].name = "z".repeat(150);
    for line in render::text(&model, false).lines() {
        assert!(line.chars().count() <= 100, "{} columns: {line}", line.chars().count());
    }
}

#[test]
fn the_plan_is_whole_at_the_end_however_long() {
    let mut model = payments::model();
    let long = format!("  body: '{}'", "x".repeat(200));
    let lines: Vec<String> = (0..100).map(|n| format!("line{n}:\tvalue")).chain([long]).collect();
    model.identity.plan = format!("{}\n", lines.join("\n"));
    let text = render::text(&model, false);
    let (_, plan) = text.split_once("\nPLAN (").expect("a heading");
    let shown: Vec<&str> = plan.lines().skip(1).map(|line| &line[2..]).collect();
    assert_eq!(shown, lines);
    model.identity.plan = "\u{1b}[2J\u{202e}".into();
    assert!(render::text(&model, false).ends_with("  \u{fffd}[2J\u{fffd}\n"));
}

#[test]
fn a_changed_rate_stands_beside_the_load_as_declared() {
    let mut model = payments::model();
    model.identity.amendments = vec![
        AmendmentRow { from_ns: 12_500_000_000, rate_factor: 1.5, by: "keys".into() },
        AmendmentRow { from_ns: 20_000_000_000, rate_factor: 0.0, by: "\u{1b}[2J<b>".into() },
    ];
    let text = render::text(&model, false);
    let said = "drain 30 s\nload 1.50 × the declared rate from 12.5 s on, asked by keys\n\
                load paused from 20.0 s on, asked by \u{fffd}[2J<b>\n";
    assert!(text.contains(said), "{text}");
    let html = render::html(&model).unwrap();
    assert!(
        html.contains("1.50 × the declared rate from 12.5 s on")
            && !html.contains("by \u{1b}[2J<b>")
    );
}

#[test]
fn a_polled_stage_says_what_looking_at_it_cost() {
    let mut model = payments::model();
    model.journeys[0].stages[2].poll_ns = Some(500_000_000);
    model.journeys[0].stages[2].poll_requests = Some(12_345);
    let text = render::text(&model, false);
    let line = "  polls     settled: 12,345 requests of its own, not part of the load; reading \
                error ± 500 ms\n";
    assert!(text.contains(line), "{text}");
    model.journeys[0].stages[2].poll_waited_ns = model.journeys[0].steps[0].response_ns.all;
    let text = render::text(&model, false);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = "error ± 500 ms; 3,000 of them waited for the budget, p50 2.18 ms · p99 19.2 ms · \
                max 62.0 ms";
    assert!(text.contains(line), "{text}");
}

#[test]
fn foreign_text_can_not_paint_the_terminal() {
    let mut model = payments::model();
    model.identity.name = "\u{1b}[2J".into();
    model.journeys[0].kept.push(KeptJourney {
        role: "lost".into(),
        key: Some("\u{1b}]0;title\u{7}\n\rx".into()),
        ..KeptJourney::default()
    });
    assert!(!render::text(&model, false).contains(['\u{1b}', '\u{7}', '\r']));
    let coloured = render::text(&model, true);
    assert!(coloured.contains("\u{1b}[1;31m✗ FAIL\u{1b}[0m"));
    assert!(!coloured.contains("\u{1b}[2J"));
}

#[test]
fn json_has_its_version_and_every_part() {
    let json = render::json(&payments::model()).expect("serialisable");
    for part in [
        "\"schema\": 1",
        "\"identity\"",
        "\"verdict\"",
        "\"thresholds\"",
        "\"health\"",
        "\"ledger\"",
        "\"conclusions\"",
        "\"journeys\"",
        "\"notes\"",
        "\"outcome\": \"fail\"",
    ] {
        assert!(json.contains(part), "{part}");
    }
}
