//! What is done with a message.

use std::hint::black_box;

use sojourn_broker::{RawMessage, Router, Sink};
use sojourn_clock::now_ns;
use sojourn_ledger::{
    Batch, Decision, Fact, JourneyId, JourneySpec, Key, Ledger, LedgerSpec, Observation, Phase,
    Predecessor, Sequencer, SourceId, StageKind, StageSpec, Stamped,
};
use sojourn_plan::Plan;

use crate::{RUN_ID, key};

const TAP: SourceId = SourceId(0);
const HOUR_NS: u64 = 3_600_000_000_000;

/// A sink that knows how much it has been given.
pub(crate) trait Counting: Sink {
    /// Messages so far.
    fn count(&self) -> u64;

    /// A poll is over.
    fn polled(&mut self) {}

    /// The sink, for a poll.
    fn as_sink(&mut self) -> &mut dyn Sink;

    /// All have come: fails if they did not come to what they should.
    fn finish(&mut self) {}
}

/// Does nothing.
#[derive(Default)]
pub(crate) struct Dropped(u64);

impl Sink for Dropped {
    fn message(&mut self, message: &RawMessage<'_>) {
        black_box(message);
        self.0 += 1;
    }
}

impl Counting for Dropped {
    fn count(&self) -> u64 {
        self.0
    }

    fn as_sink(&mut self) -> &mut dyn Sink {
        self
    }
}

/// Decodes, and finds stage and key.
pub(crate) struct Routed {
    router: Router,
    count: u64,
}

impl Routed {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self { router: Router::new(plan, 0, RUN_ID), count: 0 }
    }

    fn observe(&mut self, message: &RawMessage<'_>) -> Observation {
        let observation = self.router.observe(message).unwrap();
        assert_eq!(observation.candidates.len(), 1, "it fits its stage");
        self.count += 1;
        observation
    }
}

impl Sink for Routed {
    fn message(&mut self, message: &RawMessage<'_>) {
        black_box(self.observe(message));
    }
}

impl Counting for Routed {
    fn count(&self) -> u64 {
        self.count
    }

    fn as_sink(&mut self) -> &mut dyn Sink {
        self
    }
}

/// And completes a journey with each, in a ledger.
pub(crate) struct Booked {
    routed: Routed,
    batch: Vec<Stamped>,
    sequence: u64,
    last_ns: u64,
    sequencer: Sequencer,
    ledger: Ledger,
    decisions: Vec<Decision>,
}

impl Booked {
    /// With a journey started for each of the messages to come, its root completed.
    pub(crate) fn new(plan: &Plan, messages: u64) -> Self {
        let (mut ledger, mut decisions) = (Ledger::new(spec(messages)), Vec::new());
        let stamp_ns = now_ns();
        // Some publishers count from 1.
        for number in 0..=messages {
            let journey = JourneyId(number);
            let key = Key::new(key(number).as_bytes());
            let phase = Phase::Steady;
            let started = Fact::Started { journey, kind: 0, phase, t0_ns: stamp_ns, key };
            for fact in [started, Fact::RootCompleted { journey }] {
                ledger.apply(Stamped { stamp_ns, fact }, &mut decisions);
            }
            decisions.clear();
        }
        Self {
            routed: Routed::new(plan),
            batch: Vec::new(),
            sequence: 0,
            last_ns: 0,
            sequencer: Sequencer::new(&[TAP], 1_000_000),
            ledger,
            decisions,
        }
    }
}

impl Sink for Booked {
    fn message(&mut self, message: &RawMessage<'_>) {
        let observation = self.routed.observe(message);
        // As a run's tap thread does: a nanosecond apart.
        self.last_ns = message.stamp_ns.max(self.last_ns + 1);
        let fact = Fact::Observed(Box::new(observation));
        self.batch.push(Stamped { stamp_ns: self.last_ns, fact });
    }
}

impl Counting for Booked {
    fn count(&self) -> u64 {
        self.routed.count
    }

    fn polled(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        // As a run's tap thread does.
        let room = Vec::with_capacity(self.batch.len().min(1024));
        let facts = std::mem::replace(&mut self.batch, room);
        // Stamps only rise here, so that the ledger's work falls into the round and not behind it.
        let (sequence, watermark_ns) = (self.sequence, self.last_ns);
        self.sequence += 1;
        self.sequencer.push(Batch { source: TAP, sequence, facts, watermark_ns }).unwrap();
        while let Some(fact) = self.sequencer.pop_for(&self.ledger) {
            self.ledger.apply(fact, &mut self.decisions);
            // As a run's observer does, which carries out what follows from a fact at once.
            self.decisions.clear();
        }
        self.ledger.advance(self.sequencer.watermark_ns(), &mut self.decisions);
        self.decisions.clear();
    }

    fn as_sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn finish(&mut self) {
        self.sequencer.end(TAP);
        while let Some(fact) = self.sequencer.pop_for(&self.ledger) {
            self.ledger.apply(fact, &mut self.decisions);
        }
        let balance = self.ledger.balance();
        assert_eq!(balance.imbalance(), None);
        assert_eq!(balance.journeys.completed, self.count(), "each event completed a journey");
    }
}

fn spec(messages: u64) -> LedgerSpec {
    let most = usize::try_from(messages).unwrap() + 1;
    LedgerSpec {
        journeys: vec![JourneySpec {
            within_ns: HOUR_NS,
            linger_ns: 0,
            stages: vec![StageSpec {
                kind: StageKind::Required,
                after: Predecessor::Step,
                expect: 1,
                shared: false,
                resumes: false,
            }],
            has_follow_ups: false,
            trace: None,
        }],
        journeys_max: most,
        early_max: most,
        tombstones_max: most,
        tombstone_ttl_ns: HOUR_NS,
        early_wait_ns: HOUR_NS,
        members_max: 0,
    }
}

#[cfg(test)]
mod tests {
    use sojourn_plan::{Connector, KafkaChannel};

    use super::*;
    use crate::{event, plan};

    fn taken(sink: &mut dyn Counting, numbers: &[u64]) {
        for number in numbers {
            sink.as_sink().message(&RawMessage {
                stamp_ns: now_ns(),
                topic: "t",
                key: None,
                headers: vec![("sojourn-run", RUN_ID.as_bytes())],
                payload: event(*number).as_bytes(),
                position: None,
            });
            sink.polled();
        }
        sink.finish();
    }

    #[test]
    fn each_way_takes_the_events_and_the_ledger_completes_a_journey_with_each() {
        let plan = plan(Connector::Kafka(KafkaChannel::default()));
        let mut sinks: [Box<dyn Counting>; 3] = [
            Box::new(Dropped::default()),
            Box::new(Routed::new(&plan)),
            Box::new(Booked::new(&plan, 3)),
        ];
        for sink in &mut sinks {
            taken(&mut **sink, &[0, 2, 1]);
            assert_eq!(sink.count(), 3);
        }
    }

    #[test]
    fn an_event_that_comes_twice_completes_no_second_journey() {
        let plan = plan(Connector::Kafka(KafkaChannel::default()));
        let twice = || taken(&mut Booked::new(&plan, 3), &[1, 1]);
        // Nothing of what panics is looked at afterwards.
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(twice));
        assert!(outcome.is_err());
    }
}
