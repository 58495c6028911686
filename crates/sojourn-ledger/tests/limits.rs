//! Limits are held against what journeys reach.

use sojourn_ledger::StageKind::{Failure, Required};
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
    at_once_within(most, 0)
}

fn at_once_within(most: u64, tolerance_ns: u64) -> Book {
    book(LimitSpec::AtOnce { between: vec![(0, 0, 1)], most, tolerance_ns })
}

#[test]
fn journeys_between_two_stages_are_counted() {
    let mut book = at_once(1);
    for (id, text) in [(1, "a"), (2, "b"), (3, "c")] {
        book.start(10, id, text).root(11, id);
    }
    book.see(20, "a", 0).see(30, "a", 1).see(30, "b", 0).see(40, "c", 0).see(50, "b", 1);
    // Again is not another journey.
    book.see(55, "c", 0).see(60, "c", 1).see(65, "c", 0).advance(70);
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

/// However a journey ends, its place is free once that is known: the level does not creep up.
#[test]
fn no_end_keeps_a_place() {
    let ends: [fn(&mut Book, u64); 3] = [
        |book, at| _ = book.see(at + 4, "a", 2),
        |book, at| _ = book.root_failed(at + 4, at),
        |book, at| _ = book.advance(at + 1_600),
    ];
    for end in ends {
        let kinds = vec![kind(&[Required, Required, Failure])];
        let spec = LimitSpec::AtOnce { between: vec![(0, 0, 1)], most: 1, tolerance_ns: 0 };
        let ledger = Ledger::new(plan(kinds)).with_limits(vec![spec]);
        let mut book = Book { ledger, decisions: Vec::new() };
        for round in 0..5 {
            let at = 10_000 * (round + 1);
            book.start(at, at, "a").see(at + 2, "a", 0);
            end(&mut book, at);
        }
        let LimitFigures { counted, most, violations, unfinished, .. } = figures(&book);
        assert_eq!((counted, most, violations, unfinished), (5, 1, 0, 5));
    }
}

/// An end that is seen a little after the next start is taken to have been before it; one that is
/// seen later is not, and neither is a journey that stays.
#[test]
fn ends_may_be_seen_too_late_by_the_tolerance() {
    let mut book = at_once_within(1, 10);
    for (id, text) in [(1, "a"), (2, "b"), (3, "c"), (4, "d")] {
        book.start(5, id, text);
    }
    book.see(20, "a", 0).see(30, "b", 0).see(40, "a", 1);
    assert_eq!((figures(&book).most, figures(&book).violations), (2, 0));
    book.see(50, "c", 0).see(61, "b", 1).advance(62);
    assert_eq!((figures(&book).violations, figures(&book).first_ns), (1, Some(50)));
    book.see(70, "d", 0).advance(80);
    assert_eq!(figures(&book).violations, 1, "it may still be seen");
    book.advance(81);
    assert_eq!(figures(&book).violations, 2);
}

/// Against the definition, written out: an entry violates if, of the entries so far, more than the
/// limit allows have not left by the end of its tolerance.
#[test]
fn violations_are_those_of_the_definition() {
    for seed in 0..200_u64 {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = |below: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % below
        };
        let (most, tolerance_ns) = (1 + next(4), next(30));
        let mut facts = Vec::new();
        for id in 1..=40_u64 {
            let enters = 1_000 + next(400);
            facts.extend([(enters, id, 0_u8), (enters + 1 + next(60), id, 1)]);
        }
        facts.sort_unstable();
        let mut book = at_once_within(most, tolerance_ns);
        for id in 1..=40 {
            book.start(900, id, &format!("j{id}"));
        }
        for &(at, id, stage) in &facts {
            book.see(at, &format!("j{id}"), stage);
        }
        book.advance(2_000);
        let mut entered = 0;
        let violations = facts.iter().filter(|(_, _, stage)| *stage == 0).filter(|(at, ..)| {
            entered += 1;
            let left =
                facts.iter().filter(|(it, _, stage)| *stage == 1 && *it <= at + tolerance_ns);
            entered - left.count().min(entered) > most as usize
        });
        assert_eq!(figures(&book).violations, violations.count() as u64, "seed {seed}");
    }
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
