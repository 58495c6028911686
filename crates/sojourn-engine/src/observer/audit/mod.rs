//! Which journeys are kept with their whole timeline: every lost, failed, late, duplicated and
//! out-of-order one up to a counted cap, the slowest, and a sample from which the report takes its
//! median journey.
//!
//! No figure depends on what is kept. A duplicate that comes after its journey's end is added to
//! the journey's record, which is made then if there was none: the ledger's tombstone still knows
//! the timeline.

mod counts;
mod messages;
mod record;
mod slowest;

use std::collections::{HashMap, HashSet};

use smallvec::SmallVec;
use sojourn_ledger::{Again, FinishClass, Finished, JourneyId, Ledger, Phase};
use sojourn_pace::random_u64;
use sojourn_plan::{Journey, Plan};
use sojourn_record::{DuplicateRecord, JourneyRecord, KEPT_AS_ALL, KeptAs, KeptRecord};

use crate::RunOptions;
use counts::Counts;
pub(crate) use messages::MessageRing;
use record::{Records, Repeat, Repeats};
use slowest::Slowest;

/// Journeys sampled per kind.
const SAMPLE_MAX: usize = 100;
/// Journeys in flight whose duplicates are remembered.
const REPEATED_MAX: usize = 200_000;
/// Duplicates remembered of a journey in flight.
const REPEATS_MAX: usize = 50;

/// Something for the run file.
#[derive(Debug)]
pub(crate) enum Kept {
    /// A journey.
    Journey(Box<JourneyRecord>),
    /// A duplicate of a journey that was handed out before.
    Duplicate(Box<DuplicateRecord>),
}

/// Why a journey is kept, the telling reasons.
type Roles = SmallVec<[KeptAs; 2]>;

/// The choice of journeys to keep.
pub(crate) struct Audit {
    records: Records,
    seed: u64,
    keep_all: bool,
    counts: Counts,
    kinds: Vec<KindAudit>,
    /// Slowest journeys kept, of each kind.
    slowest_max: usize,
    /// Duplicates of journeys in flight.
    repeats: HashMap<JourneyId, Repeats>,
    /// Journeys handed out; bounded by the caps of all classes.
    written: HashSet<JourneyId>,
}

struct KindAudit {
    slowest: Slowest,
    sample: Vec<JourneyRecord>,
    seen: u64,
    is_poisoned: bool,
}

impl KindAudit {
    fn new(journey: &Journey, slowest_max: usize) -> Self {
        Self {
            slowest: Slowest::new(slowest_max),
            sample: Vec::new(),
            seen: 0,
            is_poisoned: journey.poison.is_some(),
        }
    }
}

impl Audit {
    /// `rings`: of each channel, the messages that its tap holds; empty where none does.
    pub(crate) fn new(
        plan: &Plan,
        start_ns: u64,
        options: &RunOptions,
        rings: Vec<MessageRing>,
    ) -> Self {
        let slowest_max = options.keep.slowest;
        Self {
            records: Records::new(plan, start_ns, &options.run_id, rings),
            seed: plan.seed,
            keep_all: options.keep_all,
            counts: Counts::new(options.keep.each_max),
            kinds: plan.journeys.iter().map(|it| KindAudit::new(it, slowest_max)).collect(),
            slowest_max,
            repeats: HashMap::new(),
            written: HashSet::new(),
        }
    }

    /// Takes a further journey in.
    pub(crate) fn add(&mut self, journey: &Journey) {
        self.records.add(journey);
        self.kinds.push(KindAudit::new(journey, self.slowest_max));
    }

    /// Looks at a finished journey; returns it when it is to be kept at once.
    pub(crate) fn take(&mut self, finished: &Finished) -> Option<JourneyRecord> {
        let repeats = match finished.is_duplicated {
            true => self.repeats.remove(&finished.journey).unwrap_or(Repeats::FORGOTTEN),
            false => Repeats::default(),
        };
        let roles = roles(finished);
        if self.keep_all {
            self.counts.keep(&roles);
            return Some(self.records.make(finished, (KEPT_AS_ALL, &roles), &repeats));
        }
        let has_room = self.counts.take(&roles, self.is_poisoned(finished.kind));
        let completes = matches!(finished.class, FinishClass::Completed | FinishClass::Late);
        if completes && finished.phase == Phase::Steady {
            self.sample(finished, &repeats);
        }
        let (first, others) = roles.split_first().filter(|_| has_room)?;
        self.written.insert(finished.journey);
        Some(self.records.make(finished, (first.name(), others), &repeats))
    }

