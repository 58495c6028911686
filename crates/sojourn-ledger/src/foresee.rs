//! Looking ahead: what facts to come will need is brought near, many at a time.

use std::hint::black_box;

use crate::hash::KeyHash;
use crate::{Fact, Ledger, Stamped};

/// Facts looked at together: as many as keep the processor's reads under way, and few enough for
/// what they need to stay in its nearest cache.
pub(crate) const AHEAD: usize = 32;

/// A book of fewer journeys is near anyway.
const JOURNEYS_MIN: usize = 1 << 13;

impl Ledger {
    /// Looks up the journeys of events that are about to be applied; changes nothing.
    ///
    /// A large book lies in memory, and an event's way to its journey is three reads, each of which
    /// needs the one before. Applied one by one, events wait for theirs in turn, which was two
    /// fifths of their cost with 400,000 journeys in flight; here the reads of many go on at once.
    pub(crate) fn foresee(&self, facts: &[Stamped]) {
        if self.index.len() < JOURNEYS_MIN || self.common_stages.is_some() {
            return;
        }
        let mut hashes = [KeyHash::NONE; AHEAD];
        let mut count = 0;
        for (hash, stamped) in hashes.iter_mut().zip(facts) {
            if let Fact::Observed(observation) = &stamped.fact
                && let Some(candidate) = observation.candidates.first()
            {
                *hash = KeyHash::of(&candidate.key).of_kind(candidate.kind);
                count += 1;
            }
        }
        if count == 0 {
            return;
        }
        let hashes = || hashes.into_iter().filter(|hash| *hash != KeyHash::NONE);
        hashes().for_each(|hash| self.index.approach(hash));
        hashes().for_each(|hash| self.index.touch(hash));
        for slot in hashes().filter_map(|hash| self.named(hash)) {
            black_box(self.journeys[slot].reached);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Batch, Candidate, JourneyId, JourneySpec, Key, LedgerSpec, Marker, Observation, Phase,
        Predecessor, Sequencer, SourceId, StageKind, StageSpec,
    };

    const JOURNEYS: u64 = JOURNEYS_MIN as u64 + 100;

    fn spec() -> LedgerSpec {
        let stage = StageSpec {
            kind: StageKind::Required,
            after: Predecessor::Step,
            expect: 1,
            shared: false,
            resumes: false,
        };
        LedgerSpec {
            journeys: vec![JourneySpec {
                within_ns: u64::MAX / 2,
                linger_ns: 0,
                stages: vec![stage],
                has_follow_ups: false,
                trace: None,
            }],
            journeys_max: 2 * JOURNEYS_MIN,
            early_max: 100,
            tombstones_max: 2 * JOURNEYS_MIN,
            tombstone_ttl_ns: u64::MAX / 2,
            early_wait_ns: u64::MAX / 2,
            members_max: 0,
        }
    }

    fn key(number: u64) -> Key {
        Key::new(&number.to_le_bytes()).expect("not empty")
    }

    fn observed(keys: &[u64]) -> Fact {
        let candidate = |&number: &u64| Candidate {
            kind: 0,
            stage: 0,
            key: key(number),
            member: None,
            check_failed: false,
            more: None,
        };
        Fact::Observed(Box::new(Observation {
            channel: 0,
            candidates: keys.iter().map(candidate).collect(),
            message_id: None,
            marker: Marker::Absent,
            undecodable: false,
        }))
    }

    /// Two sources in turn, so that what was looked at is not always what comes next.
    #[test]
    fn events_that_were_looked_ahead_to_are_applied_as_any_others() {
        let mut ledger = Ledger::new(spec());
        let mut decisions = Vec::new();
        for number in 0..JOURNEYS {
            let (journey, key) = (JourneyId(number), Some(key(number)));
            let phase = Phase::Steady;
            for fact in [
                Fact::Started { journey, kind: 0, phase, t0_ns: 1, key },
                Fact::RootCompleted { journey },
            ] {
                ledger.apply(Stamped { stamp_ns: 1, fact }, &mut decisions);
            }
        }
        let mut sequencer = Sequencer::new(&[SourceId(0), SourceId(1)], 1 << 20);
        for source in [0, 1_u16] {
            let own = (0..JOURNEYS).filter(|number| number % 2 == u64::from(source));
            let fact = |number| Stamped { stamp_ns: 2 + number, fact: observed(&[number]) };
            let mut facts: Vec<_> = own.map(fact).collect();
            // Of no stage, of no journey, and no event at all.
            let stamp_ns = 2 + JOURNEYS;
            let late = Fact::RootCompleted { journey: JourneyId(0) };
            for fact in [observed(&[]), observed(&[u64::MAX]), late] {
                facts.push(Stamped { stamp_ns, fact });
            }
            let source = SourceId(source);
            let batch = Batch { source, sequence: 0, facts, watermark_ns: stamp_ns + 1 };
            sequencer.push(batch).expect("in order");
        }
        let mut last_ns = 0;
        while let Some(fact) = sequencer.pop_for(&ledger) {
            assert!(fact.stamp_ns >= last_ns);
            last_ns = fact.stamp_ns;
            ledger.apply(fact, &mut decisions);
        }
        assert_eq!(sequencer.held(), 0);
        let balance = ledger.balance();
        assert_eq!(balance.imbalance(), None);
        assert_eq!(balance.journeys.completed, JOURNEYS);
        assert_eq!((balance.events.matched, balance.events.unattributed), (JOURNEYS, 2));
        assert_eq!(balance.events.waiting, 2);
    }
}
