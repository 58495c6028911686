//! What a message costs behind any tap: the same events out of memory, with nothing beside.
//! `cargo bench -p sojourn-tap-cost --bench memory`; the crate's page says what the figures are.
#![allow(clippy::unwrap_used, reason = "its input is its own")]

use std::time::Duration;

use sojourn_broker::{BrokerError, RawMessage, Sink, Tap, TapInfo};
use sojourn_clock::now_ns;
use sojourn_plan::{Channel, Connector, KafkaChannel};
use sojourn_tap_cost::{Cost, Publisher, When, event, plan, publish_if_asked};

const MESSAGES: u64 = 400_000;
/// Handed over by a poll.
const BATCH: u64 = 512;

fn main() {
    // Nothing is published.
    publish_if_asked(|_| ());
    let plan = plan(Connector::Kafka(KafkaChannel::default()));
    let publisher = Publisher { address: String::new(), when: When::Before };
    let mut cost = Cost::new("memory", MESSAGES);
    let messages = cost.messages();
    let tap = move |_: &Channel| -> Result<Box<dyn Tap>, BrokerError> {
        Ok(Box::new(Held { messages, events: Vec::new(), next: 0 }))
    };
    cost.taps(&tap, &plan, &publisher);
    cost.run();
}

/// The events, each in an allocation of its own.
struct Held {
    messages: u64,
    events: Vec<String>,
    next: u64,
}

impl Tap for Held {
    fn open(&mut self) -> Result<TapInfo, BrokerError> {
        self.events = (0..self.messages).map(event).collect();
        Ok(TapInfo { listens_to: "memory".to_owned(), address: None })
    }

    fn poll(&mut self, _: Duration, sink: &mut dyn Sink) -> Result<(), BrokerError> {
        let end = (self.next + BATCH).min(self.messages);
        for number in self.next..end {
            sink.message(&RawMessage {
                stamp_ns: now_ns(),
                topic: "payments.events",
                key: None,
                headers: Vec::new(),
                payload: self.events[number as usize].as_bytes(),
                position: None,
            });
        }
        self.next = end;
        Ok(())
    }

    fn watermark_ns(&self) -> u64 {
        0
    }
}
