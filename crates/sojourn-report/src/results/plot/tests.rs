//! Pages of known results.

use sojourn_record::results::Timestamp;

use super::*;

fn result<'a>(attack: &'a str, seq: u64, unix_ns: i64, error: &'a str) -> AttackResult<'a> {
    AttackResult {
        attack: attack.as_bytes(),
        seq,
        timestamp: Timestamp::utc(unix_ns),
        latency_ns: 1_500_000 + i64::try_from(seq).unwrap(),
        error: error.as_bytes(),
        ..AttackResult::default()
    }
}

/// The lines that the page gives its script.
fn lines(page: &str) -> serde_json::Value {
    let data = page.split("id=\"data\" type=\"application/json\">").nth(1).unwrap();
    serde_json::from_str(data.split("</script>").next().unwrap()).unwrap()
}

fn labels(page: &str) -> Vec<String> {
    let lines = lines(page);
    let lines = lines.as_array().unwrap().iter();
    lines.map(|line| line["label"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn each_attack_and_outcome_is_a_series_sorted_by_label() {
    let mut plot = Plot::new(4_000).unwrap();
    for (attack, error) in [("b", ""), ("a", "EOF"), ("a", ""), ("b", "")] {
        plot.add(0, &result(attack, 0, 5, error)).unwrap();
    }
    let page = plot.page("title", &["f"]).unwrap();
    assert_eq!(labels(&page), ["a: ERROR", "a: OK", "b: OK"]);
}

#[test]
fn a_missing_sequence_number_drops_nothing() {
    let mut plot = Plot::new(4_000).unwrap();
    for seq in [5, 0, 1, 3, 4, 9] {
        plot.add(0, &result("a", seq, i64::try_from(seq).unwrap() * 1_000_000_000, "")).unwrap();
    }
    let lines = lines(&plot.page("title", &["f"]).unwrap());
    assert_eq!(lines[0]["x"], serde_json::json!([0, 1000, 2000, 1000, 1000, 4000]));
    assert_eq!(lines[0]["y"][0], 1.5);
}

#[test]
fn the_same_name_in_two_files_is_two_attacks() {
    let names = |inputs: &[&str]| {
        let mut plot = Plot::new(0).unwrap();
        for (input, start) in [(0, 100), (1, 7_000_000_000_i64)] {
            for seq in 0..2 {
                let at = start + i64::try_from(seq).unwrap() * 1_000_000;
                plot.add(input, &result("a", seq, at, "")).unwrap();
            }
        }
        let page = plot.page("title", inputs).unwrap();
        // Each begins with its own first result.
        for line in lines(&page).as_array().unwrap() {
            assert_eq!(line["x"], serde_json::json!([0, 1]));
        }
        labels(&page)
    };
    assert_eq!(names(&["x.bin", "y.bin"]), ["a (x.bin): OK", "a (y.bin): OK"]);
    assert_eq!(names(&["x", "x"]), ["a (x, input 1): OK", "a (x, input 2): OK"]);
}

#[test]
fn attacks_without_a_name_bear_that_of_their_file_where_there_are_several() {
    let mut plot = Plot::new(0).unwrap();
    plot.add(0, &result("", 0, 5, "")).unwrap();
    assert_eq!(labels(&plot.page("title", &["x"]).unwrap()), ["OK"]);
    let mut plot = Plot::new(0).unwrap();
    plot.add(0, &result("", 0, 5, "")).unwrap();
    plot.add(1, &result("", 0, 5, "")).unwrap();
    assert_eq!(labels(&plot.page("title", &["x", "y"]).unwrap()), ["x: OK", "y: OK"]);
}

#[test]
fn thresholds_and_bounds_are_kept() {
    assert_eq!(Plot::new(2).unwrap_err(), PlotError::Threshold(2));
    let mut plot = Plot::new(100).unwrap();
    plot.points_max = 5_000;
    for seq in 0..20_000 {
        let at = i64::try_from(seq).unwrap() * 1_000_000;
        let slow = if seq == 7_777 { 1_000_000_000 } else { 0 };
        let result = result("a", seq, at, "");
        plot.add(0, &AttackResult { latency_ns: result.latency_ns + slow, ..result }).unwrap();
        assert!(plot.points < 5_000);
    }
    let page = plot.page("title", &["f"]).unwrap();
    let lines = lines(&page);
    let y = lines[0]["y"].as_array().unwrap();
    assert_eq!(y.len(), 100);
    assert!(y.iter().any(|y| y.as_f64() > Some(1_000.0)), "the peak is lost");
    assert!(page.contains("20,000"), "the table counts them all");
}

#[test]
fn too_many_attacks_are_refused() {
    let mut plot = Plot::new(0).unwrap();
    for index in 0..ATTACKS_MAX {
        plot.add(0, &result(&index.to_string(), 0, 5, "")).unwrap();
    }
    assert_eq!(plot.add(0, &result("another", 0, 5, "")), Err(PlotError::Attacks));
    assert_eq!(plot.add(0, &result("7", 0, 5, "")), Ok(()));
}

#[test]
fn foreign_text_is_text_and_nothing_is_loaded() {
    let evil = "</script><script>alert(1)</script>\" onload=\"alert(2)' &amp; {{ 123457*1001 }}";
    let mut plot = Plot::new(0).unwrap();
    plot.add(0, &result(evil, 0, 5, "")).unwrap();
    plot.add(1, &result(evil, 0, 5, evil)).unwrap();
    let page = plot.page(evil, &[evil, "x"]).unwrap();
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script").count(), 2);
    assert!(!page.contains(" onload=\"") && !page.contains("123580457"));
    for loading in [" src=", "url(", "@import", "<iframe", "<img", "fetch(", "import(", "://"] {
        assert!(!page.contains(loading), "{loading}");
    }
}

#[test]
fn results_without_a_time_are_counted_not_drawn() {
    let mut plot = Plot::new(0).unwrap();
    assert!(plot.is_empty());
    plot.add(0, &AttackResult::default()).unwrap();
    assert!(!plot.is_empty());
    let page = plot.page("title", &["f"]).unwrap();
    assert_eq!(lines(&page), serde_json::json!([]));
    assert!(page.contains("1 result without a time"));
}
