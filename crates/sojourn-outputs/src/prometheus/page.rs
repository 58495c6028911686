//! A frame as OpenMetrics text (the exposition format 1.0.0, which Prometheus reads).

use std::fmt::Write;

use super::samples::samples;
use crate::{
    frame::{Frame, Point, Value},
    names::Unit,
    target::Run,
};

/// The text.
pub(crate) fn page(frame: &Frame, run: &Run) -> String {
    let mut out = String::new();
    let mut family = "";
    for point in &frame.points {
        let name = point.series.exported.name.as_str();
        if name != family {
            head(&mut out, point);
            family = name;
        }
        lines(&mut out, point, run);
    }
    out.push_str("# EOF\n");
    out
}

fn head(out: &mut String, point: &Point) {
    let exported = &point.series.exported;
    let (kind, name) = match &point.value {
        // A family's name is without what its samples' names end in.
        Value::Count { .. } => ("counter", exported.name.trim_end_matches("_total")),
        Value::Level(_) => ("gauge", exported.name.as_str()),
        Value::Spread { .. } => ("histogram", exported.name.as_str()),
    };
    // Writing to a string cannot fail.
    let _ignored = writeln!(out, "# TYPE {name} {kind}");
    match exported.unit {
        Unit::Seconds => drop(writeln!(out, "# UNIT {name} seconds")),
        Unit::Bytes => drop(writeln!(out, "# UNIT {name} bytes")),
        Unit::None => {}
    }
}

fn lines(out: &mut String, point: &Point, run: &Run) {
    let series = &point.series;
    let mut labels = format!("plan=\"{}\",run=\"{}\"", escaped(&run.plan), escaped(&run.id));
    for (name, value) in &series.labels {
        let _ignored = write!(labels, ",{name}=\"{}\"", escaped(value));
    }
    for sample in samples(point) {
        let (name, suffix, value) = (&series.exported.name, sample.suffix, sample.value);
        let le = sample.le.map(|le| format!(",le=\"{le}\"")).unwrap_or_default();
        let _ignored = writeln!(out, "{name}{suffix}{{{labels}{le}}} {value:?}");
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
