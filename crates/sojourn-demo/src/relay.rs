//! The outbox relay: polls the event store on a fixed grid and publishes what is new, in order.
//!
//! The cursor moves on only when the broker has acknowledged a batch. Faults of publication are
//! applied here: drop, redelivery, republication, reordering.
//!
//! Reordering, honestly: within one journey the next event exists only once this one was consumed,
//! so an event can't simply be published after its successor. The relay holds the publication back
//! and hands the event to the demo's consumer directly. The work and the next event proceed; when
//! the next event comes through the relay, the held one is published right behind it, with the
//! header `handed`, which the demo's consumer skips. What a tap sees on the topic is a true
//! reordering; only the way the consumer got the event is special. A successor that never comes
//! releases the held event after a minute, or when the demo stops.

use crate::common::Common;
use crate::config::DemoConfig;
use crate::consumer::{Consumption, Intake};
use crate::counters::bump;
use crate::faults::{Fate, Faults};
use crate::publisher::{Batch, Done, Outgoing, Publisher, Purpose};
use crate::random;
use crate::retention::FULL;
use crate::store::{Outbox, OutboxEvent};
use crate::timestamp::rfc3339;
use crate::truth_record::{Kind, Record};
use serde_json::json;
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Events held back at once; beyond it, an event is published in order.
const HELD_MAX: usize = 10_000;
/// How long an event waits for its successor.
const HELD_NS_MAX: u64 = 60 * SECOND_NS;
/// Pause before undelivered events are tried again, milliseconds.
const RETRY_MS: u64 = 200;

/// The relay; `run` is its thread.
pub(crate) struct Relay {
    poll_ms: u64,
    batch: u32,
    seed: u64,
    outbox: Outbox,
    faults: Faults,
    publisher: Arc<Publisher>,
    intake: Intake,
    common: Common,
    /// Position of the newest event that needs no more publishing.
    cursor: i64,
    /// Events held back, by stream.
    held: HashMap<String, Held>,
}

/// An event whose publication waits for its successor's.
struct Held {
    event: OutboxEvent,
    since_ns: u64,
}

impl Relay {
    /// A relay of what comes into the outbox from now on.
    pub(crate) fn new(
        config: &DemoConfig,
        outbox: Outbox,
        publisher: Arc<Publisher>,
        intake: Intake,
        common: Common,
    ) -> Self {
        Self {
            poll_ms: config.relay.poll_ms,
            batch: config.relay.batch,
            seed: config.seed,
            cursor: outbox.end(),
            outbox,
            faults: Faults::new(config.seed, config.faults.clone()),
            publisher,
            intake,
            common,
            held: HashMap::new(),
        }
    }

    /// Polls until stopped, then publishes what is still held back.
    pub(crate) fn run(mut self) {
        let interval_ns = self.poll_ms * MILLISECOND_NS;
        let start_ns = now_ns();
        loop {
            // A poll that outlasts the interval skips the grid points it missed.
            let polls = (now_ns() - start_ns) / interval_ns + 1;
            if self.common.stop.wait_until(start_ns + polls * interval_ns) {
                break;
            }
            self.poll();
            self.release_before(now_ns().saturating_sub(HELD_NS_MAX));
        }
        self.release_before(u64::MAX);
    }

    /// Takes batches until the outbox is drained.
    fn poll(&mut self) {
        while !self.common.stop.is_raised() && self.has_room() {
            let events = match self.outbox.after(self.cursor, self.batch) {
                Ok(events) => events,
                Err(error) => return self.common.problems.report(format!("relay: {error}")),
            };
            let Some(last) = events.last().map(|event| event.position) else {
                return;
            };
            let drained = events.len() < self.batch as usize;
            let mut messages = Vec::with_capacity(events.len());
            for event in events {
                self.plan(event, &mut messages);
            }
            if !self.publish_all(&messages) {
                return;
            }
            self.cursor = last;
            if drained {
                return;
            }
        }
    }

    fn has_room(&self) -> bool {
        let full = self.common.retention.as_ref().is_some_and(|retention| retention.is_full());
        if full {
            self.common.problems.report(format!("relay stopped: {FULL}"));
        }
        !full
    }

