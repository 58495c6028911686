//! Keys: aliases, reuse, tombstones replaced, early events matched back.

use sojourn_ledger::DuplicateKind::Unknown;
use sojourn_ledger::EventClass::{AfterFailure, Duplicate, Matched, Orphan, Unattributed};
use sojourn_ledger::FinishClass::{Completed, Failed, Lost, RootFailed};
use sojourn_ledger::StageKind::{Failure, Required};
use sojourn_ledger::{Decision, Fact, JourneyId, Marker};

use crate::support::*;

#[test]
fn early_events_are_matched_back_in_order_with_their_own_stamps() {
    let mut book = Book::of(&[Required, Required]);
    book.start_kind(100, 1, 0, None).see(150, "k", 0).see(180, "k", 1).see(190, "k", 1);
    assert_eq!(book.ledger.balance().events.waiting, 3);
    book.keyed(200, 1, "k").root(210, 1);
    assert_eq!(book.classes(), [Matched, Matched, Duplicate(Unknown)]);
    assert_eq!(book.hops(), [(0, 50), (1, 30)]);
    assert_eq!(book.outcome(1), Some((Completed, 210)));
}

#[test]
fn an_early_event_waits_to_the_last_instant() {
    for (keyed_ns, class) in [(150 + EARLY_WAIT, Matched), (151 + EARLY_WAIT, Orphan)] {
        let mut book = Book::of(&[Required]);
        book.start_kind(100, 1, 0, None).see_marked(150, "k", Marker::Ours);
        book.keyed(keyed_ns, 1, "k");
        assert_eq!(book.classes(), [class]);
    }
}

#[test]
fn a_journey_may_fail_by_an_early_event() {
    let mut book = Book::of(&[Required, Failure]);
    book.start_kind(100, 1, 0, None).see(150, "k", 1).see(160, "k", 0).keyed(200, 1, "k");
    assert_eq!(book.outcome(1), Some((Failed, 200)));
    assert_eq!(book.classes(), [Matched, AfterFailure]);
}

#[test]
fn every_alias_names_the_journey() {
    let mut book = Book::of(&[Required, Required, Required]);
    book.start(100, 1, "a").keyed(110, 1, "b").keyed(120, 1, "c").keyed(130, 1, "a");
    book.see(200, "b", 0).see(210, "c", 1).root(220, 1).see(230, "a", 2);
    assert_eq!(book.outcome(1), Some((Completed, 230)));
    book.see(300, "a", 0).see(310, "b", 0).see(320, "c", 0);
    assert_eq!(book.classes()[3..], [Duplicate(Unknown); 3]);
    // Forgotten under all its names.
    book.advance(20_000).see(20_001, "a", 0).see(20_002, "b", 0).see(20_003, "c", 0).close(30_000);
    assert_eq!(book.classes()[6..], [Unattributed; 3]);
}

#[test]
fn a_key_in_flight_that_comes_again_fails_the_second_journey() {
    let reuse: [fn(&mut Book) -> &mut Book; 2] = [
        |book| book.start(200, 2, "k"),
        |book| book.start_kind(150, 2, 0, None).keyed(200, 2, "k"),
    ];
    for reuses in reuse {
        let mut book = Book::of(&[Required]);
        reuses(book.start(100, 1, "k").root(110, 1));
        assert_eq!(book.outcome(2), Some((RootFailed, 200)));
        assert_eq!(book.finished()[0].key, Some(key("k")));
        let told = |decision: &Decision| {
            matches!(decision, Decision::KeyReused { journey: JourneyId(2), kind: 0, .. })
        };
        assert!(book.decisions.iter().any(told));
        // The first is untouched, and so are the facts that the second's actor still sends.
        book.root(250, 2).see(300, "k", 0);
        assert_eq!(book.outcome(1), Some((Completed, 300)));
        assert_eq!((book.ledger.balance().key_reused, book.ledger.balance().refused), (1, 0));
    }
}

#[test]
fn one_value_may_name_a_journey_of_each_kind() {
    let mut book = Book::new(plan(vec![kind(&[Required]), kind(&[Required])]));
    book.start_kind(100, 1, 0, Some(key("k"))).start_kind(110, 2, 1, Some(key("k")));
    assert_eq!(book.ledger.balance().key_reused, 0);
    book.root(120, 1).root(130, 2).see(200, "k", 0);
    assert_eq!((book.outcome(1), book.outcome(2)), (Some((Completed, 200)), None));
}

#[test]
fn a_key_of_a_finished_journey_passes_to_the_new_one() {
    let mut book = Book::of(&[Required]);
    book.start(100, 1, "k").root(110, 1).see(120, "k", 0);
    book.start(200, 2, "k").root(210, 2).see(220, "k", 0);
    assert_eq!(book.outcome(2), Some((Completed, 220)));
    assert_eq!((book.classes(), book.ledger.balance().key_reused), (vec![Matched, Matched], 0));
    // The first tombstone expires: the second still answers to the key.
    book.see(120 + TTL + 50, "k", 0);
    assert_eq!(book.classes()[2], Duplicate(Unknown));
}

#[test]
fn a_key_that_comes_after_the_end_still_tells_what_its_events_are() {
    // Lost while its root was unanswered; then the answer comes, with events before and after it.
    let mut book = Book::of(&[Required]);
    book.start_kind(100, 1, 0, None).advance(1_700);
    assert_eq!(book.outcome(1), Some((Lost, 1_600)));
    book.see(1_750, "k", 0).keyed(1_800, 1, "k").root(1_801, 1).see(1_900, "k", 0);
    assert_eq!(book.classes(), [AfterFailure, AfterFailure]);
    let balance = book.ledger.balance();
    assert_eq!((balance.journeys.lost, balance.journeys.completed, balance.refused), (1, 0, 0));
    // It takes no key from a journey in flight.
    book.start(2_000, 2, "x").keyed(2_010, 1, "x").root(2_020, 2).see(2_100, "x", 0);
    assert_eq!(book.outcome(2), Some((Completed, 2_100)));
}

#[test]
fn facts_of_a_journey_forgotten_are_no_defect_but_unknown_ones_are() {
    let mut book = Book::of(&[Required]);
    book.start(100, 5, "k").root_failed(110, 5).advance(20_000);
    assert_eq!(book.ledger.tombstones(), 0);
    book.root(20_100, 5).step(20_120, 5);
    assert_eq!(book.ledger.balance().refused, 0);
    book.root(20_200, 6).tell(20_210, Fact::StepEnded { journey: JourneyId(1 << 48) });
    assert_eq!(book.ledger.balance().refusals.unknown_journeys, 2);
    assert_eq!(book.ledger.balance().refused, 2);
}
