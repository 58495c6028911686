//! Puts messages on topics and writes down when the broker acknowledged them.

use crate::carrier::Queue;
use crate::common::Common;
use crate::config::DemoConfig;
use crate::counters::bump;
use crate::error::DemoError;
use crate::kafka::Kafka;
use crate::stage::Stage;
use crate::truth_record::{Kind, Publication, Record};
use rdkafka::ClientContext;
use rdkafka::error::RDKafkaErrorCode;
use rdkafka::message::{Header, Message as _, OwnedHeaders};
use rdkafka::producer::{BaseRecord, DeliveryResult, Producer, ProducerContext, ThreadedProducer};
use sojourn_clock::now_ns;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// Header that tells an event's type.
pub(crate) const TYPE_HEADER: &str = "type";
/// Header that tells a message's id.
pub(crate) const MESSAGE_ID_HEADER: &str = "message-id";
/// Header of a publication that the demo's consumers were handed before: they skip it.
pub(crate) const HANDED_HEADER: &str = "handed";
/// Header that tells why an event was given up.
pub(crate) const REASON_HEADER: &str = "reason";

/// A message to be put on a topic.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub(crate) key: String,
    pub(crate) stage: Stage,
    pub(crate) message_id: String,
    pub(crate) payload: String,
    pub(crate) purpose: Purpose,
}

/// Why a message is published, and so where.
#[derive(Clone, Debug)]
pub(crate) enum Purpose {
    /// An event, to the events topic.
    Event(Kind),
    /// An event given up, with the reason, to the dead-letter topic.
    DeadLetter(String),
}

/// The one publisher of a demo.
pub(crate) enum Publisher {
    /// By Kafka's own client.
    Kafka(KafkaPublisher),
    /// By another broker's.
    Carried(Queue),
}

impl Publisher {
    /// Hands a message over. `done` hears what became of it. While there is no place for it, it
    /// waits; the broker acknowledges or the message times out, so that ends.
    pub(crate) fn publish(&self, message: &Outgoing, done: Done) -> Result<(), String> {
        let ticket = Ticket::new(message, done);
        match self {
            Self::Kafka(kafka) => kafka.publish(message, ticket),
            Self::Carried(queue) => queue.push(message, ticket),
        }
    }

    /// Waits until the broker has acknowledged everything.
    pub(crate) fn flush(&self, timeout: Duration) -> Result<(), DemoError> {
        match self {
            Self::Kafka(kafka) => kafka.producer.flush(timeout).map_err(|source| {
                DemoError::Kafka { action: "acknowledge the last events".into(), source }
            }),
            Self::Carried(queue) if queue.flush(timeout) => Ok(()),
            Self::Carried(_) => Err(DemoError::Unacknowledged { seconds: timeout.as_secs() }),
        }
    }
}

/// Kafka's producer.
pub(crate) struct KafkaPublisher {
    producer: ThreadedProducer<Deliveries>,
    events_topic: String,
    dead_letter_topic: String,
}

impl KafkaPublisher {
    pub(crate) fn new(
        kafka: &Kafka,
        config: &DemoConfig,
        common: Common,
    ) -> Result<Self, DemoError> {
        let producer = kafka
            .producer_config()
            .create_with_context(Deliveries::new(common))
            .map_err(|source| DemoError::Kafka { action: "create a producer".into(), source })?;
        Ok(Self {
            producer,
            events_topic: config.events_topic.clone(),
            dead_letter_topic: config.dead_letter_topic.clone(),
        })
    }

    /// Hands a message to the client. When the client's queue is full it is tried again after a
    /// millisecond.
    fn publish(&self, message: &Outgoing, ticket: Ticket) -> Result<(), String> {
        let headers = headers(message);
        let headers = headers.iter().fold(OwnedHeaders::new(), |all, (key, value)| {
            all.insert(Header { key, value: Some(*value) })
        });
        let topic = match message.purpose {
            Purpose::Event(_) => &self.events_topic,
            Purpose::DeadLetter(_) => &self.dead_letter_topic,
        };
        let mut record = BaseRecord::with_opaque_to(topic, Box::new(ticket))
            .key(&message.key)
            .payload(&message.payload)
            .headers(headers);
        loop {
            match self.producer.send(record) {
                Ok(()) => return Ok(()),
                Err((error, returned))
                    if error.rdkafka_error_code() == Some(RDKafkaErrorCode::QueueFull) =>
                {
                    std::thread::sleep(Duration::from_millis(1));
                    record = returned;
                    record.delivery_opaque.published_now();
                }
                Err((error, _)) => return Err(error.to_string()),
            }
        }
    }
}

