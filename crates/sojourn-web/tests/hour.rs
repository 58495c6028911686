//! An hour of a hundred lines, used by a real pointer: how long until what was done is seen.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    common::{Site, frame},
    look::look,
};

/// With these every chart of stages has a third of a hundred lines.
const STAGES: usize = 31;

/// What was measured.
#[derive(Debug)]
pub(crate) struct Hour {
    pub(crate) lines: u64,
    /// From an event until the next frame is painted, milliseconds, by what was done: the pointer
    /// moves while it drags, a zoom by it, back to the whole, a line switched off in the legend.
    pub(crate) medians_ms: BTreeMap<String, f64>,
}

/// Shows an hour and has a browser use it.
pub(crate) fn measure() -> Hour {
    let site = Site::with(1);
    for second in 1..=3_600 {
        site.dashboard.show(&frame(second, STAGES));
    }
    let look = look(&site.dashboard.link(), "quick", site.folder.path());
    assert_eq!(look["did"], true, "not everything did what it is there for: {look}");
    assert_eq!(look["errors"], serde_json::json!([]));
    let times = look["times"].as_object().unwrap();
    Hour {
        lines: look["lines"].as_u64().unwrap(),
        medians_ms: times.iter().map(|(what, times)| (what.clone(), median(times))).collect(),
    }
}

fn median(times: &Value) -> f64 {
    let times = times.as_array().unwrap().iter();
    let mut times: Vec<f64> = times.map(|time| time.as_f64().unwrap()).collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
