//! Where a journey ends up: the seven classes.

use sojourn_ledger::FinishClass::{Completed, Failed, InFlightAtCutoff, Late, Lost, RootFailed};
use sojourn_ledger::StageKind::{Failure, Never, Optional, Required};
use sojourn_ledger::{Decision, EventClass, Fact, FinishClass, JourneyId, Phase};

use crate::support::*;

/// What happens to a journey with t0 = t1 = 100 and the key "k".
#[derive(Clone, Copy)]
enum Happens {
    Root(u64),
    RootFails(u64),
    See(u64, u8),
    CheckFails(u64, u8),
    Polled(u64, u8),
    Close(u64),
}
use Happens::{CheckFails, Close, Polled, Root, RootFails, See};

/// Tells the story and compares how the journey ended, and when.
fn check(stages: &[sojourn_ledger::StageKind], story: &[Happens], expect: (FinishClass, u64)) {
    let mut book = Book::of(stages);
    book.start(100, 1, "k");
    for &happens in story {
        match happens {
            Root(at) => book.root(at, 1),
            RootFails(at) => book.root_failed(at, 1),
            See(at, stage) => book.see(at, "k", stage),
            CheckFails(at, stage) => {
                let mut observation = event("k", stage);
                observation.candidates[0].check_failed = true;
                book.observe(at, observation)
            }
            Polled(at, stage) => book.tell(at, Fact::Polled { journey: JourneyId(1), stage }),
            Close(at) => book.close(at),
        };
    }
    book.close(10_000);
    assert_eq!(book.outcome(1), Some(expect));
}

#[test]
fn a_journey_ends_with_the_last_that_was_required() {
    // An API test has no stages.
    check(&[], &[Root(150)], (Completed, 150));
    check(&[Required, Required], &[Root(150), See(200, 0), See(300, 1)], (Completed, 300));
    // The root may be last, and stages in any order.
    check(&[Required, Required], &[See(120, 1), See(130, 0), Root(400)], (Completed, 400));
    check(&[Required, Optional], &[Root(150), See(200, 0)], (Completed, 200));
    check(&[Required, Optional], &[Root(150), See(160, 1), See(200, 0)], (Completed, 200));
    check(&[Required], &[Root(150), Polled(180, 0)], (Completed, 180));
}

/// How the steps of journey 1 stand when it ends: the first one's end, and the others as (begun,
/// ended).
fn steps(story: fn(&mut Book) -> &mut Book) -> (Option<u64>, Vec<(u64, Option<u64>)>) {
    let mut book = Book::of(&[Required, Failure]);
    book.start(100, 1, "k");
    story(&mut book);
    book.close(5_000);
    let finished = book.finished()[0];
    let later = finished.later_steps.iter().map(|step| (step.began_ns, step.ended_ns));
    (finished.first_step_ended_ns, later.collect())
}

#[test]
fn every_step_has_its_own_beginning_and_end() {
    // One step: it ends with the root, which few facts say.
    assert_eq!(steps(|book| book.root(150, 1).see(200, "k", 0)), (Some(150), vec![]));
    assert_eq!(steps(|book| book.root_failed(150, 1)), (Some(150), vec![]));
    assert_eq!(steps(|book| book.see(200, "k", 1)), (None, vec![]), "still unanswered");
    // Several.
    let two = steps(|book| {
        book.step_ended(150, 1).step(151, 1).step_ended(180, 1).step_ended(190, 1);
        book.root(190, 1).see(200, "k", 0)
    });
    assert_eq!(two, (Some(150), vec![(151, Some(180))]));
    let failed_at_first = steps(|book| book.step_ended(150, 1).root_failed(150, 1));
    assert_eq!(failed_at_first, (Some(150), vec![]));
    let failed_meanwhile =
        steps(|book| book.step_ended(150, 1).step(151, 1).see(170, "k", 1).step_ended(180, 1));
    assert_eq!(failed_meanwhile, (Some(150), vec![(151, None)]));
}

#[test]
fn a_deadline_counts_from_t0_and_includes_its_own_instant() {
    check(&[Required], &[Root(150), See(1_100, 0)], (Completed, 1_100));
    check(&[Required], &[Root(150), See(1_101, 0)], (Late, 1_101));
    check(&[Required], &[Root(150), See(1_600, 0)], (Late, 1_600));
    // Decided at the end of its observation.
    check(&[Required], &[Root(150), See(1_601, 0)], (Lost, 1_600));
    check(&[Required], &[See(200, 0)], (Lost, 1_600));
}

#[test]
fn a_failure_is_final() {
    check(&[Required, Failure], &[Root(150), See(200, 1), See(300, 0)], (Failed, 200));
    check(&[Required, Never], &[Root(150), See(200, 1), See(300, 0)], (Failed, 200));
    check(&[Required], &[Root(150), CheckFails(200, 0)], (Failed, 200));
    check(&[Required], &[RootFails(150), See(200, 0)], (RootFailed, 150));
    check(&[Required, Failure], &[Polled(150, 1), Root(160)], (Failed, 150));
    // An overdue journey that fails has failed, not been lost.
    check(&[Required, Failure], &[Root(150), See(1_300, 1)], (Failed, 1_300));
}

#[test]
fn what_must_never_come_is_waited_for_until_the_deadline() {
    let stages = [Required, Never];
    check(&stages, &[Root(150), See(200, 0)], (Completed, 200));
    check(&stages, &[Root(150), See(200, 0), See(1_100, 1)], (Failed, 1_100));
    // Past its deadline such a journey goes on like any other.
    check(&stages, &[Root(150), See(1_200, 0)], (Late, 1_200));
    check(&stages, &[Root(150), See(1_200, 1), See(1_300, 0)], (Failed, 1_200));
    check(&stages, &[Root(150), See(200, 0), Close(1_100)], (InFlightAtCutoff, 1_100));
    check(&stages, &[Root(150), See(200, 0), Close(1_101)], (Completed, 200));
}

