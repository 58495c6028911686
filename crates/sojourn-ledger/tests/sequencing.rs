//! Many sources, one order.

use sojourn_ledger::{
    Batch, Fact, JourneyId, JourneySpec, LedgerSpec, Observation, Sequencer, SourceId, StageKind,
    Stamped,
};

use crate::support::{Book, event, kind, plan};

const GENERATOR: SourceId = SourceId(0);
const TAP: SourceId = SourceId(1);

/// A batch whose facts carry their number, so that the order can be read off.
fn batch(source: SourceId, sequence: u64, facts: &[(u64, u64)], watermark_ns: u64) -> Batch {
    let fact = |&(stamp_ns, number): &(u64, u64)| Stamped {
        stamp_ns,
        fact: Fact::RootCompleted { journey: JourneyId(number) },
    };
    Batch { source, sequence, facts: facts.iter().map(fact).collect(), watermark_ns }
}

fn drain(sequencer: &mut Sequencer) -> Vec<(u64, u64)> {
    let mut order = Vec::new();
    while let Some(Stamped { stamp_ns, fact: Fact::RootCompleted { journey } }) = sequencer.pop() {
        order.push((stamp_ns, journey.0));
    }
    order
}

#[test]
fn facts_come_out_by_stamp_below_the_lowest_watermark() {
    let mut sequencer = Sequencer::new(&[TAP, GENERATOR], 100);
    sequencer.push(batch(GENERATOR, 0, &[(10, 1), (20, 2), (40, 3)], 50)).expect("in order");
    assert_eq!((drain(&mut sequencer), sequencer.watermark_ns()), (vec![], 0));
    sequencer.push(batch(TAP, 0, &[(15, 4), (20, 5)], 40)).expect("in order");
    assert_eq!(sequencer.watermark_ns(), 40);
    // At the same stamp the lower source is first; at the watermark itself nothing comes out yet.
    assert_eq!(drain(&mut sequencer), [(10, 1), (15, 4), (20, 2), (20, 5)]);
    sequencer.push(batch(TAP, 1, &[], 60)).expect("in order");
    assert_eq!((drain(&mut sequencer), sequencer.held()), (vec![(40, 3)], 0));
}

#[test]
fn a_batch_may_reach_back_behind_the_last_but_not_behind_the_watermark() {
    let mut sequencer = Sequencer::new(&[TAP], 100);
    sequencer.push(batch(TAP, 0, &[(10, 1), (30, 2)], 15)).expect("in order");
    sequencer.push(batch(TAP, 1, &[(15, 3), (30, 4)], 31)).expect("in order");
    assert_eq!(drain(&mut sequencer), [(10, 1), (15, 3), (30, 2), (30, 4)]);
}

#[test]
fn an_ended_source_holds_nothing_back() {
    let mut sequencer = Sequencer::new(&[GENERATOR, TAP], 100);
    sequencer.push(batch(GENERATOR, 0, &[(10, 1)], 20)).expect("in order");
    sequencer.end(TAP);
    assert_eq!((sequencer.watermark_ns(), drain(&mut sequencer)), (20, vec![(10, 1)]));
    sequencer.push(batch(GENERATOR, 1, &[(30, 2), (u64::MAX, 3)], 30)).expect("in order");
    sequencer.end(GENERATOR);
    assert_eq!(sequencer.watermark_ns(), u64::MAX);
    assert_eq!(drain(&mut sequencer), [(30, 2), (u64::MAX, 3)]);
}

#[test]
fn a_source_that_stops_is_named() {
    let mut sequencer = Sequencer::new(&[GENERATOR, TAP], 100);
    for second in 0..5_u64 {
        let now_ns = second * 1_000_000_000;
        sequencer.push(batch(GENERATOR, second, &[], now_ns)).expect("in order");
        // The tap crashes after two seconds.
        if second < 3 {
            sequencer.push(batch(TAP, second, &[], now_ns)).expect("in order");
        }
    }
    assert_eq!(sequencer.silent(3_000_000_000, 1_000_000_000, 0), []);
    assert_eq!(sequencer.silent(3_000_000_001, 1_000_000_000, 0), [TAP]);
    assert_eq!(sequencer.silent(9_000_000_000, 1_000_000_000, 0), [GENERATOR, TAP]);
    sequencer.end(TAP);
    assert_eq!(sequencer.silent(9_000_000_000, 1_000_000_000, 0), [GENERATOR]);
}

/// Clocks do not begin with a run: a source that has yet to say its first word is not silent since
/// the machine was switched on.
#[test]
fn a_source_that_has_said_nothing_yet_is_silent_since_the_start() {
    let sequencer = Sequencer::new(&[GENERATOR], 100);
    let start_ns = 86_400_000_000_000;
    assert_eq!(sequencer.silent(start_ns + 2_000, 2_000, start_ns), []);
    assert_eq!(sequencer.silent(start_ns + 2_001, 2_000, start_ns), [GENERATOR]);
}

