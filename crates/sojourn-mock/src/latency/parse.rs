//! Laws as people write them: `700ms`, `uniform(10ms, 50ms)`, `lognormal(p50=80ms, p99=600ms)`.

use std::path::Path;
use std::sync::Arc;

use sojourn_plan::reading::{duration_ns, suggestion};

use super::{Latency, RunFiles, Table, recorded};

/// The forms there are, for messages.
const FORMS: &str = "such as `700ms`, `uniform(10ms, 50ms)`, `normal(100ms, 20ms)`, `exp(20ms)`, \
                     `lognormal(p50=80ms, p99=600ms)`, `percentiles(p50=20ms, p99=300ms)` or \
                     `recorded(run.sojourn)`";
const LAWS: [&str; 6] = ["exp", "lognormal", "normal", "percentiles", "recorded", "uniform"];

/// Why text is no law.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LatencyError {
    /// The part of the text that is wrong.
    pub part: String,
    /// Lower-case fragment.
    pub message: String,
    /// What to write.
    pub hint: Option<String>,
}

/// Reads a law. Run files that it names are looked for among `runs`.
///
/// # Errors
/// What is wrong, with the part of the text that is.
pub fn read_latency(text: &str, runs: &RunFiles) -> Result<Latency, LatencyError> {
    let text = text.trim();
    let Some((name, rest)) = text.split_once('(') else {
        return match duration_ns(text) {
            Ok(ns) => Ok(Latency::Fixed(ns)),
            Err(message) => Err(wrong(text, message, Some(FORMS.to_owned()))),
        };
    };
    let name = name.trim();
    let Some(inside) = rest.strip_suffix(')') else {
        let message = format!("`{text}` lacks its closing parenthesis");
        return Err(wrong(text, message, Some(FORMS.to_owned())));
    };
    let arguments: Vec<(&str, &str)> = inside
        .split(',')
        .map(str::trim)
        .filter(|argument| !argument.is_empty())
        .map(|argument| match argument.split_once('=') {
            Some((key, value)) => (key.trim(), value.trim()),
            None => ("", argument),
        })
        .collect();
    match name {
        "exp" | "exponential" => exponential(text, &arguments),
        "fixed" => {
            let [ns] = durations(text, &arguments, [&[""]], "write `fixed(20ms)` or `20ms`")?;
            Ok(Latency::Fixed(ns as u64))
        }
        "lognormal" => log_normal(text, &arguments),
        "normal" => {
            let names: [&[&str]; 2] = [&["", "mean"], &["", "deviation"]];
            let hint = "write `normal(100ms, 20ms)`: mean and standard deviation";
            let [mean_ns, deviation_ns] = durations(text, &arguments, names, hint)?;
            Ok(Latency::Normal { mean_ns, deviation_ns })
        }
        "percentiles" => percentiles(text, &arguments),
        "recorded" => from_file(text, &arguments, runs),
        "uniform" => {
            let names: [&[&str]; 2] = [&["", "low"], &["", "high"]];
            let hint = "write `uniform(10ms, 50ms)`, the shorter first";
            let [low_ns, high_ns] = durations(text, &arguments, names, hint)?;
            if low_ns > high_ns {
                return Err(wrong(text, format!("`{text}` has no value"), Some(hint.to_owned())));
            }
            Ok(Latency::Uniform { low_ns, high_ns })
        }
        other => {
            let message = format!("there is no law `{other}`");
            Err(wrong(other, message, suggestion(other, LAWS)))
        }
    }
}

fn exponential(text: &str, arguments: &[(&str, &str)]) -> Result<Latency, LatencyError> {
    let hint = "write `exp(20ms)`: the mean";
    let [mean_ns] = durations(text, arguments, [&["", "mean"]], hint)?;
    Ok(Latency::Exponential { mean_ns })
}

fn log_normal(text: &str, arguments: &[(&str, &str)]) -> Result<Latency, LatencyError> {
    let names: [&[&str]; 2] = [&["", "p50", "median"], &["", "p99"]];
    let hint = "write `lognormal(p50=80ms, p99=600ms)`, both above zero";
    let [p50_ns, p99_ns] = durations(text, arguments, names, hint)?;
    if p50_ns > p99_ns || (p50_ns == 0.0 && p99_ns > 0.0) {
        let message = format!("`{text}` is no log-normal law");
        return Err(wrong(text, message, Some(hint.to_owned())));
    }
    Ok(Latency::LogNormal { p50_ns, p99_ns })
}

fn percentiles(text: &str, arguments: &[(&str, &str)]) -> Result<Latency, LatencyError> {
    let hint = "write `percentiles(min=5ms, p50=20ms, p99=300ms, max=1s)`, ascending";
    let mut points = Vec::new();
    for (key, value) in arguments {
        let share = match *key {
            "min" => Some(0.0),
            "max" => Some(1.0),
            key => key
                .strip_prefix('p')
                .and_then(|number| number.parse::<f64>().ok())
                .map(|percent| percent / 100.0)
                .filter(|share| (0.0..=1.0).contains(share)),
        };
        let Some(share) = share else {
            let part = if key.is_empty() { value } else { key };
            let message = format!("`{part}` is no percentile");
            return Err(wrong(part, message, Some(hint.to_owned())));
        };
        points.push((share, duration(value)?));
    }
    match Table::new(points) {
        Some(table) => Ok(Latency::Table(Arc::new(table))),
        None => {
            let message = format!("`{text}` does not ascend");
            Err(wrong(text, message, Some(hint.to_owned())))
        }
    }
}

fn from_file(
    text: &str,
    arguments: &[(&str, &str)],
    runs: &RunFiles,
) -> Result<Latency, LatencyError> {
    let (path, step) = match arguments {
        [("" | "file", path)] => (path, None),
        [("" | "file", path), ("step", step)] => (path, Some(*step)),
        _ => {
            let hint = "write `recorded(run.sojourn)` or `recorded(run.sojourn, step=pay)`";
            let message = format!("`{text}` names no run file");
            return Err(wrong(text, message, Some(hint.to_owned())));
        }
    };
    recorded(&runs.find(Path::new(path)), step).map_err(|message| {
        wrong(path, message, Some("run files are what `sojourn run` writes".to_owned()))
    })
}

/// Exactly these arguments, in order, each under one of its names; nanoseconds.
fn durations<const N: usize>(
    text: &str,
    arguments: &[(&str, &str)],
    names: [&[&str]; N],
    hint: &str,
) -> Result<[f64; N], LatencyError> {
    let mut values = [0.0; N];
    if arguments.len() != N {
        let message = format!("`{text}` takes other values");
        return Err(wrong(text, message, Some(hint.to_owned())));
    }
    for (at, (key, value)) in arguments.iter().enumerate() {
        if !names[at].contains(key) {
            let message = format!("`{key}` does not belong here");
            return Err(wrong(key, message, Some(hint.to_owned())));
        }
        values[at] = duration(value)?;
    }
    Ok(values)
}

fn duration(text: &str) -> Result<f64, LatencyError> {
    let hint = "a duration is a number and a unit: `500us`, `20ms`, `1.5s`";
    duration_ns(text)
        .map(|ns| ns as f64)
        .map_err(|message| wrong(text, message, Some(hint.to_owned())))
}

fn wrong(part: &str, message: String, hint: Option<String>) -> LatencyError {
    LatencyError { part: part.to_owned(), message, hint }
}
