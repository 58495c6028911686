//! The published experiment: one payment a second for half a minute, a relay that polls every 5 s,
//! a last stage of 5 to 9 s. Each figure is that of the demo's own log.

use sojourn_clock::MILLISECOND_NS;
use sojourn_demo::DemoConfig;
use sojourn_metrics::{Distribution, SeriesPhase};
use sojourn_report::ReportModel;

use crate::truth::{Agreed, agree, hops};

const PLAN: &str = include_str!("../../../examples/published-experiment.yaml");

#[test]
fn the_published_experiment_is_measured_as_it_was() {
    // One request a second takes no one's time: it need not wait for its turn.
    let Agreed { run, examination, log, told } =
        agree(DemoConfig::published_experiment(), PLAN, &[], 1_000);
    let payment = &ReportModel::from_run(&run.file).journeys[0];
    let durations = examination.journeys.iter().filter_map(hops::duration).collect::<Vec<_>>();
    let ledger: Distribution =
        run.file.store.journey_durations(Some("payment"), SeriesPhase::Steady);
    let quantiles = [0.0, 0.5, 0.95, 0.99, 1.0];
    let journey = hops::close("journey", &quantiles, |q| ledger.quantile(q), &durations, &log);
    println!("{told}\n{journey}");

    // Nothing lost, duplicated or late: every journey has every stage.
    assert!(run.summary.thresholds.iter().all(|outcome| outcome.held), "{:?}", run.summary);
    assert_eq!(examination.classes().into_iter().collect::<Vec<_>>(), [("completed", 30)]);
    let reached: Vec<u64> = payment.stages.iter().map(|stage| stage.reached).collect();
    assert_eq!(reached, [30; 4]);

    // One a second for half a minute is one a second, not thirty in the 29 s between first and last.
    assert_eq!(payment.steps[0].requests_per_s, Some(1.0));

    // What the system's construction says: an event appended within one interval of the relay is
    // published at its end. 300 ms of work lead to the next poll, 5 to 9 s to the one after it.
    let hop_ms = |index: usize| {
        let hop = payment.stages[index].hop_ns.expect("a hop");
        [hop.min, hop.max].map(|ns| ns as f64 / MILLISECOND_NS as f64)
    };
    let [least, most] = hop_ms(0);
    assert!(0.0 <= least && most <= 5_100.0, "initiated: {least} to {most} ms");
    for (index, expected) in [(1, 5_000.0), (2, 5_000.0), (3, 10_000.0)] {
        let [least, most] = hop_ms(index);
        let around = expected - 100.0..=expected + 100.0;
        let name = &payment.stages[index].name;
        assert!(
            around.contains(&least) && around.contains(&most),
            "{name}: {least} to {most} ms, expected {expected} ms"
        );
    }
    // The stage that works for 5 s at least: 14.77 ms is what counting another payment's event gives.
    assert!(hop_ms(3)[0] >= 5_000.0);
}
