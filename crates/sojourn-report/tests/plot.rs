//! The page of `plot` in a real browser: drawn, zoomed, switched, saved, without an error.

use sojourn_record::results::{AttackResult, Timestamp};
use sojourn_report::results::Plot;

use crate::browser::inspect;

const AFTER: &str = include_str!("plot.js");

/// Ten seconds of results: one a millisecond, a slow one each second, every tenth an error.
fn page(threshold: usize) -> String {
    let mut plot = Plot::new(threshold).expect("a threshold");
    for seq in 0..10_000u64 {
        let result = AttackResult {
            attack: b"checkout",
            seq,
            timestamp: Timestamp::utc(1_700_000_000_000_000_000 + seq as i64 * 1_000_000),
            latency_ns: if seq % 1_000 == 500 { 80_000_000 } else { 2_000_000 + seq as i64 * 100 },
            error: if seq % 10 == 0 { b"EOF" } else { b"" },
            ..AttackResult::default()
        };
        plot.add(0, &result).expect("one attack");
    }
    plot.page("Checkout & co", &["x.bin"]).expect("the template renders")
}

fn check(html: &str, width: u32) -> serde_json::Value {
    let (report, output) = inspect(html, AFTER, width);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(report["errors"], serde_json::json!([]), "at {width} px");
    assert!(!said.contains(":CONSOLE"), "the console is not empty: {said}");
    assert_eq!(report["overflow"], false, "the page is wider than {width} px");
    report
}

#[test]
fn the_chart_is_drawn_and_everything_on_it_works() {
    for (threshold, width) in [(4_000, 1280), (0, 1280), (4_000, 500)] {
        let report = check(&page(threshold), width);
        assert!(report["painted"].as_u64() > Some(3_000), "{report}");
        assert_eq!(report["legend"], serde_json::json!(["checkout: ERROR", "checkout: OK"]));
        let tip = report["tip"].as_str().unwrap_or_default();
        assert!(tip.starts_with("5.0") || tip.starts_with("4.9"), "{tip}");
        assert!(tip.contains("checkout: OK: ") && tip.contains(" at "), "{tip}");
        assert_eq!(report["whole"], "0.000 9.999");
        assert_eq!(report["brushed"], true);
        let zoomed = report["zoomed"].as_str().unwrap_or_default();
        let (low, high) = zoomed.split_once(' ').expect("two ends");
        let near = |text: &str, s: f64| (text.parse::<f64>().unwrap_or(-1.0) - s).abs() < 0.05;
        assert!(near(low, 2.5) && near(high, 5.0), "{zoomed}");
        assert_eq!(report["reset"], "0.000 9.999");
        assert_eq!(report["clicked"], "0.000 9.999", "a click is no zoom");
        assert!(report["said"].as_str().is_some_and(|said| said.contains("checkout: OK")));
        assert_ne!(report["nearer"], report["whole"]);
        assert_eq!(report["escaped"], "0.000 9.999");
        for works in ["linear", "themed", "empty"] {
            assert_eq!(report[works], true, "{works}: {report}");
        }
        assert_eq!(report["saved"], "Checkout-co.png image/png");
        assert_eq!(report["link"], "Checkout-co.png blob true");
    }
}

#[test]
fn a_single_result_and_none_at_all_have_a_page_without_errors() {
    let none = Plot::new(3).expect("a threshold").page("none", &[]).expect("the template renders");
    assert_eq!(check(&none, 1280)["hidden"], true);
    let mut plot = Plot::new(3).expect("a threshold");
    let result = AttackResult { timestamp: Timestamp::utc(5), ..AttackResult::default() };
    plot.add(0, &result).expect("one attack");
    let one = plot.page("one", &["x"]).expect("the template renders");
    let report = check(&one, 1280);
    assert_eq!(report["legend"], serde_json::json!(["OK"]));
    assert!(report["tip"].as_str().is_some_and(|tip| tip.contains("OK: 0 at 0.000 s")), "{report}");
}
