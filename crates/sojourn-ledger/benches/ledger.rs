//! How fast the book is kept, and what a journey in flight costs. Prints `name value unit` lines.
//!
//! The payments shape: four stages after each other, a key from the response, one generator and one
//! tap, a batch per source and millisecond. Run it alone on the machine:
//! `cargo bench -p sojourn-ledger`.
#![allow(clippy::print_stdout, reason = "a bench speaks to the terminal")]

mod counting;

use sojourn_clock::thread_cpu;
use sojourn_ledger::{
    Batch, Candidate, Fact, JourneyId, JourneySpec, Key, Ledger, LedgerSpec, Marker, Observation,
    Phase, Predecessor, Sequencer, SourceId, StageKind, StageSpec, Stamped,
};

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

const GENERATOR: SourceId = SourceId(0);
const TAP: SourceId = SourceId(1);
const STAGES: u64 = 4;
const MS: u64 = 1_000_000;

fn main() {
    // In flight at once: rate times the 400 ms that a journey takes.
    for (name, rate) in [("in_flight_4k", 10_000), ("in_flight_80k", 200_000)] {
        let mut rounds: Vec<f64> = (0..5).map(|_| facts_per_second(rate, 100_000)).collect();
        rounds.sort_by(f64::total_cmp);
        let [slowest, .., fastest] = rounds[..] else {
            return;
        };
        println!("ledger_facts_{name}_slowest {slowest:.0} 1/s");
        println!("ledger_facts_{name}_median {:.0} 1/s", rounds[2]);
        println!("ledger_facts_{name}_fastest {fastest:.0} 1/s");
        println!("ledger_events_{name}_median {:.0} 1/s", rounds[2] * 4.0 / 7.0);
    }
    for journeys in [10_000, 100_000, 115_000, 1_000_000] {
        let (in_flight, remembered) = bytes_per_journey(journeys);
        let key = key_of(0).len() as f64;
        println!("ledger_bytes_in_flight_{journeys} {in_flight:.1} B");
        println!("ledger_bytes_in_flight_beyond_key_{journeys} {:.1} B", in_flight - key);
        println!("ledger_bytes_tombstone_{journeys} {remembered:.1} B");
    }
}

/// Sequencer and ledger together, everything they free included, per second of the thread's own
/// processor time: other work on the machine costs caches, but is not counted.
fn facts_per_second(rate: u64, journeys: u64) -> f64 {
    let batches = batches(rate, journeys);
    let facts: usize = batches.iter().map(|batch| batch.facts.len()).sum();
    let mut sequencer = Sequencer::new(&[GENERATOR, TAP], 1_000_000);
    let mut ledger = Ledger::new(spec());
    let mut decisions = Vec::with_capacity(100_000);
    let began_ns = thread_cpu().cpu_ns;
    for batch in batches {
        if let Err(error) = sequencer.push(batch) {
            println!("error {error}");
            return 0.0;
        }
        while let Some(fact) = sequencer.pop_for(&ledger) {
            ledger.apply(fact, &mut decisions);
        }
        ledger.advance(sequencer.watermark_ns(), &mut decisions);
        decisions.clear();
    }
    let spent_ns = thread_cpu().cpu_ns - began_ns;
    let balance = ledger.balance();
    assert_eq!(balance.imbalance(), None);
    assert_eq!(balance.journeys.completed, journeys);
    assert_eq!(balance.events.matched, journeys * STAGES);
    facts as f64 * 1e9 / spent_ns as f64
}

/// Per journey: while in flight with all stages but the last, and as a tombstone.
fn bytes_per_journey(journeys: u64) -> (f64, f64) {
    let until_third_stage = |at: usize| at < 6;
    let in_flight = bytes_held(journeys, until_third_stage);
    // One after the other, so that each takes the key's place of the one before.
    let remembered = bytes_held(journeys, |_| true);
    (in_flight / journeys as f64, remembered / journeys as f64)
}

