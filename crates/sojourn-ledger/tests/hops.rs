//! Hops: from what they count, what becomes of disorder, and who waits where.

use sojourn_ledger::StageKind::{Optional, Required};
use sojourn_ledger::{Predecessor, StageKind, StageSpec};

use crate::support::*;

#[test]
fn a_hop_counts_from_the_stage_named() {
    let mut spec = kind(&[Required, Required, Required]);
    spec.stages[2].after = Predecessor::Stage(0);
    let mut book = Book::new(plan(vec![spec]));
    book.start(100, 1, "k").see(150, "k", 0).see(250, "k", 1).see(400, "k", 2);
    assert_eq!(book.hops(), [(0, 50), (1, 100), (2, 250)]);
}

#[test]
fn the_first_hop_counts_from_t1_and_may_end_before_the_root() {
    let mut book = Book::of(&[Required]);
    book.start(100, 1, "k").see(130, "k", 0).root(200, 1);
    assert_eq!(book.hops(), [(0, 30)]);
}

#[test]
fn a_hop_after_a_step_counts_from_the_latest_begun_before_it() {
    let mut spec = kind(&[Required, Required]);
    spec.stages[1].after = Predecessor::Step;
    let mut book = Book::new(plan(vec![spec]));
    book.start(100, 1, "k").step(200, 1).see(250, "k", 0).step(300, 1).see(310, "k", 1);
    assert_eq!(book.hops(), [(0, 50), (1, 10)]);
    // An early event of a journey with several steps.
    let mut book = Book::of(&[Required]);
    book.start_kind(100, 1, 0, None).see(150, "k", 0).step(200, 1).keyed(250, 1, "k");
    assert_eq!(book.hops(), [(0, 50)]);
}

#[test]
fn a_predecessor_seen_later_makes_the_hop_negative() {
    let mut book = Book::of(&[Required, Required, Required]);
    book.start(100, 1, "k").root(110, 1).see(200, "k", 1).see(230, "k", 0).see(300, "k", 2);
    assert_eq!(book.hops(), [(0, 130), (1, -30), (2, 100)]);
    assert_eq!(book.finished()[0].negative_hops, 1);
    assert_eq!(book.finished()[0].hops_without_predecessor, 0);
}

#[test]
fn a_predecessor_never_seen_is_counted() {
    let mut book = Book::of(&[Optional, Required]);
    book.start(100, 1, "k").root(110, 1).see(200, "k", 1);
    // Seen after the finish: no sample for what has been counted.
    book.see(300, "k", 0);
    assert_eq!(book.hops(), [(0, 200)]);
    assert_eq!(book.finished()[0].hops_without_predecessor, 1);
    assert_eq!(book.ledger.balance().late_hops_without_predecessor, 0);
}

#[test]
fn disorder_after_the_completion_is_counted_in_the_book() {
    let mut book = Book::of(&[Required, Optional, Optional]);
    book.start(100, 1, "k").root(110, 1).see(200, "k", 0).see(300, "k", 2).see(400, "k", 1);
    assert_eq!(book.hops(), [(0, 100), (1, 200)]);
    assert_eq!(book.ledger.balance().late_hops_without_predecessor, 1);
}

#[test]
fn every_stage_has_a_hop_whatever_reaching_it_means() {
    for meaning in [Optional, StageKind::Never, StageKind::Failure] {
        let mut book = Book::of(&[Required, meaning]);
        book.start(100, 1, "k").see(200, "k", 0).see(250, "k", 1);
        assert_eq!(book.hops(), [(0, 100), (1, 50)]);
    }
}

#[test]
fn an_observation_before_t0_is_counted_and_never_made_up() {
    let mut book = Book::of(&[Required]);
    book.see(90, "k", 0).start(100, 1, "k");
    assert_eq!(book.hops(), [(0, -10)]);
    assert_eq!(book.ledger.balance().reached_before_t0, 1);
}

#[test]
fn who_waits_where() {
    let mut spec = kind(&[Required, Required, Optional]);
    spec.stages[2] = StageSpec { after: Predecessor::Step, ..spec.stages[2].clone() };
    let mut book = Book::new(plan(vec![spec]));
    let waiting = |book: &Book| [0, 1, 2].map(|stage| book.ledger.in_flight_at(0, stage));
    book.start(100, 1, "a").start(110, 2, "b");
    assert_eq!(waiting(&book), [2, 0, 2]);
    assert_eq!(book.ledger.oldest_in_flight_t0_ns(0), Some(100));
    book.see(120, "a", 0).see(130, "b", 0);
    assert_eq!(waiting(&book), [0, 2, 2]);
    book.see(140, "a", 2).root(150, 1).see(160, "a", 1);
    assert_eq!(waiting(&book), [0, 1, 1]);
    assert_eq!(book.ledger.oldest_in_flight_t0_ns(0), Some(110));
    // Reached out of order: nobody waits for it any more when its predecessor comes.
    book.start(170, 3, "c").see(180, "c", 1).see(190, "c", 0);
    assert_eq!(waiting(&book), [0, 1, 2]);
    book.close(200);
    assert_eq!(waiting(&book), [0, 0, 0]);
    assert_eq!(book.ledger.oldest_in_flight_t0_ns(0), None);
    let mut maxima = || [0, 1, 2].map(|stage| book.ledger.take_in_flight_max(0, stage));
    assert_eq!(maxima(), [2, 2, 2]);
    assert_eq!(maxima(), [0, 0, 0]);
    assert_eq!(book.ledger.in_flight_at(9, 9) + book.ledger.take_in_flight_max(9, 9), 0);
}
