//! What happens in a run, generated: journeys with their delays, losses, repetitions and failures.

use proptest::collection::vec;
use proptest::prelude::*;
use sojourn_ledger::{JourneyId, JourneySpec, LedgerSpec, Marker, Phase, Predecessor, StageKind};

use crate::support::{kind, plan};

/// One unit of a plan's time in nanoseconds. Below it every stamp has a number of its own, so that
/// no two coincide and the model need not say which of two simultaneous facts is first.
pub(crate) const UNIT: u64 = 1_000_000;
pub(crate) const WITHIN: u64 = 1_000;
pub(crate) const LINGER: u64 = 400;
pub(crate) const EARLY_WAIT: u64 = 250;

/// Kind 0: a key from the response. Kind 1: fan-out, a stage that must not come. Kind 2: steps that
/// follow a stage. Kind 3: two alternatives. All but the first make their keys themselves.
pub(crate) const KINDS: u16 = 4;

pub(crate) fn spec() -> LedgerSpec {
    use StageKind::{Branch, Failure, Never, Optional, Required};
    let mut kinds = [
        kind(&[Required, Required, Required, Optional, Failure]),
        kind(&[Required, Required, Never, Optional]),
        kind(&[Required, Required, Required]),
        kind(&[Required, Branch(0), Branch(0), Optional]),
    ];
    kinds[0].stages[4].after = Predecessor::Step;
    kinds[1].stages[1].expect = 3;
    kinds[1].stages[2].after = Predecessor::Stage(0);
    kinds[2].stages[2].after = Predecessor::Step;
    kinds[2].has_follow_ups = true;
    kinds[3].stages[2].after = Predecessor::Stage(0);
    let scale = |spec: JourneySpec| JourneySpec {
        within_ns: WITHIN * UNIT,
        linger_ns: LINGER * UNIT,
        ..spec
    };
    LedgerSpec {
        early_wait_ns: EARLY_WAIT * UNIT,
        tombstone_ttl_ns: u64::MAX,
        early_max: 1_000_000,
        tombstones_max: 1_000_000,
        ..plan(kinds.map(scale).into())
    }
}

/// What is generated, in units and relative times, so that it shrinks.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) journeys: Vec<JourneyWorld>,
    pub(crate) noise: Vec<(u64, u16, Marker, bool)>,
    pub(crate) missed: u8,
    /// When the run is cut off.
    pub(crate) end: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct JourneyWorld {
    kind: u16,
    t0: u64,
    lag: u64,
    /// From t1; `None` for a root that is never answered within the run.
    root: Option<(u64, bool)>,
    stages: Vec<StageWorld>,
    /// Uses the key of the journey this many before it, and causes no events of its own.
    reuses: Option<usize>,
    step: u64,
    follow_up: Option<(u64, bool)>,
}

/// Each event is an (extra) observation: delay from t1, message id, member, marker, check, tap.
#[derive(Clone, Debug)]
struct StageWorld {
    seen: Vec<(u64, Option<u64>, u64, bool, bool, u16)>,
}

/// What happened, in full, with absolute and distinct stamps.
#[derive(Debug)]
pub(crate) struct Truth {
    pub(crate) journeys: Vec<JourneyTruth>,
    pub(crate) events: Vec<EventTruth>,
    /// Stamps of arrivals never started.
    pub(crate) missed: Vec<u64>,
    pub(crate) end_ns: u64,
}

#[derive(Debug)]
pub(crate) struct JourneyTruth {
    pub(crate) id: JourneyId,
    pub(crate) kind: u16,
    pub(crate) phase: Phase,
    pub(crate) t0_ns: u64,
    pub(crate) t1_ns: u64,
    pub(crate) key: String,
    /// When the key became known: at t1, or with the response.
    pub(crate) keyed_ns: Option<u64>,
    pub(crate) root: Option<(u64, bool)>,
    pub(crate) step_ns: Option<u64>,
    pub(crate) follow_up: Option<(u64, bool)>,
}

#[derive(Clone, Debug)]
pub(crate) struct EventTruth {
    pub(crate) stamp_ns: u64,
    pub(crate) kind: u16,
    pub(crate) stage: u8,
    pub(crate) member: u64,
    pub(crate) key: String,
    pub(crate) message_id: Option<u64>,
    pub(crate) marker: Marker,
    pub(crate) check_failed: bool,
    pub(crate) undecodable: bool,
    pub(crate) tap: u16,
}

impl World {
    /// The truth of it, up to the end of the run.
    pub(crate) fn unfold(world: &Self) -> Truth {
        let mut serial = 0;
        let mut at = |units: u64| {
            serial += 1;
            units * UNIT + serial
        };
        let end_ns = world.end * UNIT;
        let mut truth = Truth { journeys: vec![], events: vec![], missed: vec![], end_ns };
        for (number, journey) in world.journeys.iter().enumerate() {
            let key = match journey.reuses.and_then(|back| number.checked_sub(back)) {
                Some(other) => format!("key {other}"),
                None => format!("key {number}"),
            };
            journey.unfold(number, key, &mut at, &mut truth);
        }
        for &(units, stage, marker, undecodable) in &world.noise {
            truth.events.push(EventTruth {
                stamp_ns: at(units),
                kind: stage % KINDS,
                stage: 0,
                member: 0,
                key: format!("nobody {}", stage % 3),
                message_id: None,
                marker,
                check_failed: false,
                undecodable,
                tap: stage % 3,
            });
        }
        truth.missed = (0..world.missed).map(|missed| at(u64::from(missed))).collect();
        truth.cut();
        truth
    }
}

