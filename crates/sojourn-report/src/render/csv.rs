//! A run's seconds as CSV (RFC 4180): one line for each second and series that something was
//! written to in it, for spreadsheets and data frames.
//!
//! The figures of a line are those of its second alone, made of the second's merged samples.
//! Columns end in their unit; `last`, `min`, `mean` and `max` without one are of series whose own
//! name says it (`step.received_bytes`, `journeys.oldest_age_ms`). docs/reports.md has the list.

use std::io::Write;

use csv::Writer;
use sojourn_metrics::{Figure, SeriesKey, names};
use sojourn_record::{Interval, RunFile};

use super::{
    RenderError,
    intervals::{for_each, is_time, phase, tag_value},
};
use crate::build::rfc3339;

/// The header.
const COLUMNS: [&str; 22] = [
    "start_s", "end_s", "time", "metric", "phase", "journey", "stage", "step", "tags", "count",
    "per_s", "min_ns", "mean_ns", "p50_ns", "p90_ns", "p95_ns", "p99_ns", "max_ns", "last", "min",
    "mean", "max",
];
/// Columns that say which series it is and when.
const NAMES: usize = 9;

pub(super) fn report(run: &RunFile, out: &mut dyn Write) -> Result<(), RenderError> {
    let mut writer = Writer::from_writer(out);
    writer.write_record(COLUMNS)?;
    for_each(run, |interval, store| {
        for (key, figure) in store.figures().filter(|(_, figure)| !figure.is_empty()) {
            writer.write_record(line(run, interval, key, figure))?;
        }
        Ok(())
    })?;
    writer.flush().map_err(|error| RenderError::Csv(error.into()))
}

fn line(run: &RunFile, interval: &Interval, key: &SeriesKey, figure: &Figure) -> Vec<String> {
    let tag = |name| key.tag(name).unwrap_or_default().to_owned();
    let others = key
        .tags
        .iter()
        .filter(|(name, _)| !matches!(name.as_str(), names::JOURNEY | names::STAGE | names::STEP));
    let others: Vec<String> =
        others.map(|(name, value)| format!("{name}={}", tag_value(value))).collect();
    let mut cells = vec![
        seconds(interval.start_ns),
        seconds(interval.end_ns),
        rfc3339(run.identity.start_unix_ns.saturating_add(interval.start_ns)),
        key.metric.clone(),
        phase(key.phase).to_owned(),
        tag(names::JOURNEY),
        tag(names::STAGE),
        tag(names::STEP),
        others.join(";"),
    ];
    debug_assert_eq!(cells.len(), NAMES, "a cell for each name");
    let length_s = interval.end_ns.saturating_sub(interval.start_ns) as f64 / 1e9;
    cells.extend(figures(&key.metric, figure, length_s));
    cells
}

/// The cells after the names.
fn figures(metric: &str, figure: &Figure, length_s: f64) -> [String; COLUMNS.len() - NAMES] {
    let mut cells = [const { String::new() }; COLUMNS.len() - NAMES];
    let mut put = |column: &str, value: String| {
        let at = COLUMNS.iter().position(|name| *name == column);
        if let Some(cell) = at.and_then(|at| cells.get_mut(at - NAMES)) {
            *cell = value;
        }
    };
    let counted = |put: &mut dyn FnMut(&str, String), count: u64| {
        put("count", count.to_string());
        if length_s > 0.0 {
            put("per_s", (count as f64 / length_s).to_string());
        }
    };
    match figure {
        Figure::Counter(count) => counted(&mut put, *count),
        Figure::Rate { yes, no } => {
            let all = yes.saturating_add(*no);
            counted(&mut put, all);
            put("mean", (*yes as f64 / all as f64).to_string());
        }
        Figure::Gauge(levels) => {
            if let Some((last, min, max)) = levels.total() {
                put("last", last.to_string());
                put("min", min.to_string());
                put("max", max.to_string());
            }
        }
        Figure::Trend(histogram) => {
            let totals = histogram.totals();
            counted(&mut put, totals.count);
            let mean = histogram.mean().map_or_else(String::new, |mean| mean.to_string());
            if !is_time(metric) {
                put("min", totals.min.to_string());
                put("mean", mean);
                put("max", totals.max.to_string());
                return cells;
            }
            put("min_ns", totals.min.to_string());
            put("mean_ns", mean);
            for (column, q) in
                [("p50_ns", 0.5), ("p90_ns", 0.9), ("p95_ns", 0.95), ("p99_ns", 0.99)]
            {
                let quantile = histogram.quantile(q);
                put(column, quantile.map_or_else(String::new, |value| value.to_string()));
            }
            put("max_ns", totals.max.to_string());
        }
    }
    cells
}

/// An instant relative to the run's start, in seconds, exact to the nanosecond.
fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}
