//! Random facts in any order: nothing panics, the book always balances, as many journeys finish as
//! started, as many events get a class as were seen.

use proptest::collection::vec;
use proptest::prelude::*;
use sojourn_ledger::{
    Candidate, Fact, JourneyId, LedgerSpec, Marker, More, Observation, Phase, Predecessor, Reading,
    Shown, StageKind, Stamped, TOLD, TraceSeed, Where,
};

use crate::support::{Book, key, kind, plan};

/// Three kinds with everything in them, and predecessors that make no sense.
fn wild_plan(bounds: (usize, usize, usize)) -> LedgerSpec {
    use StageKind::{Branch, Failure, Never, Optional, Required};
    let mut kinds = [
        kind(&[Required, Required, Optional, Failure]),
        kind(&[Required, Never, Optional]),
        kind(&[Branch(0), Branch(0), Required, Branch(9)]),
    ];
    kinds[0].stages[1].expect = 3;
    kinds[0].stages[2].shared = true;
    kinds[1].stages[0].after = Predecessor::Stage(0);
    kinds[1].stages[2].after = Predecessor::Stage(200);
    kinds[1].has_follow_ups = true;
    kinds[1].trace = Some(TraceSeed::of(1, "r"));
    kinds[1].stages[2].expect = TOLD;
    kinds[2].stages[1].expect = TOLD;
    kinds[2].stages[2].expect = TOLD;
    let (journeys_max, early_max, tombstones_max) = bounds;
    let spec = plan(kinds.into());
    LedgerSpec {
        journeys_max,
        early_max,
        tombstones_max,
        tombstone_ttl_ns: 700,
        members_max: 40,
        ..spec
    }
}

fn any_key() -> impl Strategy<Value = sojourn_ledger::Key> {
    (0..12_u8).prop_map(|number| key(&format!("key {number}")))
}

fn any_candidate() -> impl Strategy<Value = Candidate> {
    let member = prop::option::of(0..5_u64);
    let more = prop::option::weighted(0.4, any_more());
    (0..4_u16, 0..5_u8, any_key(), member, prop::bool::weighted(0.1), more).prop_map(
        |(kind, stage, key, member, check_failed, more)| Candidate {
            kind,
            stage,
            key,
            member,
            check_failed,
            more: more.map(Box::new),
        },
    )
}

fn any_more() -> impl Strategy<Value = More> {
    let tells = vec((0..5_u8, 0..6_u32), 0..3);
    (prop::option::of(any_key()), tells, prop::option::of("[a-c]")).prop_map(
        |(rekey, tells, reason)| More {
            reason: reason.map(String::into_boxed_str),
            tells: tells.into_iter().collect(),
            rekey,
            traces: [TraceSeed::of(1, "r").id(JourneyId(3))].into_iter().collect(),
            shown: Some(Shown { clock: 0, unix_ms: Ok(17) }),
        },
    )
}

fn any_observation() -> impl Strategy<Value = Observation> {
    let marker = prop_oneof![Just(Marker::Ours), Just(Marker::Foreign), Just(Marker::Absent)];
    let message_id = prop::option::of(0..3_u64);
    (vec(any_candidate(), 0..4), message_id, marker, prop::bool::weighted(0.05)).prop_map(
        |(candidates, message_id, marker, undecodable)| Observation {
            channel: 0,
            candidates: candidates.into_iter().collect(),
            message_id,
            marker,
            undecodable,
        },
    )
}

fn any_fact() -> impl Strategy<Value = Fact> {
    let id = || (0..20_u64, 0..2_u64).prop_map(|(number, of)| JourneyId(number | of << 48));
    let start = (id(), 0..4_u16, 0..3_000_u64, prop::option::of(any_key()));
    prop_oneof![
        1 => (0..4_u16).prop_map(|kind| Fact::Missed { kind, phase: Phase::WarmUp }),
        8 => start.prop_map(|(journey, kind, t0_ns, key)| {
            Fact::Started { journey, kind, phase: Phase::Steady, t0_ns, key }
        }),
        2 => (id(), 0..3_u8).prop_map(|(journey, step)| Fact::StepBegan { journey, step }),
        2 => id().prop_map(|journey| Fact::StepEnded { journey }),
        4 => (id(), any_key()).prop_map(|(journey, key)| Fact::Keyed { journey, key }),
        4 => id().prop_map(|journey| Fact::RootCompleted { journey }),
        1 => id().prop_map(|journey| Fact::RootFailed { journey, why: None }),
        2 => id().prop_map(|journey| Fact::FollowUpsCompleted { journey }),
        1 => id().prop_map(|journey| Fact::FollowUpFailed { journey, why: None }),
        1 => (id(), 0..5_u8, 0..6_u32).prop_map(|(journey, stage, members)| {
            Fact::Told { journey, stage, members }
        }),
        1 => (id(), 0..3_u8).prop_map(|(journey, step)| {
            let at = Where::Answer { step, due_ns: 1, sent_ns: 2 };
            let reading = Reading { clock: 0, at, read_ns: 3, unix_ms: Ok(4) };
            Fact::Read { journey, reading }
        }),
        1 => (id(), 0..5_u8).prop_map(|(journey, stage)| Fact::Polled { journey, stage }),
        20 => any_observation().prop_map(|seen| Fact::Observed(Box::new(seen))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_facts_in_any_order_balance(
        bounds in (0..12_usize, 0..6_usize, 0..8_usize),
        facts in vec((any_fact(), 0..4_000_u64, prop::bool::weighted(0.9)), 0..200),
    ) {
        let mut book = Book::new(wild_plan(bounds));
        let mut now_ns = 0;
        for (fact, stamp_ns, orderly) in facts {
            // Mostly forward by a little, now and then anywhere.
            let stamp_ns = if orderly { now_ns + stamp_ns % 60 } else { stamp_ns };
            now_ns = stamp_ns.max(now_ns);
            book.ledger.apply(Stamped { stamp_ns, fact }, &mut book.decisions);
            prop_assert_eq!(book.ledger.balance().imbalance(), None);
            prop_assert!(book.ledger.in_flight() <= bounds.0);
            prop_assert!(book.ledger.tombstones() <= bounds.2);
            prop_assert!(book.ledger.balance().events.waiting <= bounds.1 as u64);
        }
        book.ledger.close(now_ns, &mut book.decisions);
        let balance = book.ledger.balance();
        prop_assert_eq!(balance.imbalance(), None);
        prop_assert_eq!((book.ledger.in_flight(), balance.events.waiting), (0, 0));
        prop_assert_eq!(book.classes().len() as u64, balance.events.seen);
        prop_assert_eq!(book.finished().len() as u64, balance.journeys.started);
        let waiting = (0..3).flat_map(|kind| (0..5).map(move |stage| (kind, stage)));
        for (kind, stage) in waiting {
            prop_assert_eq!(book.ledger.in_flight_at(kind, stage), 0);
        }
        book.ledger.advance(u64::MAX, &mut book.decisions);
        prop_assert_eq!(book.ledger.tombstones(), 0);
    }
}