/// Bytes that a ledger holds after so many journeys, each told the facts that `keeps` chooses.
fn bytes_held(journeys: u64, keeps: impl Fn(usize) -> bool) -> f64 {
    let before = counting::bytes_in_use();
    let mut ledger = Ledger::new(spec());
    let mut decisions = Vec::new();
    for number in 0..journeys {
        for (at, (_, fact)) in journey(number, number * 1_000).into_iter().enumerate() {
            if keeps(at) {
                // One instant for all: nothing is overdue.
                ledger.apply(Stamped { stamp_ns: 1, fact }, &mut decisions);
            }
        }
        decisions.clear();
    }
    (counting::bytes_in_use() - before - decisions.capacity() * decision_bytes()) as f64
}

fn decision_bytes() -> usize {
    size_of::<sojourn_ledger::Decision>()
}

fn spec() -> LedgerSpec {
    let stage = |at: u8| StageSpec {
        kind: StageKind::Required,
        after: at.checked_sub(1).map_or(Predecessor::Step, Predecessor::Stage),
        expect: 1,
        shared: false,
        resumes: false,
    };
    LedgerSpec {
        journeys: vec![JourneySpec {
            within_ns: 30_000 * MS,
            linger_ns: 5_000 * MS,
            stages: (0..STAGES as u8).map(stage).collect(),
            has_follow_ups: false,
            trace: None,
        }],
        journeys_max: 2_000_000,
        early_max: 100_000,
        tombstones_max: 2_000_000,
        tombstone_ttl_ns: 60_000 * MS,
        early_wait_ns: 30_000 * MS,
        members_max: 1_000_000,
    }
}

fn key_of(number: u64) -> String {
    format!("pay:{number:08x}-0000-4000-8000-{number:012x}")
}

/// The seven facts of a journey: source and fact, each with its stamp.
fn journey(number: u64, t0_ns: u64) -> Vec<(u64, Fact)> {
    let journey = JourneyId(number);
    let Some(key) = Key::new(key_of(number).as_bytes()) else {
        return Vec::new();
    };
    let started = Fact::Started { journey, kind: 0, phase: Phase::Steady, t0_ns, key: None };
    let mut facts = vec![
        (t0_ns + 50_000, started),
        (t0_ns + 3 * MS, Fact::Keyed { journey, key: key.clone() }),
        (t0_ns + 3 * MS + 100, Fact::RootCompleted { journey }),
    ];
    for stage in 0..STAGES {
        let candidate = Candidate {
            kind: 0,
            stage: stage as u8,
            key: key.clone(),
            member: None,
            check_failed: false,
            more: None,
        };
        // One journey in ten is overtaken by its first event.
        let early = stage == 0 && number.is_multiple_of(10);
        let delay_ns = if early { 2 * MS } else { (stage + 1) * 100 * MS };
        let observation = Observation {
            channel: 0,
            candidates: [candidate].into_iter().collect(),
            message_id: Some(number ^ stage),
            marker: Marker::Absent,
            undecodable: false,
        };
        facts.push((t0_ns + delay_ns, Fact::Observed(Box::new(observation))));
    }
    facts
}

/// All batches in the order they arrive: generator, then tap, each millisecond.
fn batches(rate: u64, journeys: u64) -> Vec<Batch> {
    let length_ms = journeys * 1_000 / rate + 500;
    let mut facts: Vec<[Vec<Stamped>; 2]> = (0..length_ms).map(|_| Default::default()).collect();
    for number in 0..journeys {
        for (stamp_ns, fact) in journey(number, number * 1_000 * MS / rate) {
            let source = usize::from(matches!(fact, Fact::Observed(_)));
            facts[(stamp_ns / MS) as usize][source].push(Stamped { stamp_ns, fact });
        }
    }
    let mut batches = Vec::new();
    for (sequence, pair) in facts.into_iter().enumerate() {
        for (mut facts, source) in pair.into_iter().zip([GENERATOR, TAP]) {
            facts.sort_by_key(|fact| fact.stamp_ns);
            let (sequence, watermark_ns) = (sequence as u64, (sequence as u64 + 1) * MS);
            batches.push(Batch { source, sequence, facts, watermark_ns });
        }
    }
    batches
}
