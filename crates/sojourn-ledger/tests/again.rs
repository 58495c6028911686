//! Duplicates are told with their journey, in flight and after its end.

use sojourn_ledger::StageKind::{Optional, Required};
use sojourn_ledger::{Again, Decision, DuplicateKind, FinishClass, JourneyId};

use crate::support::{Book, TTL};

fn told(book: &Book) -> Vec<Again> {
    let again = |decision: &Decision| match decision {
        Decision::Again(again) => Some((**again).clone()),
        _ => None,
    };
    book.decisions.iter().filter_map(again).collect()
}

#[test]
fn a_duplicate_says_whose_it_is_and_whether_its_journey_has_ended() {
    let mut book = Book::of(&[Required, Required]);
    book.start(100, 7, "k").root(120, 7);
    book.see_id(150, "k", 0, 1).see_id(160, "k", 0, 1);
    assert!(book.ledger.remembered(JourneyId(7)).is_none(), "in flight");
    book.see_id(200, "k", 1, 2).see_id(300, "k", 1, 3).see(310, "k", 0);
    let told = told(&book);
    let found: Vec<_> = told
        .iter()
        .map(|it| (it.journey.0, it.stage, it.how, it.stamp_ns, it.is_first, it.has_ended))
        .collect();
    use DuplicateKind::{Redelivery, Republication, Unknown};
    let expected = [
        (7, 0, Redelivery, 160, true, false),
        (7, 1, Republication, 300, false, true),
        (7, 0, Unknown, 310, false, true),
    ];
    assert_eq!(found, expected);
    assert!(told.iter().all(|it| it.key.as_ref().is_some_and(|key| key.as_bytes() == b"k")));
}

#[test]
fn a_completed_journey_is_remembered_as_it_ended() {
    let mut book = Book::of(&[Required, Required, Optional]);
    book.start(100, 7, "k").root(450, 7);
    book.see(150, "k", 1).see(200, "k", 0);
    let ended = book.decisions.iter().find_map(|decision| match decision {
        Decision::Finished(finished) => Some((**finished).clone()),
        _ => None,
    });
    let ended = ended.expect("the root was the last");
    let mut known = book.ledger.remembered(JourneyId(7)).expect("remembered");
    assert_eq!((known.t0_ns, known.t1_ns, known.t2_ns), (100, 100, Some(450)));
    assert_eq!((known.end_ns, known.class), (450, FinishClass::Completed));
    assert_eq!((known.negative_hops, known.is_duplicated), (1, false));
    known.key = ended.key.clone();
    assert_eq!(format!("{known:?}"), format!("{ended:?}"));
    // A stage reached since then is in it, and its end stays.
    book.see(600, "k", 2).see(700, "k", 2);
    let known = book.ledger.remembered(JourneyId(7)).expect("remembered");
    assert_eq!((known.stage_ns[2], known.end_ns, known.is_duplicated), (600, 450, true));
    book.advance(450 + TTL + 1_000);
    assert!(book.ledger.remembered(JourneyId(7)).is_none(), "forgotten");
}

#[test]
fn a_lost_journey_has_no_duplicates_and_is_not_asked_for() {
    let mut book = Book::of(&[Required, Required]);
    book.start(100, 7, "k").root(120, 7).see(150, "k", 0).advance(10_000);
    book.see(10_100, "k", 0);
    assert_eq!(told(&book), []);
    assert!(book.ledger.remembered(JourneyId(7)).is_none());
}
