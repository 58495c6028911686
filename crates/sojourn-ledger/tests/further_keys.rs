//! Keys that events yield for later events of their journey.

use proptest::prelude::*;
use sojourn_ledger::EventClass::{AfterFailure, Matched, Unattributed};
use sojourn_ledger::FinishClass::{Completed, Failed};
use sojourn_ledger::StageKind::Required;
use sojourn_ledger::{Decision, More, Observation, Reason};

use crate::support::*;

/// An event that yields a further key.
fn yielding(text: &str, stage: u8, further: &str) -> Observation {
    let mut observation = event(text, stage);
    let more = More { rekey: Some(key(further)), ..More::default() };
    observation.candidates[0].more = Some(Box::new(more));
    observation
}

#[test]
fn later_events_come_under_the_further_key_even_if_they_were_early() {
    let mut book = Book::of(&[Required, Required, Required]);
    book.start(100, 1, "k").root(110, 1);
    // Both overtake the event that yields their key.
    book.see(190, "psp", 1).observe(200, yielding("k", 0, "psp"));
    book.see(300, "psp", 2);
    assert_eq!(book.outcome(1), Some((Completed, 300)));
    assert_eq!(book.finished()[0].stage_ns[..], [200, 190, 300]);
    assert_eq!(book.classes(), [Matched; 3]);
    // The same again yields nothing new.
    book.observe(310, yielding("k", 0, "psp")).observe(320, yielding("k", 0, "other"));
    book.see(330, "other", 2).advance(1_000);
    assert_eq!(book.classes().last(), Some(&Unattributed));
    assert_eq!(book.ledger.balance().key_reused, 0);
}

#[test]
fn a_further_key_that_another_journey_has_fails_the_later_one() {
    let mut book = Book::of(&[Required, Required]);
    book.start(100, 1, "a").root(110, 1).start(120, 2, "b").root(130, 2);
    book.observe(200, yielding("a", 0, "same")).observe(210, yielding("b", 0, "same"));
    assert_eq!(book.outcome(2), Some((Failed, 210)));
    assert_eq!(book.finished()[0].reason, Some(Reason::KeyReused));
    let is_told = |decision: &Decision| matches!(decision, Decision::KeyReused { journey, .. } if journey.0 == 2);
    assert_eq!(book.decisions.iter().filter(|decision| is_told(decision)).count(), 1);
    assert_eq!(book.ledger.balance().key_reused, 1);
    book.see(300, "b", 1).see(310, "same", 1);
    assert_eq!(book.classes()[2..], [AfterFailure, Matched]);
    assert_eq!(book.outcome(1), Some((Completed, 310)));
}

#[test]
fn further_keys_of_one_journey_are_bounded() {
    let mut book = Book::of(&[Required, Required]);
    book.start(100, 1, "k");
    let mut last = "k".to_owned();
    // A chain, seen backwards: each is early until the one before it is matched back.
    for number in (0..20).rev() {
        let observation = yielding(&format!("k{number}"), 0, &format!("k{}", number + 1));
        book.observe(120, observation);
    }
    book.observe(130, yielding(&last, 1, "k0"));
    // Only what reaches a stage yields: the rest are duplicates of it.
    assert_eq!(book.ledger.balance().events.matched, 2);
    let mut spec = kind(&[Required]);
    spec.stages[0].expect = 100;
    let mut book = Book::new(plan(vec![spec]));
    book.start(100, 1, "k");
    for number in 0..20_u64 {
        let next = format!("k{number}");
        let mut observation = yielding(&last, 0, &next);
        observation.candidates[0].member = Some(number);
        book.observe(200 + number, observation);
        last = next;
    }
    // Fifteen beyond the first; under the sixteenth nothing is found any more.
    assert_eq!(book.ledger.balance().refusals.keys_or_steps, 1);
    assert_eq!(book.ledger.balance().events.matched, 16);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Each event yields the key of the next. In whatever order they are seen, all are matched with
    /// their own stamps.
    #[test]
    fn the_order_of_seeing_changes_nothing(order in Just((0..8_u8).collect::<Vec<_>>()).prop_shuffle()) {
        let mut book = Book::of(&[Required; 8]);
        book.start(100, 1, "k0").root(101, 1);
        let mut stage_ns = [0; 8];
        for (at, &stage) in order.iter().enumerate() {
            let stamp_ns = 110 + at as u64;
            stage_ns[usize::from(stage)] = stamp_ns;
            let own = format!("k{stage}");
            book.observe(stamp_ns, yielding(&own, stage, &format!("k{}", stage + 1)));
        }
        prop_assert_eq!(book.classes(), [Matched; 8]);
        prop_assert_eq!(book.outcome(1), Some((Completed, 117)));
        prop_assert_eq!(&book.finished()[0].stage_ns[..], stage_ns);
    }
}