#[test]
fn the_close_tells_lost_from_cut_off() {
    check(&[Required], &[Root(150), Close(1_100)], (InFlightAtCutoff, 1_100));
    check(&[Required], &[Root(150), Close(1_101)], (Lost, 1_101));
    let mut book = Book::of(&[Required]);
    book.start(100, 1, "k").close(200);
    assert_eq!(book.ledger.balance().journeys.in_flight, 1);
}

#[test]
fn follow_ups_are_awaited_where_the_plan_has_them() {
    let mut spec = kind(&[Required]);
    spec.has_follow_ups = true;
    let story = |end: Fact| {
        let mut book = Book::new(plan(vec![spec.clone()]));
        book.start(100, 1, "k").root(150, 1).see(200, "k", 0);
        assert_eq!(book.outcome(1), None);
        book.tell(300, end);
        book.outcome(1)
    };
    let journey = JourneyId(1);
    assert_eq!(story(Fact::FollowUpsCompleted { journey }), Some((Completed, 300)));
    assert_eq!(story(Fact::FollowUpFailed { journey, why: None }), Some((Failed, 300)));
}

#[test]
fn a_finished_journey_tells_all_that_is_known_of_it() {
    let mut book = Book::of(&[Required, Optional, Required]);
    let (journey, t0_ns) = (JourneyId(1), 100);
    let started = Fact::Started { journey, kind: 0, phase: Phase::WarmUp, t0_ns, key: None };
    book.tell(110, started).keyed(140, 1, "k").root(150, 1).see(200, "k", 0).see(300, "k", 2);
    let [finished] = book.finished()[..] else { panic!("one journey") };
    assert_eq!((finished.journey, finished.kind, finished.phase), (journey, 0, Phase::WarmUp));
    assert_eq!((finished.t0_ns, finished.t1_ns, finished.t2_ns), (100, 110, Some(150)));
    assert_eq!(finished.stage_ns[..], [200, 0, 300]);
    assert_eq!(finished.key, Some(key("k")));
    assert_eq!((finished.hops_without_predecessor, finished.negative_hops), (1, 0));
}

#[test]
fn the_first_key_names_a_journey() {
    let mut book = Book::of(&[Required]);
    book.start(100, 1, "first").keyed(120, 1, "second").close(150);
    assert_eq!(book.finished()[0].key, Some(key("first")));
}

#[test]
fn a_class_never_changes() {
    let mut book = Book::of(&[Required, Failure, Never]);
    book.start(100, 1, "k").root(150, 1).see(200, "k", 0).advance(1_200);
    assert_eq!(book.outcome(1), Some((Completed, 200)));
    // A dead letter after the completion: matched, and counted as what it is.
    book.see(1_300, "k", 1).see(1_400, "k", 1).root_failed(1_500, 1).root(1_600, 1);
    let balance = book.ledger.balance();
    assert_eq!((balance.failure_after_completion, balance.refused), (1, 0));
    assert_eq!(balance.events.matched, 2);
    assert!(matches!(book.classes()[2], EventClass::Duplicate(_)));
    assert_eq!(book.outcome(1), Some((Completed, 200)));
}

#[test]
fn a_missed_arrival_is_scheduled_and_not_started() {
    let mut book = Book::of(&[]);
    book.tell(100, Fact::Missed { kind: 0, phase: Phase::Steady }).start(200, 1, "k");
    let lines = book.ledger.balance().journeys;
    assert_eq!((lines.scheduled, lines.missed, lines.started, lines.in_flight), (2, 1, 1, 1));
}

#[test]
fn a_stage_wakes_its_actor_while_the_journey_is_in_flight() {
    let mut spec = kind(&[Required, Optional]);
    spec.stages[0].resumes = true;
    spec.stages[1].resumes = true;
    let mut book = Book::new(plan(vec![spec]));
    book.start(100, 1, "k").root(150, 1).see(200, "k", 0).see(300, "k", 1);
    let resumes: Vec<bool> = book
        .decisions
        .iter()
        .filter_map(|decision| match decision {
            Decision::Reached { resume, .. } => Some(*resume),
            _ => None,
        })
        .collect();
    assert_eq!(resumes, [true, false]);
}

#[test]
fn a_failed_journey_says_why() {
    use sojourn_ledger::Reason;
    let reason = |tell: &dyn Fn(&mut Book)| {
        let mut book = Book::of(&[Required, Failure]);
        book.start(100, 1, "k");
        tell(&mut book);
        book.finished()[0].reason
    };
    assert_eq!(
        reason(&|book| {
            book.see(110, "k", 1);
        }),
        Some(Reason::Stage(1))
    );
    assert_eq!(
        reason(&|book| {
            book.root_failed(110, 1);
        }),
        Some(Reason::Root)
    );
    let journey = JourneyId(1);
    let follow_up = |book: &mut Book| {
        book.tell(110, Fact::FollowUpFailed { journey, why: None });
    };
    assert_eq!(reason(&follow_up), Some(Reason::FollowUp));
    assert_eq!(
        reason(&|book| {
            book.start(110, 2, "k");
        }),
        Some(Reason::KeyReused)
    );
    let checked = |book: &mut Book| {
        let mut observation = event("k", 0);
        observation.candidates[0].check_failed = true;
        book.observe(110, observation);
    };
    assert_eq!(reason(&checked), Some(Reason::Check(0)));
    assert_eq!(
        reason(&|book| {
            book.close(5_000);
        }),
        None
    );
}
