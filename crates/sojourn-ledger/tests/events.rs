//! Where an event ends up: one class each.

use sojourn_ledger::DuplicateKind::{Redelivery, Republication, Unknown};
use sojourn_ledger::EventClass::{
    self, AfterFailure, Duplicate, Foreign, Matched, Orphan, Unattributed, Undecodable,
};
use sojourn_ledger::StageKind::{Failure, Optional, Required};
use sojourn_ledger::{
    Decision, Marker, More, Observation, Phase, Reason, StageSpec, TraceContext, TraceSeed,
};

use crate::support::*;

#[test]
fn the_same_stage_again_is_a_duplicate_told_by_its_message_id() {
    // Message ids of the first and the second event.
    let table: [(Option<u64>, Option<u64>, EventClass); 5] = [
        (Some(7), Some(7), Duplicate(Redelivery)),
        (Some(7), Some(8), Duplicate(Republication)),
        (None, Some(7), Duplicate(Unknown)),
        (Some(7), None, Duplicate(Unknown)),
        (None, None, Duplicate(Unknown)),
    ];
    // While in flight, after completion, after the deadline of a completed journey.
    for second_ns in [210, 500, 3_000] {
        for (first, second, class) in table {
            let mut book = Book::of(&[Required, Required]);
            let with = |message_id| Observation { message_id, ..event("k", 0) };
            book.start(100, 1, "k").root(150, 1).observe(200, with(first));
            if second_ns > 300 {
                book.see(300, "k", 1);
            }
            book.observe(second_ns, with(second));
            assert_eq!(book.classes().last(), Some(&class), "{first:?} {second:?}");
        }
    }
}

#[test]
fn a_duplicate_is_compared_with_the_first_observation_only() {
    let mut book = Book::of(&[Required, Required]);
    book.start(100, 1, "k");
    book.see_id(200, "k", 0, 1).see_id(210, "k", 0, 2).see_id(220, "k", 0, 2);
    assert_eq!(book.classes()[1..], [Duplicate(Republication), Duplicate(Republication)]);
}

#[test]
fn what_follows_a_failure_is_told_apart_whatever_its_stage() {
    let stages = [Required, Failure];
    // Failed by a dead letter, root failed, lost: each followed by all stages.
    let fail: [fn(&mut Book) -> &mut Book; 3] =
        [|book| book.see(200, "k", 1), |book| book.root_failed(200, 1), |book| book.advance(2_000)];
    for fails in fail {
        let mut book = Book::of(&stages);
        fails(book.start(100, 1, "k"));
        let before = book.classes().len();
        book.see(2_100, "k", 0).see(2_200, "k", 0).see(2_300, "k", 1);
        assert_eq!(book.classes()[before..], [AfterFailure; 3]);
    }
    let mut book = Book::of(&stages);
    book.start(100, 1, "k").close(200).see(300, "k", 0);
    assert_eq!(book.classes(), [AfterFailure]);
}

#[test]
fn a_stage_may_be_reached_after_the_completion() {
    let mut book = Book::of(&[Required, Optional]);
    book.start(100, 1, "k").root(150, 1).see(200, "k", 0).see(900, "k", 1).see(950, "k", 1);
    assert_eq!(book.classes(), [Matched, Matched, Duplicate(Unknown)]);
    assert_eq!(book.hops(), [(0, 100), (1, 700)]);
    assert!(book.decisions.iter().any(|decision| matches!(
        decision,
        Decision::Reached { stage: 1, since_start_ns: 800, resume: false, .. }
    )));
}

