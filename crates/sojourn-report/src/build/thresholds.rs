//! Thresholds in words.

use sojourn_analysis::measured;
use sojourn_record::RunFile;

use crate::model::ThresholdRow;

pub(super) fn rows(run: &RunFile) -> Vec<ThresholdRow> {
    let outcomes = run.summary.iter().flat_map(|summary| &summary.thresholds);
    let within_ns = |name: &str| {
        let shape = run.identity.journeys.iter().find(|shape| shape.name == name);
        shape.map(|shape| shape.within_ns)
    };
    outcomes
        .map(|outcome| ThresholdRow {
            text: outcome.threshold.text.clone(),
            measured: outcome.measured.filter(|measured| measured.is_finite()),
            measured_text: measured::words(&outcome.threshold, outcome.measured, within_ns),
            held: outcome.held,
            abort: outcome.threshold.abort,
        })
        .collect()
}