/// A message's headers, (name, value).
pub(crate) fn headers(message: &Outgoing) -> Vec<(&'static str, &str)> {
    let mut headers = vec![
        (TYPE_HEADER, message.stage.event_type()),
        (MESSAGE_ID_HEADER, message.message_id.as_str()),
    ];
    match &message.purpose {
        Purpose::Event(Kind::Reordered) => headers.push((HANDED_HEADER, "1")),
        Purpose::Event(_) => {}
        Purpose::DeadLetter(reason) => headers.push((REASON_HEADER, reason)),
    }
    headers
}

/// Who hears of a delivery.
pub(crate) enum Done {
    /// Member of a batch, by its index.
    Batch(Arc<Batch>, usize),
    /// One waiting task: true when delivered.
    One(oneshot::Sender<bool>),
}

/// Counts down the deliveries of a batch.
#[derive(Default)]
pub(crate) struct Batch {
    state: Mutex<BatchState>,
    wake: Condvar,
}

#[derive(Default)]
struct BatchState {
    reported: usize,
    failed: Vec<usize>,
}

impl Batch {
    fn report(&self, index: usize, delivered: bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.reported += 1;
        if !delivered {
            state.failed.push(index);
        }
        drop(state);
        self.wake.notify_one();
    }

    /// Waits up to a timeout until `expected` deliveries are reported; then the failed ones.
    pub(crate) fn wait(&self, expected: usize, timeout: Duration) -> Option<Vec<usize>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut state, timed) = self
            .wake
            .wait_timeout_while(state, timeout, |state| state.reported < expected)
            .unwrap_or_else(PoisonError::into_inner);
        if timed.timed_out() && state.reported < expected {
            return None;
        }
        let mut failed = std::mem::take(&mut state.failed);
        failed.sort_unstable();
        Some(failed)
    }
}

/// What is remembered of a message on its way.
pub(crate) struct Ticket {
    /// None for a dead letter.
    kind: Option<Kind>,
    key: String,
    stage: Stage,
    message_id: String,
    publish_ns: u64,
    bytes: u64,
    done: Done,
}

impl Ticket {
    fn new(message: &Outgoing, done: Done) -> Self {
        let headers = headers(message);
        let headers: usize = headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        Self {
            kind: match message.purpose {
                Purpose::Event(kind) => Some(kind),
                Purpose::DeadLetter(_) => None,
            },
            key: message.key.clone(),
            stage: message.stage,
            message_id: message.message_id.clone(),
            publish_ns: now_ns(),
            bytes: (message.key.len() + message.payload.len() + headers) as u64,
            done,
        }
    }

    /// It is handed to the broker's client just now.
    pub(crate) fn published_now(&mut self) {
        self.publish_ns = now_ns();
    }
}

/// Takes delivery reports, on the thread of whoever publishes.
pub(crate) struct Deliveries {
    common: Common,
}

impl ClientContext for Deliveries {}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = Box<Ticket>;

    fn delivery(&self, result: &DeliveryResult<'_>, ticket: Box<Ticket>) {
        let delivered_ns = now_ns();
        let result = match result {
            Ok(message) => Ok((delivered_ns, message.partition(), message.offset())),
            Err((error, _)) => Err(error.to_string()),
        };
        self.delivered(*ticket, result);
    }
}

impl Deliveries {
    pub(crate) fn new(common: Common) -> Self {
        Self { common }
    }

    /// The broker has acknowledged a message, (when, partition, offset), or will not.
    pub(crate) fn delivered(&self, ticket: Ticket, result: Result<(u64, i32, i64), String>) {
        let Ticket { kind, key, stage, message_id, publish_ns, bytes, done } = ticket;
        let is_delivered = result.is_ok();
        match result {
            Ok((delivered_ns, partition, offset)) => {
                self.count(kind, partition, bytes);
                self.common.truth.note(|| match kind {
                    Some(kind) => Record::Published(Publication {
                        publish_ns,
                        delivered_ns,
                        key,
                        stage,
                        message_id,
                        kind,
                        partition,
                        offset,
                    }),
                    None => Record::DeadLettered {
                        publish_ns,
                        delivered_ns,
                        key,
                        stage,
                        message_id,
                        partition,
                        offset,
                    },
                });
            }
            Err(error) => self.common.problems.report(format!("event not delivered: {error}")),
        }
        match done {
            Done::Batch(batch, index) => batch.report(index, is_delivered),
            // Who no longer waits is stopping.
            Done::One(waiting) => drop(waiting.send(is_delivered)),
        }
    }

    fn count(&self, kind: Option<Kind>, partition: i32, bytes: u64) {
        match kind {
            Some(kind) => {
                bump(self.common.counters.published(kind));
                if let Some(retention) = &self.common.retention {
                    retention.add(partition, bytes);
                }
            }
            None => bump(&self.common.counters.dead_lettered),
        }
    }
}