    /// Takes a duplicate; returns what is to be kept of it at once.
    pub(crate) fn again(&mut self, again: &Again, ledger: &Ledger) -> Option<Kept> {
        if !again.has_ended {
            self.remember(again);
            return None;
        }
        if self.keep_all || self.written.contains(&again.journey) {
            if again.is_first {
                self.counts.keep(&[KeptAs::Duplicated]);
            }
            let has_room = self.keep_all || self.counts.take_duplicate();
            return has_room.then(|| Kept::Duplicate(Box::new(self.records.duplicate(again))));
        }
        // Had the first one found room, the journey would have been handed out.
        if !again.is_first {
            return None;
        }
        if !self.counts.take(&[KeptAs::Duplicated], self.is_poisoned(again.kind)) {
            return None;
        }
        // The event was matched to its tombstone a moment ago, so it is there.
        let finished = Finished { key: again.key.clone(), ..ledger.remembered(again.journey)? };
        let mut roles = roles(&finished);
        roles.retain(|role| *role != KeptAs::Duplicated);
        // Whatever else befell it, there had been no room for it.
        self.counts.recover(&roles);
        self.written.insert(again.journey);
        let repeats = Repeats::of(Repeat::of(again));
        let kept_as = (KeptAs::Duplicated.name(), &roles[..]);
        Some(Kept::Journey(Box::new(self.records.make(&finished, kept_as, &repeats))))
    }

    fn remember(&mut self, again: &Again) {
        let is_full = self.repeats.len() >= REPEATED_MAX;
        if is_full && !self.repeats.contains_key(&again.journey) {
            return;
        }
        let repeats = self.repeats.entry(again.journey).or_default();
        match repeats.listed.len() < REPEATS_MAX {
            true => repeats.listed.push(Repeat::of(again)),
            false => repeats.beyond += 1,
        }
    }

    fn is_poisoned(&self, kind: u16) -> bool {
        self.kinds[usize::from(kind)].is_poisoned
    }

    /// The slowest and the sample, at the end.
    pub(crate) fn rest(&mut self) -> Vec<JourneyRecord> {
        let mut rest = Vec::new();
        for kind in std::mem::take(&mut self.kinds) {
            let slowest = kind.slowest.into_records();
            self.counts.hand_out(KeptAs::Slowest, slowest.len());
            self.counts.hand_out(KeptAs::Sample, kind.sample.len());
            rest.extend(slowest.into_iter().chain(kind.sample));
        }
        rest
    }

    /// How many of each class were kept and were not.
    pub(crate) fn kept(&self) -> KeptRecord {
        self.counts.record()
    }

    fn sample(&mut self, finished: &Finished, repeats: &Repeats) {
        let duration_ns = finished.end_ns.saturating_sub(finished.t0_ns);
        let kind = &mut self.kinds[usize::from(finished.kind)];
        kind.seen += 1;
        // Reservoir sampling (algorithm R, Vitter 1985): every journey has the same chance.
        let place = match kind.sample.len() {
            len if len < SAMPLE_MAX => len,
            _ => (random_u64(self.seed, 0xA0D17, finished.journey.0) % kind.seen) as usize,
        };
        let make = |role: KeptAs| self.records.make(finished, (role.name(), &[]), repeats);
        // Most journeys are neither: what they would look like is not made.
        if kind.slowest.is_slow(duration_ns) {
            kind.slowest.push(duration_ns, make(KeptAs::Slowest));
        }
        if place < SAMPLE_MAX {
            let record = make(KeptAs::Sample);
            match kind.sample.get_mut(place) {
                Some(former) => *former = record,
                None => kind.sample.push(record),
            }
        }
    }
}

/// What befell a journey that makes it telling.
fn roles(finished: &Finished) -> Roles {
    let mut roles = Roles::new();
    match finished.class {
        FinishClass::Completed => {}
        FinishClass::Late => roles.push(KeptAs::Late),
        FinishClass::Lost => roles.push(KeptAs::Lost),
        FinishClass::Failed => roles.push(KeptAs::Failed),
        FinishClass::RootFailed => roles.push(KeptAs::RootFailed),
        FinishClass::InFlightAtCutoff => roles.push(KeptAs::InFlight),
    }
    if finished.is_duplicated {
        roles.push(KeptAs::Duplicated);
    }
    if finished.negative_hops > 0 {
        roles.push(KeptAs::OutOfOrder);
    }
    roles
}

#[cfg(test)]
mod tests;
