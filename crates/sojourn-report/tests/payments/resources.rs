//! What the payments' own processes used, as it was read beside the load.

use sojourn_analysis::resources::{self, ResourceSecond};
use sojourn_report::model::{ResourceReport, Values};

use super::simulation::{RATE, STEADY_S, WARM_UP_S};

/// What the payments' own processes used.
pub(super) fn reports() -> Vec<ResourceReport> {
    let seconds: Vec<ResourceSecond> = (WARM_UP_S as u64..(WARM_UP_S + STEADY_S) as u64)
        .map(|second| ResourceSecond {
            start_ns: second * 1_000_000_000,
            end_ns: (second + 1) * 1_000_000_000,
            cores: Some(0.4 + 0.1 * (second % 3) as f64),
            machine_cores: Some(4.0),
            memory_bytes: Some(1.2e8 + 1e5 * second as f64),
            completed: RATE as u64,
            ..ResourceSecond::default()
        })
        .collect();
    let api = ResourceReport {
        name: "payments-api".into(),
        what: "process 4711".into(),
        processor: resources::processor(&seconds),
        memory: resources::memory(&seconds),
        descriptors_max: Some(73.0),
        threads_max: Some(12.0),
        value: None,
        saturated: resources::saturated(&seconds),
    };
    let value = Values { seconds: 60, mean: 12.5, min: 0.0, max: 41.0, last: 3.0 };
    let queue = ResourceReport {
        name: "queue".into(),
        what: "query sum(queue_length)".into(),
        value: Some(value),
        ..ResourceReport::default()
    };
    vec![api, queue]
}