#[test]
fn without_a_journey_the_marker_decides() {
    let table =
        [(Marker::Ours, Orphan), (Marker::Foreign, Foreign), (Marker::Absent, Unattributed)];
    for (marker, class) in table {
        // Fits a stage, but nobody has its key: it waits, unless it is another run's.
        let mut book = Book::of(&[Required]);
        book.see_marked(100, "nobody", marker);
        let at_once = marker == Marker::Foreign;
        assert_eq!(book.classes().len(), usize::from(at_once));
        assert_eq!(book.ledger.balance().events.waiting, u64::from(!at_once));
        book.advance(100 + EARLY_WAIT);
        assert_eq!(book.classes().len(), usize::from(at_once));
        book.advance(101 + EARLY_WAIT);
        assert_eq!(book.classes(), [class]);
        // Cut short by the close.
        let mut book = Book::of(&[Required]);
        book.see_marked(100, "nobody", marker).close(110);
        assert_eq!(book.classes(), [class]);
        // Fits no stage: nothing to wait for.
        let mut book = Book::of(&[Required]);
        let candidates = Default::default();
        book.observe(100, Observation { candidates, marker, ..event("k", 0) });
        assert_eq!(book.classes(), [class]);
    }
}

#[test]
fn the_key_decides_before_the_marker() {
    let mut book = Book::of(&[Required]);
    book.start(100, 1, "k").see_marked(200, "k", Marker::Foreign);
    assert_eq!(book.classes(), [Matched]);
}

#[test]
fn an_undecodable_event_never_matches() {
    let mut book = Book::of(&[Required]);
    book.start(100, 1, "k").observe(200, Observation { undecodable: true, ..event("k", 0) });
    assert_eq!(book.classes(), [Undecodable]);
}

#[test]
fn a_decision_says_where_an_event_belongs() {
    let mut book = Book::of(&[Required, Required]);
    book.start(100, 1, "k").see(200, "k", 1).see(210, "k", 1).root_failed(220, 1).see(230, "k", 0);
    book.observe(240, Observation { undecodable: true, ..event("k", 0) });
    let belongs: Vec<_> = book
        .decisions
        .iter()
        .filter_map(|decision| match decision {
            Decision::Event { belongs, stamp_ns, .. } => Some((*stamp_ns, *belongs)),
            _ => None,
        })
        .collect();
    let at = |stage| Some((0, stage, Phase::Steady));
    assert_eq!(belongs, [(200, at(1)), (210, at(1)), (230, at(0)), (240, None)]);
}

/// Two stages that one event fits.
fn twins(shared: bool) -> Book {
    let mut spec = kind(&[Required, Required]);
    spec.stages[1] = StageSpec { shared, ..spec.stages[1].clone() };
    Book::new(plan(vec![spec]))
}

fn both() -> Observation {
    let candidates = [fit(0, 0, "k"), fit(0, 1, "k")].into_iter().collect();
    Observation { candidates, ..event("k", 0) }
}

#[test]
fn an_event_that_fits_two_stages_belongs_to_the_first_not_reached() {
    let mut book = twins(false);
    book.start(100, 1, "k").observe(200, both()).observe(300, both()).observe(400, both());
    assert_eq!(book.classes(), [Matched, Matched, Duplicate(Unknown)]);
    assert_eq!(book.hops(), [(0, 100), (1, 100)]);
}

#[test]
fn a_shared_stage_is_reached_besides() {
    let mut book = twins(true);
    book.start(100, 1, "k").root(150, 1).observe(200, both());
    assert_eq!(book.classes(), [Matched]);
    assert_eq!(book.hops(), [(0, 100), (1, 0)]);
    assert!(book.outcome(1).is_some());
}

#[test]
fn an_event_of_two_kinds_goes_to_the_journey_in_flight() {
    let two = || plan(vec![kind(&[Required]), kind(&[Required])]);
    let either = || {
        let candidates = [fit(0, 0, "k"), fit(1, 0, "k")].into_iter().collect();
        Observation { candidates, ..event("k", 0) }
    };
    let mut book = Book::new(two());
    book.start_kind(100, 1, 1, Some(key("k"))).root(110, 1).observe(200, either());
    assert!(book.outcome(1).is_some());
    // One value names a journey of each kind.
    let mut book = Book::new(two());
    book.start_kind(100, 1, 0, Some(key("k"))).root(110, 1).observe(200, either());
    book.start_kind(300, 2, 1, Some(key("k"))).root(310, 2).observe(400, either());
    assert_eq!(book.classes(), [Matched, Matched]);
    book.observe(500, either());
    assert_eq!(book.classes()[2], Duplicate(Unknown));
}