#[test]
fn a_defect_of_a_source_is_an_error_that_says_which() {
    let table = [
        (batch(SourceId(9), 0, &[], 0), "source 9 is not one of this run's sources"),
        (batch(TAP, 2, &[], 50), "source 1 sent batch 2 where 1 was next: facts are missing or"),
        (batch(TAP, 0, &[], 50), "source 1 sent batch 0 where 1 was next"),
        (
            batch(TAP, 1, &[(19, 1)], 50),
            "source 1 sent a fact stamped 19 ns after 20 ns in batch 1",
        ),
        (batch(TAP, 1, &[(30, 1), (29, 2)], 50), "source 1 sent a fact stamped 29 ns after 30 ns"),
        (batch(TAP, 1, &[], 19), "source 1 took its watermark back from 20 to 19 ns"),
        (batch(TAP, 1, &[(30, 1); 4], 50), "source 1 sent 4 facts while 1 of at most 4 were held"),
        (batch(GENERATOR, 0, &[], 0), "source 0 sent batch 0 after its end"),
    ];
    for (defect, words) in table {
        let mut sequencer = Sequencer::new(&[GENERATOR, TAP], 4);
        sequencer.push(batch(TAP, 0, &[(25, 0)], 20)).expect("in order");
        sequencer.end(GENERATOR);
        let error = sequencer.push(defect).expect_err("a defect");
        assert!(error.starts_with(words), "{error}");
        assert_eq!(sequencer.held(), 1);
    }
}

#[test]
fn an_ended_source_vouches_no_further_than_it_saw() {
    let mut sequencer = Sequencer::new(&[GENERATOR, TAP], 100);
    let batch = |source, sequence, watermark_ns| Batch {
        source,
        sequence,
        facts: Vec::new(),
        watermark_ns,
    };
    sequencer.push(batch(GENERATOR, 0, 700)).unwrap();
    sequencer.push(batch(TAP, 0, 500)).unwrap();
    assert_eq!(sequencer.cutoff_ns(), None);
    sequencer.push(batch(GENERATOR, 1, u64::MAX)).unwrap();
    assert_eq!((sequencer.cutoff_ns(), sequencer.watermark_ns()), (Some(700), 500));
    sequencer.push(batch(TAP, 1, 900)).unwrap();
    assert_eq!((sequencer.cutoff_ns(), sequencer.watermark_ns()), (Some(700), 900));
    sequencer.end(TAP);
    assert_eq!((sequencer.cutoff_ns(), sequencer.watermark_ns()), (Some(700), u64::MAX));
}

#[test]
fn a_lost_source_holds_nobody_back_and_ends_no_time() {
    let mut sequencer = Sequencer::new(&[GENERATOR, TAP], 100);
    sequencer.push(batch(GENERATOR, 0, &[(700, 1), (720, 2)], 710)).unwrap();
    sequencer.push(batch(TAP, 0, &[(900, 3)], 950)).unwrap();
    assert_eq!(sequencer.watermark_ns(), 710);
    assert_eq!(sequencer.lose(GENERATOR), 720);
    assert_eq!((sequencer.cutoff_ns(), sequencer.watermark_ns()), (None, 950));
    let stamps = std::iter::from_fn(|| sequencer.pop()).map(|fact| fact.stamp_ns);
    assert_eq!(stamps.collect::<Vec<_>>(), [700, 720, 900]);
    let error = sequencer.push(batch(GENERATOR, 1, &[], 990)).expect_err("it is lost");
    assert!(error.contains("after its end"), "{error}");
}

/// More than a ledger must have to look ahead. Two sources in turn, so that what was looked at is
/// not always what comes next.
#[test]
fn events_that_were_looked_ahead_to_are_applied_as_any_others() {
    const JOURNEYS: u64 = 8_300;
    let journey = JourneySpec { within_ns: u64::MAX / 2, ..kind(&[StageKind::Required]) };
    let room = 2 * JOURNEYS as usize;
    let mut book = Book::new(LedgerSpec {
        journeys_max: room,
        tombstones_max: room,
        tombstone_ttl_ns: u64::MAX / 2,
        early_wait_ns: u64::MAX / 2,
        ..plan(vec![journey])
    });
    for number in 0..JOURNEYS {
        book.start(1, number, &number.to_string()).root(1, number);
    }
    let mut sequencer = Sequencer::new(&[GENERATOR, TAP], 1 << 20);
    let observed = |observation| Fact::Observed(Box::new(observation));
    for (source, turn) in [(GENERATOR, 0), (TAP, 1)] {
        let own = (0..JOURNEYS).filter(|number| number % 2 == turn);
        let mut facts: Vec<_> = own
            .map(|number| Stamped {
                stamp_ns: 2 + number,
                fact: observed(event(&number.to_string(), 0)),
            })
            .collect();
        // Of no stage, of no journey, and no event at all.
        let stamp_ns = 2 + JOURNEYS;
        let of_none = Observation { candidates: [].into_iter().collect(), ..event("none", 0) };
        let late = Fact::RootCompleted { journey: JourneyId(0) };
        for fact in [observed(of_none), observed(event("nobody's", 0)), late] {
            facts.push(Stamped { stamp_ns, fact });
        }
        let batch = Batch { source, sequence: 0, facts, watermark_ns: stamp_ns + 1 };
        sequencer.push(batch).expect("in order");
    }
    let mut last_ns = 0;
    while let Some(Stamped { stamp_ns, fact }) = sequencer.pop_for(&book.ledger) {
        assert!(stamp_ns >= last_ns);
        last_ns = stamp_ns;
        book.tell(stamp_ns, fact);
    }
    assert_eq!(sequencer.held(), 0);
    let balance = book.ledger.balance();
    assert_eq!(balance.imbalance(), None);
    assert_eq!(balance.journeys.completed, JOURNEYS);
    assert_eq!((balance.events.matched, balance.events.unattributed), (JOURNEYS, 2));
    assert_eq!(balance.events.waiting, 2);
}
