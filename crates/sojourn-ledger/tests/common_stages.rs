//! Kinds that choose their stages from common ones, and come into being while facts come.

use sojourn_ledger::EventClass::{Duplicate, Matched, Unattributed};
use sojourn_ledger::FinishClass::{Completed, Late, Lost, RootFailed};
use sojourn_ledger::StageKind::Required;
use sojourn_ledger::{Decision, Fact, Followed, JourneyId, Ledger, Phase};

use crate::support::*;

/// Four common stages and no kind.
fn book() -> Book {
    let mut book = Book::new(plan(Vec::new()));
    book.ledger = Ledger::new(plan(Vec::new())).with_common_stages(4);
    book
}

fn follow(book: &mut Book, stamp_ns: u64, id: u64, kind: u16, t0_ns: u64, text: &str) {
    follow_from(book, stamp_ns, (id, kind), [t0_ns, t0_ns], text);
}

fn follow_from(
    book: &mut Book,
    stamp_ns: u64,
    (id, kind): (u64, u16),
    [t0_ns, deadline_from_ns]: [u64; 2],
    text: &str,
) {
    let followed = Followed {
        journey: JourneyId(id),
        kind,
        phase: Phase::Steady,
        t0_ns,
        t1_ns: t0_ns + 10,
        deadline_from_ns,
        key: key(text),
        label: None,
    };
    book.tell(stamp_ns, Fact::Followed(Box::new(followed)));
}

#[test]
fn events_before_the_kind_exists_complete_its_journey_in_hindsight() {
    let mut book = book();
    book.see(150, "k", 2).see(160, "k", 0);
    let kind = book.ledger.add_kind(kind(&[Required, Required]), &[2, 0]);
    assert_eq!(kind, Some(0));
    follow(&mut book, 300, 1, 0, 100, "k");
    // Not when it was asked for, but when its last event had come.
    assert_eq!(book.outcome(1), Some((Completed, 160)));
    // The first hop counts from its beginning, the second one from the stage before.
    assert_eq!(book.hops(), [(0, 40), (1, 10)]);
    assert_eq!(book.classes(), [Matched, Matched]);
}

#[test]
fn each_kind_hears_only_of_the_stages_that_it_has_chosen() {
    let mut book = book();
    assert_eq!(book.ledger.add_kind(kind(&[Required]), &[1]), Some(0));
    follow(&mut book, 110, 1, 0, 100, "a");
    // Stages that it has not chosen: matched each time, never a duplicate, and without effect.
    book.see(120, "a", 3).see(130, "a", 3);
    assert_eq!(book.outcome(1), None);
    // The event fits a common stage that the kind has not chosen before one that it has.
    let mut both = event("a", 0);
    both.candidates.push(fit(0, 1, "a"));
    book.observe(140, both.clone()).observe(150, both);
    assert_eq!(book.outcome(1), Some((Completed, 140)));
    let classes = book.classes();
    assert!(matches!(classes[..], [Matched, Matched, Matched, Duplicate(_)]), "{classes:?}");
    let again = book.decisions.iter().find_map(|decision| match decision {
        Decision::Again(again) => Some((again.stage, again.key.clone())),
        _ => None,
    });
    assert_eq!(again, Some((0, Some(key("a")))));
    // A kind that comes later, with the same stage at another place.
    assert_eq!(book.ledger.add_kind(kind(&[Required, Required]), &[3, 1]), Some(1));
    follow(&mut book, 200, 2, 1, 190, "b");
    book.see(210, "b", 1).see(220, "b", 3);
    assert_eq!(book.outcome(2), Some((Completed, 220)));
    assert_eq!(book.ledger.add_kind(kind(&[Required]), &[0, 1]), None);
}

#[test]
fn a_key_names_one_journey_of_whichever_kind() {
    let mut book = book();
    book.ledger.add_kind(kind(&[Required]), &[0]);
    book.ledger.add_kind(kind(&[Required]), &[1]);
    follow(&mut book, 110, 1, 0, 100, "k");
    follow(&mut book, 120, 2, 1, 100, "k");
    assert_eq!(book.outcome(2), Some((RootFailed, 120)));
    book.see(130, "k", 0);
    assert_eq!(book.outcome(1), Some((Completed, 130)));
    // A finished journey gives its key away.
    follow(&mut book, 140, 3, 1, 135, "k");
    book.see(150, "k", 1);
    assert_eq!(book.outcome(3), Some((Completed, 150)));
}

#[test]
fn one_that_is_asked_for_after_its_deadline_is_judged_by_when_its_events_came() {
    let mut book = book();
    book.ledger.add_kind(kind(&[Required]), &[0]);
    book.see(1_950, "in time", 0).see(2_050, "late", 0).see(2_060, "nobody's", 0);
    // Deadline 1,000 after t0; asked for beyond it.
    follow(&mut book, 2_100, 1, 0, 1_000, "in time");
    follow(&mut book, 2_100, 2, 0, 1_000, "late");
    follow(&mut book, 2_100, 3, 0, 1_000, "lost");
    assert_eq!(book.outcome(1), Some((Completed, 1_950)));
    assert_eq!(book.outcome(2), Some((Late, 2_050)));
    book.close(4_000);
    assert_eq!(book.outcome(3).map(|(class, _)| class), Some(Lost));
    assert!(book.classes().contains(&Unattributed));
}

#[test]
fn a_deadline_may_count_from_a_later_instant_than_the_start() {
    let mut book = book();
    book.ledger.add_kind(kind(&[Required]), &[0]);
    // Begun long ago, asked for just now, in another order than they began.
    follow_from(&mut book, 5_000, (1, 0), [1_000, 5_000], "in time");
    follow_from(&mut book, 5_100, (2, 0), [100, 5_100], "late");
    follow_from(&mut book, 5_200, (3, 0), [4_900, 5_200], "lost");
    book.see(5_999, "in time", 0).see(6_101, "late", 0);
    assert_eq!(book.outcome(1), Some((Completed, 5_999)));
    assert_eq!(book.outcome(2), Some((Late, 6_101)));
    assert_eq!(book.outcome(3), None);
    book.close(9_000);
    assert_eq!(book.outcome(3).map(|(class, _)| class), Some(Lost));
    // Times still count from the start.
    let since: Vec<u64> = book
        .decisions
        .iter()
        .filter_map(|decision| match decision {
            Decision::Reached { since_start_ns, .. } => Some(*since_start_ns),
            _ => None,
        })
        .collect();
    assert_eq!(since, [4_999, 6_001]);
}
