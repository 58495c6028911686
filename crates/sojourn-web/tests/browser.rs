//! The dashboard in a real browser: what it shows, that it works, that it asks nobody else, and
//! that rules of accessibility hold. Needs Chromium and Playwright, and fails without them.

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use serde_json::Value;
use sojourn_live::frame::Frame;

use crate::{
    common::{Site, frame},
    hour,
    look::look,
};

/// Where pictures go: to the folder named in the environment, to be kept, or to a temporary one.
fn pictures(folder: &Path) -> std::path::PathBuf {
    std::env::var_os("SOJOURN_PICTURES").map_or_else(|| folder.to_owned(), Into::into)
}

fn is_clean(look: &Value) {
    for what in ["errors", "elsewhere", "violations"] {
        assert_eq!(
            look[what],
            serde_json::json!([]),
            "{what} at {} {}",
            look["width"],
            look["scheme"]
        );
    }
}

#[test]
fn a_run_is_shown_as_it_goes_on() {
    let site = Site::with(1);
    for second in 1..=120 {
        site.dashboard.show(&frame(second, 4));
    }
    let looks = look(&site.dashboard.link(), "live", &pictures(site.folder.path()));
    let looks = looks.as_array().unwrap();
    assert_eq!(looks.len(), 3);
    for look in looks {
        is_clean(look);
        assert_eq!(look["wider"], false, "at {}", look["width"]);
        assert_eq!(look["name"], "payments");
        let charts = look["charts"].as_array().unwrap();
        let chart = |name: &str| charts.iter().find(|chart| chart["chart"] == name).unwrap();
        assert_eq!(charts.len(), 9, "{charts:?}");
        assert!(charts.iter().all(|chart| chart["painted"].as_u64() > Some(500)), "{charts:?}");
        assert!(charts.iter().all(|chart| chart["fits"] == true), "{charts:?}");
        let places = |when: &str| look[when].as_array().unwrap().clone();
        // Two windows are wide enough for a pointer.
        let tips = usize::from(look["width"] == 1280);
        for when in ["tips_before", "tips_after"] {
            assert_eq!(places(when), vec![Value::from(true); tips], "{look}");
        }
        assert_eq!(look["tip_after"], look["tip"], "{look}");
        // Second 120: 120 % 5 = 0 fewer than asked; hops 5 + 2 + 120 % 11 = 17 ms, p99 three times.
        assert_eq!(chart("rate")["legend"]["delivered"], "100/s");
        assert_eq!(chart("hop_p99")["legend"]["stage-2"], "51.0 ms");
        assert_eq!(chart("waiting")["legend"]["stage-3"], "4");
        let flow = look["flow"].as_str().unwrap();
        assert!(flow.contains("stage-1: 99/s, 2 waiting, median hop 16.0 ms"), "{flow}");
        assert!(look["thresholds"].as_str().unwrap().contains("✗ fails"));
        assert!(look["news"].as_str().unwrap().contains("not seen at stage-1 (3 ×)"));
        assert!(look["tiles"].as_str().unwrap().contains("12,000"), "{}", look["tiles"]);
    }
    assert!(looks[0]["tip"].as_str().unwrap().contains("delivered: "), "{}", looks[0]["tip"]);
}

#[test]
fn rows_and_what_is_chosen_of_them_stay_from_second_to_second() {
    let site = Site::with(1);
    let is_seen = AtomicBool::new(false);
    let look = std::thread::scope(|scope| {
        scope.spawn(|| {
            let of = |second| Frame { of: "run 2 of 3".into(), ..frame(second, 2) };
            for second in (1..).take_while(|_| !is_seen.load(Ordering::Relaxed)) {
                site.dashboard.show(&of(second));
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        let link = site.dashboard.link();
        // Whatever becomes of it, the frames end.
        let look = std::panic::catch_unwind(|| look(&link, "stays", Path::new("")));
        is_seen.store(true, Ordering::Relaxed);
        look.unwrap()
    });
    assert_eq!(look["errors"], serde_json::json!([]));
    assert_eq!(look["name"], "payments · run 2 of 3");
    // Eight tiles, two thresholds, a step.
    assert_eq!((&look["rows"], &look["marked"]), (&11.into(), &11.into()), "{look}");
    let chosen = look["chosen"].as_str().unwrap();
    assert!(chosen.contains("150 ms") && chosen.trim_end().ends_with('3'), "{chosen:?}");
}

#[test]
fn runs_are_listed_compared_and_reported() {
    let site = Site::with(3);
    let looks = look(&site.dashboard.link(), "runs", &pictures(site.folder.path()));
    let looks = looks.as_array().unwrap();
    assert_eq!(looks.len(), 3);
    for look in looks {
        is_clean(look);
        assert_eq!(look["wider"], false, "at {} {}", look["width"], look["scheme"]);
        assert!(look["compared"].as_str().unwrap().contains("payments"), "{look}");
        let rows = look["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 3);
        // The latest first: a minute apart.
        for (row, start) in rows.iter().zip(["14:15:20", "14:14:20", "14:13:20"]) {
            let row = row.as_str().unwrap();
            assert!(row.contains(start) && row.contains("1,200"), "{row}");
        }
        assert!(look["report"].as_str().unwrap().contains("payments"), "{look}");
    }
}

#[test]
fn the_report_so_far_has_the_journeys_that_were_kept() {
    let site = Site::with(1);
    site.dashboard.show(&frame(1, 2));
    let look = look(&site.dashboard.link(), "so_far", &pictures(site.folder.path()));
    assert_eq!(look["errors"], serde_json::json!([]));
    assert_eq!(look["elsewhere"], serde_json::json!([]));
    assert!(look["shown"].as_str().unwrap().contains("payments"), "{look}");
    assert_eq!(look["kept"], 1, "{look}");
}

#[test]
fn an_hour_of_a_hundred_lines_is_quick() {
    let hour = hour::measure();
    eprintln!("an hour of {} lines: {hour:?}", hour.lines);
    assert!(hour.lines >= 100, "{hour:?}");
    // How quick is for `cargo xtask bench live` to say; here only that nobody thinks it is stuck.
    for (what, ms) in &hour.medians_ms {
        assert!((0.1..2_000.0).contains(ms), "{what}: {hour:?}");
    }
}
