//! What each fault does, on the topic and in the log.

use crate::support::{Client, model, quick, run, until};
use sojourn_demo::{
    Demo, Fate, FaultConfig, JourneyEnd, Kind, Outcome, ServiceTime, SlowStage, Stage, StopStage,
    TruthLog,
};

#[test]
fn dropped_events_end_their_journeys() {
    let run = run(200, FaultConfig { drop_percent: 10.0, ..FaultConfig::default() });
    run.check_types();
    let totals = run.truth.totals();
    assert!(totals.dropped > 20);
    assert_eq!(totals.dropped, run.fated(Fate::Drop));
    assert_eq!(totals.completed, 200 - totals.dropped);
    assert_eq!(run.counts.dropped, totals.dropped);
}

#[test]
fn redelivered_events_have_one_message_id_and_lead_to_one_piece_of_work() {
    let run = run(100, FaultConfig { redeliver_percent: 100.0, ..FaultConfig::default() });
    run.check_types();
    let totals = run.truth.totals();
    assert_eq!(totals.published, 800);
    assert_eq!((totals.redeliveries, totals.republications), (400, 0));
    assert_eq!(run.counts.published_redelivery, 400);
    assert_work_is_done_once(&run);
}

#[test]
fn republished_events_have_two_message_ids_and_lead_to_one_piece_of_work() {
    let run = run(100, FaultConfig { republish_percent: 100.0, ..FaultConfig::default() });
    run.check_types();
    let totals = run.truth.totals();
    assert_eq!(totals.published, 800);
    assert_eq!((totals.redeliveries, totals.republications), (0, 400));
    assert_eq!(run.counts.published_republication, 400);
    assert_work_is_done_once(&run);
}

fn assert_work_is_done_once(run: &crate::support::Run) {
    assert_eq!(run.truth.totals().completed, 100);
    assert_eq!(run.counts.psp_charges, 100);
    assert_eq!(run.counts.notifications, 100);
    for stage in run.truth.journeys.values().flat_map(|it| &it.stages) {
        assert_eq!(stage.appended_ns.len(), 1);
        assert_eq!(stage.outcomes.len(), 2);
    }
    let appended = |outcome: &&Outcome| **outcome == Outcome::Appended;
    let outcomes = run.truth.journeys.values().flat_map(|it| &it.stages);
    let appended = outcomes.flat_map(|it| &it.outcomes).filter(appended);
    assert_eq!(appended.count(), 300);
}

#[test]
fn reordered_events_come_after_their_successor() {
    let run = run(100, FaultConfig { reorder_percent: 100.0, ..FaultConfig::default() });
    // Initiated and settled are held back, so that every pair is swapped.
    let expected = ["PaymentCreated", "PaymentInitiated", "PaymentCompleted", "PaymentSettled"];
    for key in &run.keys {
        assert_eq!(run.events.types_of(key), expected);
    }
    let totals = run.truth.totals();
    assert_eq!(totals.completed, 100);
    assert_eq!(totals.out_of_order, 200);
    assert_eq!(run.counts.published_reordered, 200);
    assert_eq!(run.counts.psp_charges, 100);
    let settled = run.truth.hop_samples_ns(Stage::Created);
    assert!(settled.iter().all(|&hop_ns| hop_ns < 0));
    let kinds = run.truth.publications().map(|it| (it.stage, it.kind));
    for (stage, kind) in kinds {
        let held = matches!(stage, Stage::Initiated | Stage::Settled);
        assert_eq!(kind == Kind::Reordered, held);
    }
}

