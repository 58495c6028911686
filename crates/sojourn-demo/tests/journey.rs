//! Journeys without faults.

use crate::support::{Client, Tap, json, quick, run, until};
use sojourn_demo::{Demo, DemoConfig, FaultConfig, JourneyEnd, Stage, TruthLog};

const TYPES: [&str; 4] =
    ["PaymentInitiated", "PaymentCreated", "PaymentSettled", "PaymentCompleted"];

#[test]
fn one_payment_is_seen_at_every_stage() {
    let folder = tempfile::tempdir().unwrap();
    let config = quick(folder.path());
    let truth_path = config.truth_path.clone().unwrap();
    let demo = Demo::start(config).unwrap();
    let mut tap = Tap::open(demo.brokers(), "payments.events", 4);
    let mut client = Client::connect(&demo);
    let key = client.pay();
    tap.read(4);
    assert_eq!(tap.types_of(&key), TYPES);
    for (index, seen) in tap.seen.iter().enumerate() {
        let payload = json(&seen.payload);
        assert_eq!(payload["aggregateId"], key);
        assert_eq!(payload["type"], TYPES[index]);
        assert_eq!(payload["version"], index + 1);
        let occurred = payload["occurredAt"].as_str().unwrap();
        assert!(occurred.starts_with("20") && occurred.ends_with('Z'));
    }
    let path = format!("/api/payment/{}/status", key.strip_prefix("pay:").unwrap());
    until(|| demo.counts().consumed == 4);
    let (status, answer) = client.send("GET", &path, "");
    assert_eq!((status, answer.as_str()), (200, r#"{"status":"completed"}"#));

    demo.stop().unwrap();
    let truth = TruthLog::read(truth_path).unwrap();
    let journey = &truth.journeys[&key];
    assert_eq!(journey.end(), JourneyEnd::Completed);
    let mut instants = vec![journey.accepted_ns.unwrap()];
    for stage in Stage::ALL {
        assert_eq!(journey.stages[stage.index()].appended_ns.len(), 1);
        let publication = journey.first(stage).unwrap();
        instants.push(publication.delivered_ns);
        // One millisecond of work lies between the stages.
        if stage.previous().is_some() {
            assert!(truth.hop_samples_ns(stage)[0] >= 1_000_000);
        }
    }
    assert!(instants[1..].is_sorted(), "{instants:?}");
    let (monotonic_ns, unix_ns) = truth.anchor.unwrap();
    assert!(monotonic_ns < instants[0] && unix_ns > 1_700_000_000_000_000_000);
}

#[test]
fn without_faults_everything_is_there_once() {
    let run = run(300, FaultConfig::default());
    run.check_types();
    let totals = run.truth.totals();
    assert_eq!(totals.accepted, 300);
    assert_eq!(totals.completed, 300);
    assert_eq!(totals.published, 1_200);
    assert_eq!(totals.stages_reached, 1_200);
    assert_eq!(totals.redeliveries + totals.republications, 0);
    assert_eq!(totals.out_of_order + totals.dead_letters, 0);
    assert_eq!(run.counts.psp_charges, 300);
    assert_eq!(run.counts.psp_calls, 600);
    assert_eq!(run.counts.notifications, 300);
    assert_eq!(run.counts.append_conflicts, 0);
    assert_eq!(run.dead_letters.seen, []);
    for stage in &Stage::ALL[1..] {
        assert_eq!(run.truth.hop_samples_ns(*stage).len(), 300);
    }
}

#[test]
fn a_seed_gives_the_same_payments() {
    let keys = |seed| {
        let demo =
            Demo::start(DemoConfig { seed, partitions: 1, ..DemoConfig::default() }).unwrap();
        let mut client = Client::connect(&demo);
        let keys: Vec<_> = (0..3).map(|_| client.pay()).collect();
        demo.stop().unwrap();
        keys
    };
    assert_eq!(keys(1), keys(1));
    assert_ne!(keys(1), keys(2));
}