    /// What an event becomes on the topic; a held predecessor follows it.
    fn plan(&mut self, event: OutboxEvent, messages: &mut Vec<Outgoing>) {
        let predecessor = self.held.remove(&event.stream);
        let mut publish = |event: &OutboxEvent, kind| {
            messages.push(outgoing(self.seed, event, kind));
        };
        match self.faults.fate(&event.stream, event.stage) {
            Fate::Drop => {
                bump(&self.common.counters.dropped);
                self.common.truth.note(|| Record::Dropped {
                    at_ns: now_ns(),
                    key: event.stream.clone(),
                    stage: event.stage,
                });
            }
            Fate::Redeliver => {
                publish(&event, Kind::First);
                publish(&event, Kind::Redelivery);
            }
            Fate::Republish => {
                publish(&event, Kind::First);
                publish(&event, Kind::Republication);
            }
            Fate::Reorder if predecessor.is_none() && self.held.len() < HELD_MAX => {
                return self.hold(event);
            }
            Fate::Reorder | Fate::Poison | Fate::Whole => publish(&event, Kind::First),
        }
        if let Some(held) = predecessor {
            publish(&held.event, Kind::Reordered);
        }
    }

    fn hold(&mut self, event: OutboxEvent) {
        let message = outgoing(self.seed, &event, Kind::Reordered);
        self.intake.offer(Consumption {
            key: message.key,
            stage: message.stage,
            message_id: message.message_id,
            payload: message.payload,
        });
        let held = Held { since_ns: now_ns(), event };
        self.held.insert(held.event.stream.clone(), held);
    }

    /// Publishes the events held since before an instant, oldest first.
    fn release_before(&mut self, instant_ns: u64) {
        let mut overdue: Vec<Held> = self
            .held
            .extract_if(|_, held| held.since_ns < instant_ns)
            .map(|(_, held)| held)
            .collect();
        overdue.sort_by_key(|held| held.event.position);
        let messages: Vec<_> =
            overdue.iter().map(|held| outgoing(self.seed, &held.event, Kind::Reordered)).collect();
        self.publish_all(&messages);
    }

    /// Publishes in order and waits for every acknowledgement; true when all came. Undelivered
    /// ones are tried again, the same messages, until the demo stops.
    fn publish_all(&self, messages: &[Outgoing]) -> bool {
        let mut left: Vec<&Outgoing> = messages.iter().collect();
        while !left.is_empty() {
            let batch = Arc::new(Batch::default());
            let mut refused = Vec::new();
            for (index, message) in left.iter().enumerate() {
                let done = Done::Batch(Arc::clone(&batch), index);
                if let Err(error) = self.publisher.publish(message, done) {
                    self.common.problems.report(format!("event not published: {error}"));
                    refused.push(index);
                }
            }
            let Some(mut failed) = self.wait(&batch, left.len() - refused.len()) else {
                return false;
            };
            failed.extend(refused);
            failed.sort_unstable();
            left = failed.into_iter().map(|index| left[index]).collect();
            if !left.is_empty() && self.common.stop.wait_ms(RETRY_MS) {
                return false;
            }
        }
        true
    }

    /// Waits for a batch; none when the demo stops and the broker doesn't answer.
    fn wait(&self, batch: &Batch, expected: usize) -> Option<Vec<usize>> {
        loop {
            let stopping = self.common.stop.is_raised();
            if let Some(failed) = batch.wait(expected, Duration::from_secs(1)) {
                return Some(failed);
            }
            if stopping {
                return None;
            }
        }
    }
}

fn outgoing(seed: u64, event: &OutboxEvent, kind: Kind) -> Outgoing {
    let copy = u32::from(kind == Kind::Republication);
    let id = random::message_id(seed, &event.stream, event.version, copy);
    let payload = json!({
        "aggregateId": event.stream,
        "type": event.stage.event_type(),
        "version": event.version,
        "occurredAt": rfc3339(event.occurred_unix_ns),
    });
    Outgoing {
        key: event.stream.clone(),
        stage: event.stage,
        message_id: id.to_string(),
        payload: payload.to_string(),
        purpose: Purpose::Event(kind),
    }
}
