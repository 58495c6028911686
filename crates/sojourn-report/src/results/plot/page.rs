//! The HTML file: a table that needs no script, and the chart that the script draws.

use std::collections::BTreeMap;

use minijinja::{Value, context};
use serde::Serialize;
use sojourn_analysis::words;

use super::{Plot, downsample::downsample, series::Point};
use crate::render::{RenderError, html};

/// One line of the chart, for the script.
#[derive(Serialize)]
struct Line {
    label: String,
    is_error: bool,
    /// Its number among the successes or the errors: colour and dashes.
    style: usize,
    /// Milliseconds since the attack's first result, each as the difference to the one before.
    x: Vec<i64>,
    /// Latencies in milliseconds.
    y: Vec<f64>,
}

/// One line's row in the table.
#[derive(Serialize)]
struct Row {
    label: String,
    is_error: bool,
    style: usize,
    requests: String,
    drawn: String,
    /// 50th, 90th and 99th percentile, and the greatest latency.
    latencies: [String; 4],
}

/// Renders the page.
pub(super) fn page(plot: &mut Plot, title: &str, inputs: &[&str]) -> Result<String, RenderError> {
    let labels = labels(plot, inputs);
    let (mut lines, mut rows) = (Vec::new(), Vec::new());
    let mut order: Vec<usize> = (0..plot.attacks.len()).collect();
    order.sort_by(|a, b| labels[*a].cmp(&labels[*b]));
    let mut styles = [0; 2];
    // ERROR comes before OK, as in a list sorted by label.
    for (index, is_error) in order.into_iter().flat_map(|index| [(index, true), (index, false)]) {
        let attack = &mut plot.attacks[index];
        let starts = attack.outcomes.iter_mut();
        let start_ns =
            starts.filter_map(|outcome| Some(outcome.series.sorted().first()?.unix_ns)).min();
        let outcome = &mut attack.outcomes[usize::from(is_error)];
        let Some(start_ns) = start_ns.filter(|_| outcome.series.count() > 0) else { continue };
        let points = downsample(outcome.series.sorted(), plot.threshold);
        let style = styles[usize::from(is_error)];
        styles[usize::from(is_error)] += 1;
        let label = format!("{}{}", labels[index], if is_error { "ERROR" } else { "OK" });
        let quantile = |q| words::duration(outcome.digest.quantile(q).unwrap_or(0.0));
        let [p50, p90, p99] = [0.5, 0.9, 0.99].map(quantile);
        rows.push(Row {
            label: label.clone(),
            is_error,
            style,
            requests: words::count(outcome.series.count()),
            drawn: words::count(points.len() as u64),
            latencies: [p50, p90, p99, words::duration(outcome.max_ns as f64)],
        });
        lines.push(line(label, is_error, style, start_ns, &points));
    }
    let data = html::script_json(&serde_json::to_string(&lines)?);
    let mut environment = html::environment()?;
    environment.add_template("plot.html", include_str!("../../../assets/plot.html"))?;
    let asset = |text: &str| Value::from_safe_string(text.to_owned());
    Ok(environment.get_template("plot.html")?.render(context! {
        title,
        rows => html::serialised(&rows),
        untimed => plot.untimed,
        data => Value::from_safe_string(data),
        style => asset(include_str!("../../../assets/plot.css")),
        script => asset(include_str!("../../../assets/plot.js")),
    })?)
}

/// What each attack is called, with what goes between that and its outcome.
fn labels(plot: &Plot, inputs: &[&str]) -> Vec<String> {
    let mut namesakes: BTreeMap<&[u8], usize> = BTreeMap::new();
    for attack in &plot.attacks {
        *namesakes.entry(&attack.name).or_default() += 1;
    }
    let mut inputs_called: BTreeMap<&str, usize> = BTreeMap::new();
    for input in inputs {
        *inputs_called.entry(input).or_default() += 1;
    }
    let label = |attack: &super::Attack| {
        let name = String::from_utf8_lossy(&attack.name);
        if namesakes.get(attack.name.as_slice()) == Some(&1) {
            return if name.is_empty() { String::new() } else { format!("{name}: ") };
        }
        let input = inputs.get(attack.input).copied().unwrap_or_default();
        // The same file twice, or the same name in two folders, still is two inputs.
        let input = match inputs_called.get(input) {
            Some(1) => input.to_owned(),
            _ => format!("{input}, input {}", attack.input + 1),
        };
        if name.is_empty() { format!("{input}: ") } else { format!("{name} ({input}): ") }
    };
    plot.attacks.iter().map(label).collect()
}

fn line(label: String, is_error: bool, style: usize, start_ns: i64, points: &[Point]) -> Line {
    let mut before = 0;
    let x = points.iter().map(|point| {
        let ms = (point.unix_ns.saturating_sub(start_ns) + 500_000) / 1_000_000;
        let difference = ms - before;
        before = ms;
        difference
    });
    let y = points.iter().map(|point| short(point.latency_ns as f64 / 1e6));
    Line { label, is_error, style, x: x.collect(), y: y.collect() }
}

/// A number with five significant digits: more than can be seen, in few bytes.
fn short(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let places = 4 - value.abs().log10().floor() as i32;
    if places <= 0 {
        return value.round();
    }
    let scale = 10f64.powi(places);
    (value * scale).round() / scale
}
