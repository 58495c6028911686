//! Clocks whose offset is known.

use proptest::prelude::*;
use sojourn_clock::SECOND_NS;
use sojourn_ledger::{JourneyId, Phase};
use sojourn_metrics::{Histogram, Store};

use super::*;
use crate::testing::plan;

const PLAN: &str = "
channels:
  calls: { webhook: {} }
journeys:
  order:
    root:
      key: '{{ uuid() }}'
      http: { url: /e, json: { id: '{{ key }}' } }
      clock: { ulid: 'body.ids[0]', name: queue }
    stages:
      - { name: started, on: calls, key: $.id, clock: { ulid: $.run, name: queue } }
    within: 5s
load: { rate: 1/s, steady: 1s }
";
const START_NS: u64 = 1_000 * SECOND_NS;
const ANCHOR: Anchor = Anchor { monotonic_ns: 17, unix_ns: 1_795_230_911_000_123_456 };

/// What happened to one journey, nanoseconds from the run's start, in this order.
#[derive(Clone, Copy, Debug)]
struct Truth {
    due_ns: u64,
    sent_ns: u64,
    accepted_ns: u64,
    answered_ns: u64,
    created_ns: u64,
    seen_ns: u64,
}

/// What a clock of this offset shows at an instant of the run.
fn shown(at_ns: u64, offset_ns: i64) -> u64 {
    let ours_ns = ANCHOR.unix_ns_at(START_NS + at_ns) as i64;
    (ours_ns + offset_ns) as u64 / MILLISECOND_NS
}

impl Truth {
    /// Instants that lie so far apart from each other.
    fn new(due_ns: u64, [sent, accepted, answered, created, seen]: [u64; 5]) -> Self {
        let sent_ns = due_ns + sent;
        let accepted_ns = sent_ns + accepted;
        let created_ns = accepted_ns + created;
        let answered_ns = accepted_ns + answered;
        Self { due_ns, sent_ns, accepted_ns, answered_ns, created_ns, seen_ns: created_ns + seen }
    }

    fn finished(&self, offset_ns: i64) -> Finished {
        let answer = Where::Answer {
            step: 0,
            due_ns: START_NS + self.due_ns,
            sent_ns: START_NS + self.sent_ns,
        };
        let reading = |at, read_ns: u64, shown_ms| Reading {
            clock: 0,
            at,
            read_ns: START_NS + read_ns,
            unix_ms: Ok(shown_ms),
        };
        let event = Where::Event { stage: 0 };
        Finished {
            readings: vec![
                reading(answer, self.answered_ns, shown(self.accepted_ns, offset_ns)),
                reading(event, self.seen_ns, shown(self.created_ns, offset_ns)),
            ],
            ..crate::testing::finished(JourneyId(1), Phase::Steady)
        }
    }
}

/// The figures after these journeys have ended.
fn watched(finished: &[Finished]) -> Store {
    let plan = plan(PLAN, "http://127.0.0.1:1");
    let mut recorder = Recorder::new(0);
    let mut clocks = ClockSeries::new(&plan, ANCHOR, START_NS, &mut recorder);
    finished.iter().for_each(|finished| clocks.finished(finished, &mut recorder));
    let mut store = Store::new();
    store.apply(&recorder.take(1, None)).unwrap();
    store
}

fn trend(store: &Store, metric: &str, phase: SeriesPhase) -> Histogram {
    store.merged(metric, &[(names::CLOCK, "queue")], phase)
}

/// The greatest of the lower bounds and the least of the upper ones.
fn offset(store: &Store) -> (i64, i64) {
    let of = |metric| *trend(store, metric, SeriesPhase::Any).totals();
    let (up, down) = (of(names::CLOCK_OFFSET_LEAST), of(names::CLOCK_OFFSET_LEAST_NEGATIVE));
    let least = if up.count > 0 { up.max as i64 } else { -(down.min as i64) };
    let (up, down) = (of(names::CLOCK_OFFSET_MOST), of(names::CLOCK_OFFSET_MOST_NEGATIVE));
    let most = if down.count > 0 { -(down.max as i64) } else { up.min as i64 };
    (least, most)
}

fn any_truths() -> impl Strategy<Value = Vec<Truth>> {
    let gap = || 0..20_000_000_u64;
    let truth = (0..60 * SECOND_NS, [gap(), gap(), gap(), gap(), gap()])
        .prop_map(|(due_ns, gaps)| Truth::new(due_ns, gaps));
    prop::collection::vec(truth, 1..60)
}

/// The sample of this rank among `count`, from bounds' histogram.
fn between_bounds(store: &Store, metrics: [&str; 2], mut truths: Vec<u64>) {
    truths.sort_unstable();
    let [least, most] = metrics.map(|metric| trend(store, metric, SeriesPhase::Steady));
    assert_eq!((least.count(), most.count()), (truths.len() as u64, truths.len() as u64));
    for (rank, truth) in (1_u64..).zip(truths) {
        let (least, most) = (least.value_at_rank(rank).unwrap(), most.value_at_rank(rank).unwrap());
        // Histograms are exact to a thousandth.
        let (low, high) = (least as f64 * 0.999, most as f64 * 1.001);
        assert!((low..=high).contains(&(truth as f64)), "{least}..={most}, but {truth}");
    }
}

