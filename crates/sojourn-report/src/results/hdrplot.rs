//! Quantiles as the plotters of HDR histograms take them.

use std::fmt::Write;

use super::{Metrics, layout::columns, run_report::Time};

/// The quantiles that are printed.
const QUANTILES: [f64; 93] = [
    0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.775, 0.8, 0.825, 0.85, 0.875,
    0.8875, 0.9, 0.9125, 0.925, 0.9375, 0.94375, 0.95, 0.95625, 0.9625, 0.96875, 0.971875, 0.975,
    0.978125, 0.98125, 0.984375, 0.985938, 0.9875, 0.989062, 0.990625, 0.992188, 0.992969, 0.99375,
    0.994531, 0.995313, 0.996094, 0.996484, 0.996875, 0.997266, 0.997656, 0.998047, 0.998242,
    0.998437, 0.998633, 0.998828, 0.999023, 0.999121, 0.999219, 0.999316, 0.999414, 0.999512,
    0.999561, 0.999609, 0.999658, 0.999707, 0.999756, 0.99978, 0.999805, 0.999829, 0.999854,
    0.999878, 0.99989, 0.999902, 0.999915, 0.999927, 0.999939, 0.999945, 0.999951, 0.999957,
    0.999963, 0.999969, 0.999973, 0.999976, 0.999979, 0.999982, 0.999985, 0.999986, 0.999988,
    0.999989, 0.999991, 0.999992, 0.999993, 0.999994, 0.999995, 0.999996, 0.999997, 0.999998,
    0.999999,
];

/// One over a tail of nothing.
const NO_TAIL: f64 = 10_000_000.0;

/// The layout for several times, the first one's value in front and the others' behind.
pub(super) fn print_times(times: &[Time; 4]) -> String {
    let [first, others @ ..] = times;
    let requests = first.histogram.count() as f64;
    let heads = ["Value(ms)", "Percentile", "TotalCount", "1/(1-Percentile)"];
    let mut rows: Vec<[String; 7]> = Vec::new();
    let behind = others.each_ref().map(|time| format!("{}(ms)", time.name));
    rows.push(row(heads.map(str::to_owned), behind));
    for q in QUANTILES.into_iter().chain([1.0]) {
        let behind = others.each_ref().map(|time| milliseconds(time.quantile_ns(q)));
        rows.push(row(line(milliseconds(first.quantile_ns(q)), q, requests), behind));
    }
    columns(&rows).map(|line| line.trim_end().to_owned() + "\n").collect()
}

fn row(front: [String; 4], behind: [String; 3]) -> [String; 7] {
    let ([a, b, c, d], [e, f, g]) = (front, behind);
    [a, b, c, d, e, f, g]
}

fn milliseconds(ns: i64) -> String {
    format!("{:.6}", ns as f64 / 1e6)
}

/// The cells of a quantile.
fn line(value: String, q: f64, requests: f64) -> [String; 4] {
    let tail = if q < 1.0 { 1.0 / (1.0 - q) } else { NO_TAIL };
    [value, format!("{q:.6}"), format!("{}", (q * requests + 0.5) as u64), format!("{tail:.6}")]
}

/// The layout.
pub(super) fn print(metrics: &mut Metrics) -> String {
    let requests = metrics.requests() as f64;
    let heads = ["Value(ms)", "Percentile", "TotalCount", "1/(1-Percentile)"];
    let mut rows = vec![heads.map(str::to_owned)];
    for q in QUANTILES.into_iter().chain([1.0]) {
        rows.push(line(milliseconds(metrics.quantile_ns(q)), q, requests));
    }
    let mut out = String::new();
    for line in columns(&rows) {
        // A String takes whatever is written to it.
        let _written = writeln!(out, "{line}");
    }
    out
}
