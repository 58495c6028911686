//! The plan's thresholds as they stand.

use sojourn_analysis::measured;
use sojourn_metrics::{Store, Threshold, ThresholdContext};

use super::{ThresholdFrame, ThresholdState};

/// Each threshold held against the run so far. `within_ns` is a journey's deadline by its name.
pub(super) fn thresholds(
    all: &[Threshold],
    store: &Store,
    context: &ThresholdContext,
    within_ns: impl Fn(&str) -> Option<u64>,
) -> Vec<ThresholdFrame> {
    let frame = |threshold: &Threshold| {
        let outcome = threshold.evaluate(store, context);
        let state = match (outcome.measured, outcome.held) {
            (None, _) => ThresholdState::NoneYet,
            (Some(_), true) => ThresholdState::Holds,
            (Some(_), false) => ThresholdState::Fails,
        };
        let measured_text = match state {
            ThresholdState::NoneYet => "nothing yet".to_owned(),
            _ => measured::words(threshold, outcome.measured, &within_ns),
        };
        let measured = outcome.measured.filter(|figure| figure.is_finite());
        ThresholdFrame { text: threshold.text.clone(), state, measured, measured_text }
    };
    all.iter().map(frame).collect()
}
