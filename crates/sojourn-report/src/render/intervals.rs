//! What the reports of single seconds share: a run file's seconds, with all their samples.

use sojourn_metrics::{SeriesPhase, Store, names};
use sojourn_record::{Interval, RunFile};

use super::RenderError;

/// Calls `each` for every second in order, with its samples, read one after the other: memory does
/// not grow with the run.
pub(super) fn for_each(
    run: &RunFile,
    mut each: impl FnMut(&Interval, &Store) -> Result<(), RenderError>,
) -> Result<(), RenderError> {
    for (index, interval) in run.intervals.iter().enumerate() {
        each(interval, &run.delta(index)?)?;
    }
    Ok(())
}

/// Whether a trend's samples are times, in nanoseconds. The others say their unit in their names.
pub(super) fn is_time(metric: &str) -> bool {
    !(metric.ends_with("_bytes") || metric == names::ANSWERS_PER_SECOND)
}

/// A phase in a word.
pub(super) fn phase(phase: SeriesPhase) -> &'static str {
    match phase {
        SeriesPhase::WarmUp => "warm-up",
        SeriesPhase::Steady => "steady",
        SeriesPhase::Any => "any",
    }
}

/// A tag's value that stands in a list of `name=value;name=value`: percent-encoded as in URLs where
/// it has a character that the list, or the line around it, gives a meaning.
pub(super) fn tag_value(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        let is_plain = !(c.is_whitespace() || c.is_control() || matches!(c, '%' | ',' | ';' | '='));
        if is_plain {
            out.push(c);
            continue;
        }
        for byte in c.encode_utf8(&mut [0; 4]).bytes() {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