impl Truth {
    /// Nothing at or after the end of the run is observed.
    fn cut(&mut self) {
        let end_ns = self.end_ns;
        self.journeys.retain(|journey| journey.t1_ns < end_ns);
        self.events.retain(|event| event.stamp_ns < end_ns);
        self.missed.retain(|&missed_ns| missed_ns < end_ns);
        for journey in &mut self.journeys {
            journey.keyed_ns = journey.keyed_ns.filter(|&keyed_ns| keyed_ns < end_ns);
            journey.root = journey.root.filter(|&(t2_ns, _)| t2_ns < end_ns);
            journey.step_ns = journey.step_ns.filter(|&step_ns| step_ns < end_ns);
            journey.follow_up = journey.follow_up.filter(|&(ended_ns, _)| ended_ns < end_ns);
        }
        self.events.sort_by_key(|event| event.stamp_ns);
    }
}

impl JourneyWorld {
    fn unfold(
        &self,
        number: usize,
        key: String,
        at: &mut impl FnMut(u64) -> u64,
        truth: &mut Truth,
    ) {
        let t0_ns = at(self.t0);
        let t1 = self.t0 + self.lag;
        let t1_ns = at(t1);
        let from_response = self.kind == 0;
        let keyed_ns = match (from_response, self.root) {
            (false, _) => Some(t1_ns),
            (true, Some((delay, true))) => Some(at(t1 + delay)),
            (true, _) => None,
        };
        let root = self.root.map(|(delay, succeeds)| (at(t1 + delay), succeeds));
        let follows = self.kind == 2;
        truth.journeys.push(JourneyTruth {
            id: JourneyId(number as u64 | (number as u64 % 2) << 48),
            kind: self.kind,
            phase: if number.is_multiple_of(3) { Phase::WarmUp } else { Phase::Steady },
            t0_ns,
            t1_ns,
            key: key.clone(),
            keyed_ns,
            root,
            step_ns: follows.then(|| at(t1 + self.step)),
            follow_up: match self.follow_up {
                Some((delay, succeeds)) if follows => Some((at(t1 + self.step + delay), succeeds)),
                _ => None,
            },
        });
        if self.reuses.is_some() {
            return;
        }
        let stages = super::world::spec().journeys[usize::from(self.kind)].stages.len();
        for (stage, world) in self.stages.iter().take(stages).enumerate() {
            for &(delay, message_id, member, ours, check_failed, tap) in &world.seen {
                truth.events.push(EventTruth {
                    stamp_ns: at(t1 + delay),
                    kind: self.kind,
                    stage: stage as u8,
                    member,
                    key: key.clone(),
                    message_id,
                    marker: if ours { Marker::Ours } else { Marker::Absent },
                    check_failed,
                    undecodable: false,
                    tap,
                });
            }
        }
    }
}

pub(crate) fn any_world() -> impl Strategy<Value = World> {
    let marker = prop_oneof![Just(Marker::Ours), Just(Marker::Foreign), Just(Marker::Absent)];
    let noise = (0..3_000_u64, 0..9_u16, marker, prop::bool::weighted(0.2));
    (vec(any_journey(), 1..14), vec(noise, 0..8), 0..3_u8, 500..4_500_u64)
        .prop_map(|(journeys, noise, missed, end)| World { journeys, noise, missed, end })
}

fn any_journey() -> impl Strategy<Value = JourneyWorld> {
    let root = prop_oneof![
        8 => (1..300_u64, Just(true)).prop_map(Some),
        1 => (300..1_700_u64, Just(true)).prop_map(Some),
        1 => (1..900_u64, Just(false)).prop_map(Some),
        1 => Just(None),
    ];
    let reuses = prop::option::weighted(0.15, 1..4_usize);
    let follow_up = prop_oneof![
        6 => (1..600_u64, Just(true)).prop_map(Some),
        1 => (1..600_u64, Just(false)).prop_map(Some),
        1 => Just(None),
    ];
    let times = (0..1_500_u64, 0..60_u64, 1..500_u64);
    (0..KINDS, times, root, reuses, follow_up)
        .prop_flat_map(|(kind, times, root, reuses, follow_up)| {
            let stages: Vec<_> = (0..5).map(|stage| any_stage(kind, stage)).collect();
            (stages, Just((kind, times, root, reuses, follow_up)))
        })
        .prop_map(|(stages, (kind, (t0, lag, step), root, reuses, follow_up))| {
            // A key that the system makes is never the same twice; only clients reuse theirs.
            let reuses = reuses.filter(|_| kind != 0);
            JourneyWorld { kind, t0, lag, root, stages, reuses, step, follow_up }
        })
}

/// Mostly one event a good while after the stage before; sometimes none, repeated, out of order, in
/// front of everything, or far too late.
fn any_stage(kind: u16, stage: u64) -> impl Strategy<Value = StageWorld> {
    let delay = prop_oneof![
        10 => (1..250_u64).prop_map(move |delay| delay + 150 * stage),
        2 => 1..700_u64,
        1 => 700..2_500_u64,
    ];
    let message_id = prop_oneof![2 => Just(None), 3 => (1..3_u64).prop_map(Some)];
    let check_failed = prop::bool::weighted(0.01);
    let seen = (delay, message_id, 0..4_u64, prop::bool::ANY, check_failed, 0..3_u16);
    // Dead letters and the like are rare; a fan-out stage needs three.
    let count = match (kind, stage) {
        (0, 4) | (1, 2) => prop_oneof![12 => 0..1_usize, 1 => 1..3_usize].boxed(),
        (1, 1) => (3..7_usize).boxed(),
        _ => prop_oneof![1 => 0..1_usize, 9 => 1..2_usize, 3 => 2..4_usize].boxed(),
    };
    count.prop_flat_map(move |count| vec(seen.clone(), count)).prop_map(|seen| StageWorld { seen })
}