#[test]
fn a_fan_out_stage_is_reached_at_the_last_member_expected() {
    let mut spec = kind(&[Required]);
    spec.stages[0].expect = 3;
    let mut book = Book::new(plan(vec![spec]));
    book.start(100, 1, "k").root(110, 1);
    for (stamp_ns, member) in [(200, 1), (210, 2), (220, 1), (230, 3), (240, 4), (250, 4)] {
        book.see_member(stamp_ns, "k", 0, member);
    }
    let again = Duplicate(Unknown);
    assert_eq!(book.classes(), [Matched, Matched, again, Matched, Matched, again]);
    assert_eq!(book.outcome(1), Some((sojourn_ledger::FinishClass::Completed, 230)));
    assert_eq!(book.hops(), [(0, 130)]);
}

#[test]
fn a_tombstone_lasts_for_its_time() {
    let mut book = Book::of(&[Required]);
    book.start(100, 1, "k").root(150, 1).see(200, "k", 0);
    book.see(200 + TTL, "k", 0).see(201 + TTL, "k", 0).close(10_000);
    assert_eq!(book.classes(), [Matched, Duplicate(Unknown), Unattributed]);
    assert_eq!(book.ledger.balance().tombstones_evicted, 0);
}

#[test]
fn a_failure_comes_with_the_systems_own_words() {
    let mut book = Book::of(&[Required, Failure]);
    let says = |text: &str, words: &str| {
        let mut dead = event(text, 1);
        let more = More { reason: Some(words.into()), ..More::default() };
        dead.candidates[0].more = Some(Box::new(more));
        dead
    };
    book.start(100, 1, "k").observe(200, says("k", "no funds"));
    // Said again after the end: the first words stay.
    book.observe(210, says("k", "other"));
    // Before its key is known: the words wait with it.
    book.observe(220, says("late", "rejected")).start_kind(230, 2, 0, None).keyed(240, 2, "late");
    book.start(300, 3, "silent").see(310, "silent", 1);
    let said: Vec<_> = book.finished().iter().map(|end| end.said.as_deref()).collect();
    assert_eq!(said, [Some("no funds"), Some("rejected"), None]);
    let reasons = book.finished().iter().all(|end| end.reason == Some(Reason::Stage(1)));
    assert!(reasons);
}

#[test]
fn a_matched_event_carries_its_journeys_trace_another_one_or_none() {
    let seed = TraceSeed::of(7, "run");
    let mut spec = kind(&[Required, Optional, Optional, Optional]);
    spec.trace = Some(seed);
    let mut book = Book::new(plan(vec![spec]));
    book.start(100, 1, "k").root(110, 1).start(100, 2, "l");
    let carries = |stage: u8, journeys: &[u64]| {
        let mut observation = event("k", stage);
        let traces = journeys.iter().map(|&id| seed.id(sojourn_ledger::JourneyId(id))).collect();
        observation.candidates[0].more = Some(Box::new(More { traces, ..More::default() }));
        observation
    };
    book.observe(200, carries(0, &[1]))
        .observe(210, carries(1, &[2]))
        .observe(220, carries(2, &[]));
    // Any of those it names may be the journey's; said again it does not count again.
    book.observe(230, carries(3, &[2, 1])).observe(240, carries(0, &[]));
    let traced = book.decisions.iter().filter_map(|decision| match decision {
        Decision::Traced { stage, context, .. } => Some((*stage, *context)),
        _ => None,
    });
    let expected =
        [TraceContext::Own, TraceContext::Other, TraceContext::Absent, TraceContext::Own];
    assert_eq!(traced.collect::<Vec<_>>(), (0..).zip(expected).collect::<Vec<_>>());
}
