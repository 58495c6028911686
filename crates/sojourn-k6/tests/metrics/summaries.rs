//! Summaries as text.

use std::path::Path;

use sojourn_k6::summary::{Mode, Source, TimeUnit, TrendStat, text};
use sojourn_k6::thresholds::Moment;

use super::golden::{Run, elapsed_ns, folders, json, text as read};

/// The text of a folder's run by our own account of its samples.
fn compare(kind: &str, unit: Option<TimeUnit>, write: impl Fn(&Source<'_>) -> String) {
    for folder in folders(kind) {
        let mut run = Run::read(&folder);
        let elapsed_ns = elapsed_ns(&json(&folder, "export.json"));
        run.thresholds.evaluate(&run.totals, elapsed_ns, Moment::End);
        let stats = run.trend_stats();
        let source = Source {
            registry: &run.registry,
            totals: &run.totals,
            thresholds: &run.thresholds,
            elapsed_ns,
            trend_stats: &stats,
            time_unit: unit,
        };
        let (found, expected) = (write(&source), read(&folder, "summary.txt"));
        assert_text(&found, &expected, &folder);
    }
}

/// Names the first line that differs.
fn assert_text(found: &str, expected: &str, folder: &Path) {
    for (at, (line, other)) in found.lines().zip(expected.lines()).enumerate() {
        assert_eq!(line, other, "{}, line {}", folder.display(), at + 1);
    }
    assert!(found == expected, "{}: other ends", folder.display());
}

#[test]
fn compact_texts_are_k6s() {
    compare("compact", None, |source| text(source, Mode::Compact, false));
}

#[test]
fn full_texts_are_k6s() {
    compare("full", None, |source| text(source, Mode::Full, false));
}

#[test]
fn coloured_texts_are_k6s() {
    compare("full-colour", None, |source| text(source, Mode::Full, true));
}

#[test]
fn texts_in_one_unit_are_k6s() {
    for (word, unit) in
        [("s", TimeUnit::Seconds), ("ms", TimeUnit::Milliseconds), ("us", TimeUnit::Microseconds)]
    {
        let kind = format!("unit_{word}");
        compare(&kind, Some(unit), |source| text(source, Mode::Compact, false));
    }
}
