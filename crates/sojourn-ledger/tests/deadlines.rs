//! Deadlines to the nanosecond, and in their order.

use sojourn_ledger::FinishClass::{Completed, InFlightAtCutoff, Late, Lost};
use sojourn_ledger::StageKind::Required;
use sojourn_ledger::{Decision, Fact, JourneyId, JourneySpec, Phase};

use crate::support::*;

#[test]
fn a_deadline_expires_after_its_instant() {
    let mut book = Book::of(&[Required]);
    book.start(100, 1, "k").advance(1_100);
    assert!(book.overdue().is_empty());
    book.advance(1_101);
    assert_eq!(book.overdue(), [1]);
    book.advance(1_600);
    assert_eq!(book.outcome(1), None);
    book.advance(1_601);
    assert_eq!(book.outcome(1), Some((Lost, 1_600)));
    assert_eq!(book.overdue(), [1]);
}

#[test]
fn a_fact_makes_time_pass_before_it_is_applied() {
    let mut book = Book::of(&[Required]);
    book.start(100, 1, "a").start(5_000, 2, "b");
    assert_eq!((book.overdue(), book.outcome(1)), (vec![1], Some((Lost, 1_600))));
}

#[test]
fn a_complete_journey_is_never_overdue() {
    let mut book = Book::of(&[Required]);
    book.start(100, 1, "k").root(110, 1).see(1_100, "k", 0).advance(9_000);
    assert_eq!((book.overdue(), book.outcome(1)), (vec![], Some((Completed, 1_100))));
}

#[test]
fn deadlines_follow_t0_and_not_the_order_of_starts() {
    let mut book = Book::of(&[Required]);
    // (t0, t1): four generators, each with its own lag.
    for (id, t0_ns, t1_ns) in [(1, 100, 100), (2, 130, 130), (3, 90, 140), (4, 110, 150)] {
        let (journey, phase) = (JourneyId(id), Phase::Steady);
        book.tell(t1_ns, Fact::Started { journey, kind: 0, phase, t0_ns, key: None });
    }
    assert_eq!(book.ledger.oldest_in_flight_t0_ns(0), Some(90));
    book.advance(9_000);
    assert_eq!(book.overdue(), [3, 1, 4, 2]);
    let lost: Vec<_> = book.finished().iter().map(|end| (end.journey.0, end.end_ns)).collect();
    assert_eq!(lost, [(3, 1_590), (1, 1_600), (4, 1_610), (2, 1_630)]);
}

#[test]
fn one_that_starts_after_its_deadline_is_overdue_at_once() {
    let mut book = Book::of(&[Required]);
    book.start(1_000, 1, "a").start(1_500, 2, "b").advance(2_100);
    let (journey, phase) = (JourneyId(3), Phase::Steady);
    book.tell(2_200, Fact::Started { journey, kind: 0, phase, t0_ns: 900, key: None });
    book.start(2_300, 4, "d");
    assert_eq!(book.overdue(), [1, 3]);
    book.advance(9_000);
    assert_eq!(book.overdue(), [1, 3, 2, 4]);
    let lost: Vec<_> = book.finished().iter().map(|end| end.journey.0).collect();
    assert_eq!(lost, [3, 1, 2, 4]);
}

#[test]
fn kinds_expire_in_one_order() {
    let quick = JourneySpec { within_ns: 300, linger_ns: 900, ..kind(&[Required]) };
    let mut book = Book::new(plan(vec![kind(&[Required]), quick]));
    book.start_kind(100, 1, 0, None).start_kind(850, 2, 1, None).see(900, "nobody", 0);
    book.advance(9_000);
    let told = |decision: &Decision| match decision {
        Decision::Overdue { journey, .. } => Some(format!("overdue {}", journey.0)),
        Decision::Finished(finished) => Some(format!("lost {}", finished.journey.0)),
        Decision::Event { .. } => Some("event".to_owned()),
        _ => None,
    };
    let order: Vec<String> = book.decisions.iter().filter_map(told).collect();
    // 1,100 · 1,100 · 1,150 · 1,600 · 2,050
    assert_eq!(order, ["overdue 1", "event", "overdue 2", "lost 1", "lost 2"]);
}

#[test]
fn nothing_expires_beyond_the_instant_that_was_vouched_for() {
    let mut book = Book::of(&[Required]);
    book.start(100, 1, "a").root(110, 1).start(400, 2, "b").start(450, 3, "c");
    book.ledger.cut_off(100 + WITHIN + 1);
    // Facts of sources that ended later still count, and time does not pass by them.
    book.root(400 + WITHIN + 1, 2).see(400 + WITHIN + 2, "b", 0);
    assert_eq!(book.overdue(), [1]);
    book.close(10_000);
    let outcomes = [1, 2, 3].map(|id| book.outcome(id).map(|(class, _)| class));
    assert_eq!(outcomes, [Some(Lost), Some(Late), Some(InFlightAtCutoff)]);
}

#[test]
fn what_a_lost_generator_alone_could_end_was_in_flight_at_the_cutoff() {
    let mut book = Book::of(&[Required]);
    let of_the_other = 1 << 48 | 1;
    book.start(100, 1, "a").start(110, 2, "b").start(120, of_the_other, "c").root(130, 2);
    book.ledger.leave(0, &mut book.decisions);
    assert_eq!(book.outcome(1), Some((InFlightAtCutoff, 130)));
    assert_eq!((book.outcome(2), book.outcome(of_the_other)), (None, None));
    book.see(200, "b", 0).advance(9_000);
    assert_eq!(book.outcome(2), Some((Completed, 200)));
    assert_eq!(book.outcome(of_the_other), Some((Lost, 1_620)));
    assert_eq!(book.ledger.balance().imbalance(), None);
}

#[test]
fn journeys_of_a_lost_generator_that_have_steps_to_come_are_cut_off_too() {
    let mut book = Book::new(plan(vec![JourneySpec { has_follow_ups: true, ..kind(&[Required]) }]));
    book.start(100, 1, "a").root(110, 1).see(150, "a", 0);
    book.ledger.leave(0, &mut book.decisions);
    assert_eq!(book.outcome(1), Some((InFlightAtCutoff, 150)));
}
