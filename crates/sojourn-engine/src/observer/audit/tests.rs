//! What is kept of journeys whose ends are told one by one.

use std::cell::Cell;

use smallvec::SmallVec;
use sojourn_ledger::{JourneyId, MembersSeen, Reason, Refusal};

use super::*;
use crate::{
    KeepBounds,
    testing::{PAYMENT, finished, plan},
};

thread_local! {
    /// Records made by the test under way.
    pub(super) static MADE: Cell<u64> = const { Cell::new(0) };
}

fn audit_with(keep: KeepBounds) -> Audit {
    let mut options = RunOptions::new(None, "test".to_owned());
    options.keep = keep;
    Audit::new(&plan(PAYMENT, "http://127.0.0.1:1"), 0, &options, Vec::new())
}

fn audit() -> Audit {
    audit_with(KeepBounds::default())
}

fn completed(number: u64, duration_ns: u64) -> Finished {
    Finished {
        t2_ns: Some(1_000 + duration_ns),
        stage_ns: SmallVec::from_elem(1_000 + duration_ns, 1),
        end_ns: 1_000 + duration_ns,
        ..finished(JourneyId(number), Phase::Steady)
    }
}

fn count(audit: &Audit, class: KeptAs) -> (u64, u64) {
    let kept = audit.kept();
    let count = kept.classes.iter().find(|count| count.class == class.name()).unwrap();
    (count.kept, count.not_kept)
}

#[test]
fn no_record_is_made_of_a_completed_journey_that_is_not_kept() {
    let mut audit = audit();
    // Ever faster: after the first twenty none is among the slowest.
    for number in 0..10_000 {
        assert!(audit.take(&completed(number, 1_000_000 - number)).is_none());
    }
    // A reservoir of 100 takes about 100 · (1 + ln(10,000 / 100)) = 561 of them.
    let made = MADE.with(Cell::get);
    assert!((120..1_000).contains(&made), "{made} records");
    let kept = audit.rest();
    let of = |role: &str| kept.iter().filter(|record| record.kept_as == role).count();
    assert_eq!((of("slowest"), of("sample")), (20, SAMPLE_MAX));
    assert_eq!(count(&audit, KeptAs::Slowest), (20, 0));
    let slowest = kept.iter().filter(|record| record.kept_as == "slowest");
    assert_eq!(slowest.map(|record| record.id).collect::<Vec<_>>(), (0..20).collect::<Vec<_>>());
}

#[test]
fn the_slowest_are_exactly_the_longest_however_they_come() {
    for most in [0, 1, 7] {
        let mut audit = audit_with(KeepBounds { slowest: most, ..KeepBounds::default() });
        // A permutation: 7,919 is a prime.
        let durations: Vec<u64> = (0..5_000).map(|n| n * 7_919 % 5_003).collect();
        for (number, &duration_ns) in (0..).zip(&durations) {
            audit.take(&completed(number, duration_ns));
        }
        let kept = audit.rest();
        let slowest = kept.iter().filter(|record| record.kept_as == "slowest");
        let found: Vec<u64> = slowest.map(|record| record.end_ns - record.t0_ns).collect();
        let mut expected = durations;
        expected.sort_unstable_by(|a, b| b.cmp(a));
        expected.truncate(most);
        assert_eq!(found, expected);
    }
}

#[test]
fn what_there_is_no_room_for_is_counted_class_by_class() {
    let mut audit = audit_with(KeepBounds { each_max: 3, ..KeepBounds::default() });
    let mut kept = 0;
    for number in 0..10 {
        let lost = Finished { class: FinishClass::Lost, ..completed(number, 5) };
        kept += u64::from(audit.take(&lost).is_some());
        let late = Finished { class: FinishClass::Late, ..completed(100 + number, 5) };
        kept += u64::from(audit.take(&late).is_some());
    }
    // Late and out of order: one of its classes has room.
    let both = Finished { class: FinishClass::Late, negative_hops: 2, ..completed(300, 5) };
    let record = audit.take(&both).unwrap();
    assert_eq!((record.kept_as.as_str(), record.negative_hops), ("late", 2));
    assert_eq!(record.also_kept_as, ["out_of_order"]);
    assert_eq!(kept, 6);
    assert_eq!(count(&audit, KeptAs::Lost), (3, 7));
    assert_eq!(count(&audit, KeptAs::Late), (4, 7));
    assert_eq!(count(&audit, KeptAs::OutOfOrder), (1, 0));
    assert_eq!(audit.kept().each_max, 3);
}

#[test]
fn a_journey_that_did_not_complete_is_kept_with_the_reason() {
    let mut audit = audit();
    let mut reason = |class, reason, unseen: bool, answered: bool| {
        let mut finished = Finished { class, reason, ..completed(1, 5) };
        if unseen {
            finished.stage_ns[0] = 0;
        }
        finished.t2_ns = finished.t2_ns.filter(|_| answered);
        audit.take(&finished).unwrap().reason.unwrap()
    };
    use FinishClass::{Failed, Lost, RootFailed};
    assert_eq!(reason(Lost, None, true, true), "not seen: stage created");
    let both = reason(Lost, None, true, false);
    assert!(both.starts_with("not seen: the answer to ") && both.ends_with("stage created"));
    let failed = [
        (Failed, Reason::KeyReused, "a further key of it was in flight already"),
        (Failed, Reason::Stage(0), "stage created was reached"),
        (Failed, Reason::Check(0), "a check of stage created did not hold"),
        (RootFailed, Reason::KeyReused, "its key was in flight already"),
        (RootFailed, Reason::NoRoom, "the ledger had no room for it"),
    ];
    for (class, why, words) in failed {
        assert_eq!(reason(class, Some(why), false, true), words);
    }
    let root = reason(RootFailed, Some(Reason::Root), false, false);
    assert!(root.ends_with("was refused or not answered"), "{root}");
    let members = vec![MembersSeen { stage: 0, seen: 2, expected: Some(5) }];
    let mut far = Finished { class: Lost, members, ..completed(1, 5) };
    far.stage_ns[0] = 0;
    let reason_of = audit.take(&far).unwrap().reason.unwrap();
    assert_eq!(reason_of, "not seen: stage created (2 of 5 members)");
}

#[test]
fn a_refused_root_has_its_status_and_words() {
    let refusal = Refusal { status: Some(503), words: "status 503, expected 200".into() };
    let refused = Finished {
        class: FinishClass::RootFailed,
        reason: Some(Reason::Root),
        refusal: Some(Box::new(refusal)),
        t2_ns: None,
        first_step_ended_ns: Some(2_000),
        ..completed(1, 5)
    };
    let record = audit().take(&refused).unwrap();
    assert_eq!(record.kept_as, "root_failed");
    assert_eq!(record.steps[0].status, Some(503));
    let reason = record.reason.unwrap();
    assert!(reason.ends_with("was refused or not answered: status 503, expected 200"), "{reason}");
}