proptest! {
    #[test]
    fn the_offset_and_every_duration_lie_between_their_bounds(
        offset_ns in prop_oneof![Just(0), -5_000_000_000..5_000_000_000_i64],
        truths in any_truths(),
    ) {
        let finished: Vec<_> = truths.iter().map(|truth| truth.finished(offset_ns)).collect();
        let store = watched(&finished);
        let (least, most) = offset(&store);
        prop_assert!((least..=most).contains(&offset_ns), "{least}..={most}, not {offset_ns}");
        // No wider than the quickest answer and a millisecond.
        let quickest = truths.iter().map(|truth| truth.answered_ns - truth.sent_ns).min().unwrap();
        prop_assert!(most - least <= quickest as i64 + 1_000_000);
        let all = |of: fn(&Truth) -> u64| truths.iter().map(of).collect::<Vec<_>>();
        let accept = [names::CLOCK_ACCEPT_LEAST, names::CLOCK_ACCEPT_MOST];
        between_bounds(&store, accept, all(|truth| truth.accepted_ns - truth.due_ns));
        let seen = [names::CLOCK_SEEN_LEAST, names::CLOCK_SEEN_MOST];
        between_bounds(&store, seen, all(|truth| truth.seen_ns - truth.created_ns));
        prop_assert_eq!(trend(&store, names::CLOCK_CONTRADICTED, SeriesPhase::Any).count(), 0);
    }
}

#[test]
fn times_of_one_clock_need_no_offset() {
    let truth = |created| Truth::new(0, [0, 0, 0, created, 0]);
    let [soon, late] = [300_000, 12_300_000].map(|created| truth(created).finished(-7_000_000));
    // The run's id was made before the event's.
    let mut before = soon.clone();
    let early = shown(0, -7_000_000) - 4;
    before.readings[1].unix_ms = Ok(early);
    let store = watched(&[soon, late, before]);
    let between = trend(&store, names::CLOCK_BETWEEN, SeriesPhase::Steady);
    let apart = *between.totals();
    assert_eq!((apart.count, apart.min % MILLISECOND_NS), (2, 0));
    assert!((12_000_000..=13_000_000).contains(&apart.max) && apart.min <= 1_000_000, "{apart:?}");
    let negative = trend(&store, names::CLOCK_BETWEEN_NEGATIVE, SeriesPhase::Steady);
    assert_eq!((negative.totals().count, negative.totals().max), (1, 4_000_000));
}

#[test]
fn a_clock_that_is_set_while_the_run_goes_on_contradicts_itself() {
    let at = |second: u64| Truth::new(second * SECOND_NS, [0, 400_000, 400_000, 0, 100_000]);
    let offset_ns = |second| if second < 5 { 3_700_000_000 } else { 5_700_000_000 };
    let finished: Vec<_> = (0..8).map(|second| at(second).finished(offset_ns(second))).collect();
    let store = watched(&finished);
    let (least, most) = offset(&store);
    assert!((1_990_000_000..=2_000_000_000).contains(&(least - most)), "{least} {most}");
    let contradicted = trend(&store, names::CLOCK_CONTRADICTED, SeriesPhase::Any);
    assert_eq!(contradicted.totals().count, 1);
    assert_eq!(contradicted.totals().min, at(5).answered_ns);
    // Nothing is claimed from then on.
    assert_eq!(trend(&store, names::CLOCK_ACCEPT_MOST, SeriesPhase::Steady).count(), 5);
    // Back by as much is told as well.
    let finished: Vec<_> = (0..8).map(|second| at(second).finished(-offset_ns(second))).collect();
    let (least, most) = offset(&watched(&finished));
    assert!((1_990_000_000..=2_000_000_000).contains(&(least - most)), "{least} {most}");
}

#[test]
fn what_is_not_read_is_counted_and_claims_nothing() {
    let mut finished = Truth::new(0, [0; 5]).finished(0);
    finished.readings[0].unix_ms = Err(Unread::Invalid);
    let mut without = finished.clone();
    without.readings[1].unix_ms = Err(Unread::Missing);
    let store = watched(&[finished, without]);
    let unread = |reason| {
        let tags = [(names::CLOCK, "queue"), (names::REASON, reason)];
        store.counter(&SeriesKey::new(names::CLOCK_UNREAD, &tags, SeriesPhase::Any))
    };
    assert_eq!((unread("not a ULID"), unread("missing")), (2, 1));
    // An event alone bounds the offset from below, and no duration.
    assert_eq!(trend(&store, names::CLOCK_OFFSET_MOST, SeriesPhase::Any).count(), 0);
    for metric in [names::CLOCK_ACCEPT_MOST, names::CLOCK_SEEN_MOST, names::CLOCK_BETWEEN] {
        assert_eq!(trend(&store, metric, SeriesPhase::Steady).count(), 0, "{metric}");
    }
}
