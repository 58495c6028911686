//! Sojourn's own poison: payments that the demo's provider refuses, so that the consumer that asks
//! it must fail. The log says of each what became of it.

use sojourn_demo::{FaultConfig, JourneyEnd};
use sojourn_report::ReportModel;

use super::{Case, PLAN, examine_text};

/// What tells the demo's payments from poison: the provider takes no more than a million.
const POISON: &str = "      poison: { share: 20%, set: { amount: 2000000 } }\n    stages:\n";
const THRESHOLDS: &str = "
thresholds:
  - lost == 0
  - failed == 0
  - journey.payment.failed == 0
  - stage.dead_letter.reached == 0
  - poison.sent > 0
  - poison.contained == 100%
  - poison.payment.contained_late == 0
  - poison.completed == 0
  - poison.lost == 0
  - poison.deliveries == 1
  - poison.containment.p99 < 3s
";

fn plan() -> String {
    PLAN.replacen("    stages:\n", POISON, 1) + THRESHOLDS
}

/// The log knows of every dead letter; the ledger has exactly these poisoned and contained, and no
/// healthy payment among them.
#[test]
fn poisoned_payments_are_those_that_the_log_has_dead_lettered() {
    let case = Case::new("own poison", FaultConfig::default());
    let agreed = examine_text(&plan(), case, &["completed", "failed"]);
    let dead = agreed.log.journeys.values().filter(|it| it.end() == JourneyEnd::DeadLettered);
    let poisoned: Vec<_> =
        agreed.examination.journeys.iter().filter(|it| it.name != "payment").collect();
    assert_eq!(poisoned.len(), dead.count());
    assert!(poisoned.iter().all(|it| it.class == "failed"));
    let report = ReportModel::from_run(&agreed.run.file);
    let [poison] = report.poison.as_slice() else { panic!("{:?}", report.poison) };
    assert_eq!((poison.journey.as_str(), poison.share), ("payment", 0.2));
    // A fifth of some hundred and fifty, give or take four standard deviations.
    let fraction = poison.sent_fraction.expect("payments were sent");
    assert!((0.07..0.33).contains(&fraction), "{fraction}");
    let total = &report.ledger.journeys_total.steady;
    assert_eq!((total.failed, total.lost), (0, 0));
    let text = sojourn_report::render::text(&report, false);
    assert!(text.contains("POISON payment") && text.contains("contained"), "{text}");
}

/// Beside the demo's own faults. (Events that come again may do so at the very end of a journey
/// that fails this soon, and then the log can't tell which side of it they were on.)
#[test]
fn poison_beside_faults() {
    let faults = FaultConfig { drop_percent: 2.0, poison_percent: 5.0, ..FaultConfig::default() };
    let text = PLAN.replacen("    stages:\n", POISON, 1);
    let case = Case::new("poison and faults", faults);
    examine_text(&text, case, &["completed", "failed", "lost"]);
}

/// The same arrivals are poisoned in every run of a plan.
#[test]
fn the_seed_says_which_payments_are_poisoned() {
    let poisoned = || {
        let case = Case::new("own poison", FaultConfig::default());
        let agreed = examine_text(&plan(), case, &[]);
        let mut records: Vec<_> =
            agreed.run.file.journeys.iter().filter(|it| it.journey != "rejected").collect();
        records.sort_by_key(|it| it.t0_ns);
        records.into_iter().map(|it| it.journey.clone()).collect::<Vec<_>>()
    };
    assert_eq!(poisoned(), poisoned());
}
