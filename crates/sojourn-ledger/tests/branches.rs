//! Alternatives: a journey is complete with one of them.

use sojourn_ledger::Decision;
use sojourn_ledger::EventClass::{AfterFailure, Duplicate, Matched};
use sojourn_ledger::FinishClass::{Completed, Failed, Lost};
use sojourn_ledger::StageKind::{Branch, Failure, Required};

use crate::support::*;

/// Created, then completed or refunded.
fn book() -> Book {
    let mut spec = kind(&[Required, Branch(0), Branch(0), Failure]);
    spec.stages[2].after = sojourn_ledger::Predecessor::Stage(0);
    Book::new(plan(vec![spec]))
}

fn second_branches(book: &Book) -> Vec<u8> {
    let second = book.decisions.iter().filter_map(|decision| match decision {
        Decision::SecondBranch { stage, .. } => Some(*stage),
        _ => None,
    });
    second.collect()
}

#[test]
fn any_one_alternative_completes_the_journey() {
    for branch in [1, 2] {
        let mut book = book();
        book.start(100, 1, "k").root(110, 1).see(200, "k", 0);
        assert_eq!(book.outcome(1), None);
        assert_eq!([1, 2].map(|stage| book.ledger.in_flight_at(0, stage)), [1, 1]);
        book.see(300, "k", branch);
        assert_eq!(book.outcome(1), Some((Completed, 300)));
        assert_eq!([1, 2].map(|stage| book.ledger.in_flight_at(0, stage)), [0, 0]);
        assert_eq!(book.hops().last(), Some(&(branch, 100)));
    }
    let mut book = book();
    book.start(100, 1, "k").root(110, 1).see(200, "k", 0).close(5_000);
    assert_eq!(book.outcome(1).map(|(class, _)| class), Some(Lost));
}

#[test]
fn a_second_alternative_is_a_violation_before_and_after_the_end() {
    // While in flight, since the root is still out: the first of them is the journey's.
    let mut book = book();
    book.start(100, 1, "k").see(200, "k", 0).see(300, "k", 2);
    assert_eq!([1, 2].map(|stage| book.ledger.in_flight_at(0, stage)), [0, 0]);
    book.see(400, "k", 1).root(410, 1);
    assert_eq!(book.outcome(1), Some((Completed, 410)));
    assert_eq!((second_branches(&book), book.ledger.balance().second_branches), (vec![1], 1));
    // After completion; said again it is a duplicate, not another violation.
    book.start(500, 2, "l").root(510, 2).see(520, "l", 0).see(530, "l", 1);
    book.see(540, "l", 2).see(550, "l", 2);
    assert_eq!((second_branches(&book), book.ledger.balance().second_branches), (vec![1, 2], 2));
    let last = &book.classes()[book.classes().len() - 2..];
    assert!(matches!(last, [Matched, Duplicate(_)]), "{last:?}");
    // Of a failed journey it is neither.
    book.start(600, 3, "m").see(610, "m", 1).see(620, "m", 3).see(630, "m", 2);
    assert_eq!(book.outcome(3), Some((Failed, 620)));
    assert_eq!(
        (book.classes().last(), book.ledger.balance().second_branches),
        (Some(&AfterFailure), 2)
    );
}

#[test]
fn each_group_needs_one_of_its_own() {
    let mut spec = kind(&[Branch(0), Branch(1), Branch(0), Branch(1)]);
    spec.stages.iter_mut().for_each(|stage| stage.after = sojourn_ledger::Predecessor::Step);
    let mut book = Book::new(plan(vec![spec]));
    book.start(100, 1, "k").root(110, 1).see(200, "k", 0).see(300, "k", 2);
    assert_eq!(book.outcome(1), None);
    book.see(400, "k", 3);
    // The second alternative of the first group came at 300, but its first had come at 200.
    assert_eq!(book.outcome(1), Some((Completed, 400)));
    assert_eq!(book.ledger.balance().second_branches, 1);
}
