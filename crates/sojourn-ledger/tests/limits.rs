//! Limits are held against what journeys reach.

use sojourn_ledger::StageKind::Required;
use sojourn_ledger::{Ledger, LimitFigures, LimitSpec};

use crate::support::{Book, kind, plan};

/// A book of one kind with two stages, and a limit.
fn book(limit: LimitSpec) -> Book {
    let ledger = Ledger::new(plan(vec![kind(&[Required, Required])])).with_limits(vec![limit]);
    Book { ledger, decisions: Vec::new() }
}

fn figures(book: &Book) -> LimitFigures {
    let Some(figures) = book.ledger.limits().next() else { panic!("no limit") };
    figures
}

fn at_once(most: u64) -> Book {
    book(LimitSpec::AtOnce { between: vec![(0, 0, 1)], most })
}

#[test]
fn journeys_between_two_stages_are_counted() {
    let mut book = at_once(1);
    for (id, text) in [(1, "a"), (2, "b"), (3, "c")] {
        book.start(10, id, text).root(11, id);
    }
    book.see(20, "a", 0).see(30, "a", 1).see(30, "b", 0).see(40, "c", 0).see(50, "b", 1);
    // Again is not another journey.
    book.see(55, "c", 0).see(60, "c", 1).see(65, "c", 0);
    let expected =
        LimitFigures { counted: 3, most: 2, violations: 1, first_ns: Some(40), ..figures(&book) };
    assert_eq!((figures(&book), figures(&book).unfinished), (expected, 0));
}

#[test]
fn a_journey_that_ends_between_the_stages_leaves() {
    let mut book = at_once(1);
    book.start(10, 1, "a").root(11, 1).see(20, "a", 0);
    // Lost when its observation ends.
    book.advance(1_511).start(2_000, 2, "b").see(2_010, "b", 0);
    let LimitFigures { counted, most, violations, unfinished, .. } = figures(&book);
    assert_eq!((counted, most, violations, unfinished), (2, 1, 0, 1));
}

#[test]
fn a_last_stage_before_the_first_is_no_stay() {
    let mut book = at_once(1);
    book.start(10, 1, "a").see(20, "a", 1).see(30, "a", 0).start(35, 2, "b").see(40, "b", 0);
    assert_eq!((figures(&book).counted, figures(&book).most), (1, 1));
}

#[test]
fn a_rate_at_a_stage() {
    let at = vec![(0, 0)];
    let limit = LimitSpec::Rate { at, most: 2, per_ns: 200, burst: 1, tolerance_ns: 10 };
    let mut book = book(limit);
    for (id, (text, at)) in (1..).zip([("a", 100), ("b", 195), ("c", 250), ("d", 300)]) {
        book.start(at - 10, id, text).see(at, text, 0).see(at, text, 0);
    }
    // 195 is early by 5; 300 is due next, so 250 is early by 50. Three are within 200.
    let expected = LimitFigures {
        counted: 4,
        most: 3,
        violations: 1,
        first_ns: Some(250),
        early_ns_max: 50,
        unfinished: 0,
    };
    assert_eq!(figures(&book), expected);
}
