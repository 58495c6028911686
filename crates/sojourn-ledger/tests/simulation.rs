//! Whole runs under a manual clock: what happened is generated as truth, a naive model says what
//! the book must hold, and the sequencer and the ledger are told it in pieces from five sources.

mod model;
mod run;
mod world;

use proptest::prelude::*;

use run::{Told, tell};
use world::World;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_run_is_what_the_model_says(world in world::any_world(), told in run::any_telling()) {
        let truth = World::unfold(&world);
        let expected = model::judge(&truth);
        let Told { book, .. } = tell(&truth, &told)?;
        prop_assert_eq!(&book.journeys, &expected.journeys);
        prop_assert_eq!(&book.events, &expected.events);
        prop_assert_eq!(&book.hops, &expected.hops);
        prop_assert_eq!(book.key_reused, expected.key_reused);
        prop_assert_eq!(book.failure_after_completion, expected.failure_after_completion);
        prop_assert_eq!(book.late_hops, expected.late_hops);
        prop_assert_eq!(book.second_branches, expected.second_branches);
    }

    #[test]
    fn how_a_run_is_told_changes_nothing(
        world in world::any_world(),
        once in run::any_telling(),
        again in run::any_telling(),
    ) {
        let truth = World::unfold(&world);
        let (once, again) = (tell(&truth, &once)?, tell(&truth, &again)?);
        prop_assert_eq!(once.decisions, again.decisions);
    }

    #[test]
    fn a_tap_that_crashes_voids_the_run(
        world in world::any_world(),
        told in run::any_telling(),
        tap in 2..5_u16,
    ) {
        let truth = World::unfold(&world);
        run::crash(&truth, &told, tap)?;
    }
}

/// A model that is never asked proves nothing: every outcome must come up.
#[test]
fn the_worlds_meet_every_case() {
    use std::collections::BTreeMap;

    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let mut met: BTreeMap<String, u64> = BTreeMap::new();
    for _ in 0..300 {
        let world = world::any_world().new_tree(&mut runner).expect("no filter rejects it");
        let expected = model::judge(&World::unfold(&world.current()));
        let mut count = |what: String, times: u64| *met.entry(what).or_default() += times;
        for outcome in expected.journeys.values() {
            count(format!("{:?}", outcome.class), 1);
            count("hop without predecessor".into(), outcome.hops_without_predecessor.into());
            count("negative hop".into(), outcome.negative_hops.into());
        }
        for class in expected.events.values() {
            count(format!("{class:?}"), 1);
        }
        count("key reused".into(), expected.key_reused);
        count("failure after completion".into(), expected.failure_after_completion);
        count("late hop without predecessor".into(), expected.late_hops);
        count("second branch".into(), expected.second_branches);
    }
    // Six classes of journeys, nine of events, six attributes.
    assert_eq!(met.len(), 21, "{met:#?}");
    assert!(met.values().all(|&times| times > 0), "{met:#?}");
}
