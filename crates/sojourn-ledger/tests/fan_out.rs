//! Fan-out stages whose number of members each journey is told.

use proptest::prelude::*;
use sojourn_ledger::FinishClass::{Completed, Lost};
use sojourn_ledger::StageKind::Required;
use sojourn_ledger::{Decision, Fact, JourneyId, LedgerSpec, MembersSeen, More, Observation, TOLD};

use crate::support::*;

/// Created, then so many posted.
fn book() -> Book {
    Book::new(spec())
}

fn spec() -> LedgerSpec {
    let mut spec = kind(&[Required, Required]);
    spec.stages[1].expect = TOLD;
    plan(vec![spec])
}

/// An event of a stage that says how many members stage 1 has.
fn telling(text: &str, stage: u8, member: u64, members: u32) -> Observation {
    let mut observation = event(text, stage);
    let more = More { tells: [(1, members)].into_iter().collect(), ..More::default() };
    observation.candidates[0].member = Some(member);
    observation.candidates[0].more = Some(Box::new(more));
    observation
}

/// When stage 1 was reached, and since when it had a first member.
fn reached(book: &Book) -> (Option<u64>, Option<u64>) {
    let mut found = (None, None);
    for decision in &book.decisions {
        match decision {
            Decision::Reached { stage: 1, stamp_ns, .. } => found.0 = Some(*stamp_ns),
            Decision::FirstMember { stage: 1, since_start_ns, .. } => {
                found.1 = Some(*since_start_ns);
            }
            _ => {}
        }
    }
    found
}

#[test]
fn the_number_comes_from_the_predecessor_the_stage_itself_or_an_answer() {
    // From the predecessor.
    let mut book = book();
    book.start(100, 1, "k").root(110, 1).observe(200, telling("k", 0, 0, 2));
    book.see_member(300, "k", 1, 7).see_member(310, "k", 1, 7);
    assert_eq!(book.outcome(1), None);
    book.see_member(400, "k", 1, 8);
    assert_eq!((book.outcome(1), reached(&book)), (Some((Completed, 400)), (Some(400), Some(200))));
    // From the stage's own first event, which is one of them.
    let mut book = self::book();
    book.start(100, 1, "k").root(110, 1).see(200, "k", 0).observe(300, telling("k", 1, 7, 2));
    book.observe(400, telling("k", 1, 8, 9));
    assert_eq!(book.outcome(1), Some((Completed, 400)));
    // From an answer that came after all members.
    let mut book = self::book();
    book.start(100, 1, "k").see(200, "k", 0).see_member(300, "k", 1, 7).see_member(310, "k", 1, 8);
    book.see_member(320, "k", 1, 9);
    let journey = JourneyId(1);
    book.tell(500, Fact::Told { journey, stage: 1, members: 2 }).root(510, 1);
    assert_eq!((book.outcome(1), reached(&book)), (Some((Completed, 510)), (Some(310), Some(200))));
    assert_eq!(book.ledger.balance().refused, 0);
}

#[test]
fn none_at_all_is_reached_at_once() {
    let mut book = book();
    book.start(100, 1, "k").root(110, 1).observe(200, telling("k", 0, 0, 0));
    assert_eq!((book.outcome(1), reached(&book)), (Some((Completed, 200)), (Some(200), None)));
    // Its own event can't say so: there is at least that one.
    let mut book = self::book();
    book.start(100, 1, "k").root(110, 1).see(200, "k", 0).observe(300, telling("k", 1, 7, 0));
    assert_eq!(reached(&book), (Some(300), Some(200)));
}

#[test]
fn a_lost_journey_says_how_far_it_came() {
    let mut book = book();
    book.start(100, 1, "k").root(110, 1).observe(200, telling("k", 0, 0, 5));
    book.see_member(300, "k", 1, 7).see_member(310, "k", 1, 8);
    book.start(100, 2, "l").root(110, 2).see_member(320, "l", 1, 1);
    book.advance(5_000);
    let of = |id: u64| {
        let finished = book.finished();
        let own = finished.iter().find(|end| end.journey.0 == id).expect("it ended");
        assert_eq!(own.class, Lost);
        own.members.clone()
    };
    assert_eq!(of(1), [MembersSeen { stage: 1, seen: 2, expected: Some(5) }]);
    assert_eq!(of(2), [MembersSeen { stage: 1, seen: 1, expected: None }]);
}

#[test]
fn members_of_all_journeys_are_bounded_and_given_back() {
    let mut book = Book::new(LedgerSpec { members_max: 3, ..spec() });
    book.start(100, 1, "k").root(110, 1).see(200, "k", 0);
    for member in 0..4 {
        book.see_member(300 + member, "k", 1, member);
    }
    assert_eq!(book.ledger.balance().refusals.members, 1);
    book.advance(50_000);
    assert_eq!(book.ledger.tombstones(), 0);
    book.start(60_000, 2, "l").root(60_010, 2).observe(60_020, telling("l", 0, 0, 3));
    for member in 0..3 {
        book.see_member(60_030 + member, "l", 1, member);
    }
    assert_eq!(book.outcome(2), Some((Completed, 60_032)));
    assert_eq!(book.ledger.balance().refusals.members, 1);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whenever the number is told, and by whom, the stage is reached at the k-th distinct member.
    #[test]
    fn the_order_of_telling_changes_nothing(
        members in prop::collection::vec(0..12_u64, 0..30),
        expected in 0..10_u32,
        told_at in 0..31_usize,
        by_answer: bool,
    ) {
        let mut book = book();
        book.start(10, 1, "k");
        let tell = |book: &mut Book, stamp_ns| {
            let fact = Fact::Told { journey: JourneyId(1), stage: 1, members: expected };
            match by_answer {
                true => book.tell(stamp_ns, fact),
                false => book.observe(stamp_ns, telling("k", 0, 0, expected)),
            };
        };
        let told_at = told_at.min(members.len());
        for (at, &member) in members.iter().enumerate() {
            if at == told_at {
                tell(&mut book, 95 + 10 * at as u64);
            }
            book.see_member(100 + 10 * at as u64, "k", 1, member);
        }
        if told_at == members.len() {
            tell(&mut book, 95 + 10 * told_at as u64);
        }
        let is_new = |&at: &usize| !members[..at].contains(&members[at]);
        let distinct: Vec<usize> = (0..members.len()).filter(is_new).collect();
        let full_ns = match expected.checked_sub(1) {
            None => Some(95 + 10 * told_at as u64),
            Some(last) => distinct.get(last as usize).map(|&at| 100 + 10 * at as u64),
        };
        prop_assert_eq!(reached(&book).0, full_ns);
        prop_assert_eq!(book.ledger.balance().refused, 0);
        let again = members.len() - distinct.len();
        let duplicates = book.ledger.balance().events.duplicate_unknown;
        // Beyond four times as many as expected they are no longer told apart.
        if distinct.len() <= 4 * expected.max(1) as usize {
            prop_assert_eq!(duplicates, again as u64);
        }
    }
}
