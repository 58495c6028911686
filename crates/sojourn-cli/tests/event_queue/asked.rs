//! The application of Inngest: asked what is next, call after call, until it has nothing more to do.

use sojourn_metrics::names;

use super::{CASE, Case, duplicates, observe, sum};

const EXAMPLE: &str = include_str!("../../../../examples/inngest.yaml");
/// Each is one call; at the last there is nothing left to do.
const STAGES: [&str; 4] = ["started", "charged", "shipped", "finished"];

#[test]
fn an_application_that_is_asked_runs_every_step_once_and_ends() {
    let (run, log) = observe(Case { example: EXAMPLE, asks: true, fail: "30%", ..CASE });
    let started = sum(&run, names::JOURNEYS_STARTED, &[]);
    assert!(started > 5, "{started}");
    assert_eq!(sum(&run, names::JOURNEYS_COMPLETED, &[]), started);
    assert_eq!(log.runs, started, "what was sent twice started one run");
    assert!(log.deduplicated > 0);
    for (step, stage) in STAGES.iter().enumerate() {
        assert_eq!(sum(&run, names::STAGE_REACHED, &[("stage", stage)]), started, "{stage}");
        // Answered well once, by what is next, and at last by the result.
        let well = if step + 1 == STAGES.len() { 200 } else { 206 };
        let calls = || log.calls.iter().filter(|call| call.step == step);
        assert_eq!(calls().filter(|call| call.status == well).count() as u64, started, "{stage}");
        assert!(calls().all(|call| call.status == well || call.status == 500), "{stage}");
    }
    let failed = log.calls.iter().filter(|call| call.status == 500).count() as u64;
    assert!(failed > 0);
    assert_eq!(log.calls.len() as u64, started * STAGES.len() as u64 + failed);
    assert_eq!(sum(&run, names::EVENTS_SEEN, &[]), log.calls.len() as u64);
    assert_eq!(duplicates(&run, "redelivery"), failed);
    assert_eq!(duplicates(&run, "republication") + duplicates(&run, "unknown"), 0);
}