#[test]
fn poisoned_events_are_tried_thrice_and_dead_lettered() {
    let run = run(100, FaultConfig { poison_percent: 20.0, ..FaultConfig::default() });
    run.check_types();
    let totals = run.truth.totals();
    assert!(totals.dead_lettered > 20);
    assert_eq!(totals.dead_lettered, run.fated(Fate::Poison));
    assert_eq!(totals.dead_letters, totals.dead_lettered);
    assert_eq!(totals.completed, 100 - totals.dead_lettered);
    assert_eq!(run.dead_letters.seen.len() as u64, totals.dead_letters);
    for letter in &run.dead_letters.seen {
        assert!(letter.reason.as_ref().unwrap().contains(&letter.event_type));
        // The same message, but for the reason.
        let event =
            run.events.seen.iter().find(|seen| seen.message_id == letter.message_id).unwrap();
        assert_eq!((&event.key, &event.payload), (&letter.key, &letter.payload));
        let journey = &run.truth.journeys[&letter.key];
        assert_eq!(journey.end(), JourneyEnd::DeadLettered);
        assert_eq!(journey.dead_letters.len(), 1);
    }
}

#[test]
fn all_faults_together_add_up() {
    let run = run(
        400,
        FaultConfig {
            drop_percent: 4.0,
            poison_percent: 4.0,
            redeliver_percent: 8.0,
            republish_percent: 8.0,
            reorder_percent: 8.0,
            ..FaultConfig::default()
        },
    );
    run.check_types();
    let totals = run.truth.totals();
    assert_eq!(totals.accepted, 400);
    assert_eq!(totals.unfinished + totals.stopped, 0);
    assert_eq!(totals.dropped, run.fated(Fate::Drop));
    assert_eq!(totals.dead_lettered, run.fated(Fate::Poison));
    assert_eq!(totals.redeliveries, run.fated(Fate::Redeliver));
    assert_eq!(totals.republications, run.fated(Fate::Republish));
    assert_eq!(totals.out_of_order, run.fated(Fate::Reorder));
    let ends = totals.completed + totals.dropped + totals.dead_lettered;
    assert_eq!(ends, 400);
    let duplicates = totals.redeliveries + totals.republications;
    assert_eq!(totals.published, totals.stages_reached + duplicates);
    let completed = |key: &&String| model(&run.faults, key).types.contains(&"PaymentCompleted");
    let completed = run.keys.iter().filter(completed).count();
    assert_eq!(totals.completed, completed as u64);
}

#[test]
fn a_stopped_stage_leaves_its_events_lying() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = quick(folder.path());
    config.faults.stop_stage = Some(StopStage { stage: Stage::Settled, after_ms: 0 });
    let truth_path = config.truth_path.clone().unwrap();
    let demo = Demo::start(config).unwrap();
    let mut client = Client::connect(&demo);
    for _ in 0..50 {
        client.pay();
    }
    until(|| demo.counts().unconsumed == 50);
    let counts = demo.stop().unwrap();
    assert_eq!(counts.published_first, 100);
    let totals = TruthLog::read(truth_path).unwrap().totals();
    assert_eq!((totals.stopped, totals.stages_reached), (50, 100));
}

#[test]
fn a_slow_stage_shows_in_its_hop_only() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = quick(folder.path());
    config.faults.slow_stage =
        Some(SlowStage { stage: Stage::Settled, service: ServiceTime::fixed_ms(300) });
    let truth_path = config.truth_path.clone().unwrap();
    let demo = Demo::start(config).unwrap();
    let mut client = Client::connect(&demo);
    for _ in 0..20 {
        client.pay();
    }
    until(|| demo.counts().consumed == 80);
    demo.stop().unwrap();
    let truth = TruthLog::read(truth_path).unwrap();
    let hop_ns_min = |stage| truth.hop_samples_ns(stage).into_iter().min().unwrap();
    assert!(hop_ns_min(Stage::Settled) >= 300_000_000);
    assert!(hop_ns_min(Stage::Created) < 300_000_000);
    assert!(hop_ns_min(Stage::Completed) < 300_000_000);
}

#[test]
fn naive_consumers_take_the_money_twice() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = quick(folder.path());
    config.naive = true;
    config.faults.redeliver_percent = 100.0;
    let demo = Demo::start(config).unwrap();
    let mut client = Client::connect(&demo);
    for _ in 0..20 {
        client.pay();
    }
    until(|| demo.counts().psp_charges == 40);
    assert_eq!(demo.stop().unwrap().psp_charges, 40);
}
