//! Bounds: what is refused is counted, and the book still balances.

use sojourn_ledger::EventClass::{Matched, Unattributed};
use sojourn_ledger::FinishClass::RootFailed;
use sojourn_ledger::StageKind::Required;
use sojourn_ledger::{Fact, JourneyId, LedgerSpec, Observation, Phase, Refusals};

use crate::support::*;

fn bounded(bound: fn(&mut LedgerSpec)) -> Book {
    let mut spec = plan(vec![kind(&[Required])]);
    bound(&mut spec);
    Book::new(spec)
}

#[test]
fn a_start_beyond_the_bound_ends_at_once() {
    let mut book = bounded(|spec| spec.journeys_max = 1);
    book.start(100, 1, "a").start(110, 2, "b").root(120, 2).see(130, "b", 0).root(140, 1);
    assert_eq!(book.outcome(2), Some((RootFailed, 110)));
    book.see(150, "a", 0).start(160, 3, "c").close(170);
    let balance = book.ledger.balance();
    assert_eq!(balance.refusals, Refusals { journeys: 1, ..Refusals::default() });
    assert_eq!((balance.refused, balance.journeys.started), (1, 3));
}

#[test]
fn an_event_beyond_the_bound_gets_its_class_at_once() {
    let mut book = bounded(|spec| spec.early_max = 1);
    book.see(100, "a", 0).see(110, "b", 0);
    assert_eq!(book.classes(), [Unattributed]);
    book.start(120, 1, "a");
    assert_eq!(book.classes(), [Unattributed, Matched]);
    assert_eq!(book.ledger.balance().refusals.early_events, 1);
}

#[test]
fn the_oldest_tombstone_goes_first() {
    let mut book = bounded(|spec| spec.tombstones_max = 1);
    for (id, text) in [(1, "a"), (2, "b")] {
        book.start(id * 100, id, text).root_failed(id * 100 + 10, id);
    }
    book.see(300, "a", 0).see(310, "b", 0);
    let events = book.ledger.balance().events;
    assert_eq!((events.waiting, events.after_failure), (1, 1));
    assert_eq!((book.ledger.tombstones(), book.ledger.balance().tombstones_evicted), (1, 1));
}

#[test]
fn no_room_for_tombstones_at_all() {
    let mut book = bounded(|spec| spec.tombstones_max = 0);
    book.see(90, "a", 0).see(95, "a", 0).start(100, 1, "a").root(110, 1);
    book.start(120, 2, "b").start(130, 3, "b").see(140, "a", 0).close(150);
    assert_eq!(book.ledger.balance().tombstones_evicted, 3);
    assert_eq!(book.ledger.balance().refused, 0);
}

#[test]
fn keys_and_steps_of_one_journey_are_bounded() {
    let mut book = bounded(|_| {});
    book.start(100, 1, "first");
    for at in 0..100 {
        book.step(200 + at, 1).keyed(200 + at, 1, &format!("alias {at}"));
    }
    assert_eq!(book.ledger.balance().refusals.keys_or_steps, (100 - 63) + (100 - 15));
}

#[test]
fn what_contradicts_the_plan_is_counted() {
    let mut book = bounded(|_| {});
    book.start(100, 1, "a").start(110, 1, "b").start_kind(120, 2, 7, None);
    book.tell(130, Fact::Missed { kind: 7, phase: Phase::Steady });
    book.tell(140, Fact::Polled { journey: JourneyId(1), stage: 7 });
    book.tell(150, Fact::FollowUpsCompleted { journey: JourneyId(1) });
    let candidates = [fit(7, 0, "a"), fit(0, 7, "a")].into_iter().collect();
    book.observe(160, Observation { candidates, ..event("a", 0) });
    assert_eq!(book.ledger.balance().refusals.contradictions, 7);
    assert_eq!(book.classes(), [Unattributed]);
    let lines = book.ledger.balance().journeys;
    assert_eq!((lines.scheduled, lines.started), (1, 1));
}

#[test]
fn what_comes_for_a_forgotten_journey_is_harmless_unless_it_names_events() {
    let mut book = bounded(|_| {});
    book.start(100, 1, "a").root(110, 1).see(120, "a", 0);
    book.start(200, 2, "b").advance(120 + TTL + 1);
    let late = 120 + TTL + 10;
    book.root(late, 1).root_failed(late, 1).step(late, 1).step_ended(late, 1);
    let balance = book.ledger.balance();
    assert_eq!((balance.facts_after_forgetting, balance.refused), (4, 0));
    book.keyed(late, 1, "late").tell(late, Fact::Polled { journey: JourneyId(1), stage: 0 });
    let balance = book.ledger.balance();
    assert_eq!(balance.refusals, Refusals { forgotten: 2, ..Refusals::default() });
    assert_eq!((balance.facts_after_forgetting, balance.refused), (4, 2));
}
