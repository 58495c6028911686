//! A generator's end.

use crossbeam_channel::bounded;
use sojourn_clock::Anchor;

use super::*;
use crate::{
    RunOptions, poller,
    testing::{PAYMENT, plan},
};

/// Runs a generator whose reports nobody takes before its end, in a queue with one place.
#[test]
fn the_last_figures_wait_for_a_place_in_a_full_queue() {
    let plan = Arc::new(plan(PAYMENT, "http://127.0.0.1:1"));
    let (facts, batches) = bounded(100);
    let (reports, told) = bounded(1);
    let (to_generator, control) = bounded(2);
    let (_to_actors, actors) = bounded(1);
    let (_spares, spares) = bounded(1);
    let filler = FromGenerator::ArrivalsDone { last_t0_ns: 0, load_end_ns: 0, at_ns: 0 };
    reports.send((0, filler)).unwrap();
    let spec = GeneratorSpec {
        index: 0,
        of: 1,
        options: RunOptions::new(None, "test".to_owned()),
        attack: None,
        anchor: Anchor::now(),
        variables: Vec::new(),
        facts,
        reports,
        control,
        actors,
        spares,
        polls: poller::channel(&plan).0,
        publishers: Publishers::default(),
        waker: Arc::default(),
        plan,
    };
    to_generator.send(ToGenerator::Start { at_ns: now_ns() }).unwrap();
    to_generator.send(ToGenerator::Abort).unwrap();
    let (ready, _standing) = bounded(1);
    let thread = std::thread::spawn(move || run(spec, &ready));
    // Its facts end before its figures do, and say how far it has seen.
    let watermarks: Vec<u64> = batches.iter().map(|batch| batch.watermark_ns).take(2).collect();
    assert!(watermarks[0] < u64::MAX && watermarks[1] == u64::MAX, "{watermarks:?}");
    let mut kinds = Vec::new();
    for (_, report) in &told {
        kinds.push(match report {
            FromGenerator::ArrivalsDone { .. } => "filler",
            FromGenerator::Snapshot(_) => "snapshot",
            FromGenerator::Ended(Ok(())) => "ended",
            FromGenerator::Ended(Err(_)) => "broken",
        });
    }
    thread.join().unwrap();
    assert_eq!(kinds, ["filler", "snapshot", "ended"]);
}
