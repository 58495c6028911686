//! Puts messages on topics and writes down when the broker acknowledged them.

use crate::common::Common;
use crate::config::DemoConfig;
use crate::counters::bump;
use crate::error::DemoError;
use crate::kafka::Kafka;
use crate::stage::Stage;
use crate::truth_record::{Kind, Publication, Record};
use rdkafka::ClientContext;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{Header, Headers, Message as _, OwnedHeaders};
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

/// The one producer of a demo.
pub(crate) struct Publisher {
    producer: ThreadedProducer<Deliveries>,
    events_topic: String,
    dead_letter_topic: String,
}

impl Publisher {
    pub(crate) fn new(
        kafka: &Kafka,
        config: &DemoConfig,
        common: Common,
    ) -> Result<Self, DemoError> {
        let producer = kafka
            .producer_config()
            .create_with_context(Deliveries { common })
            .map_err(|source| DemoError::Kafka { action: "create a producer".into(), source })?;
        Ok(Self {
            producer,
            events_topic: config.events_topic.clone(),
            dead_letter_topic: config.dead_letter_topic.clone(),
        })
    }

    /// Hands a message to the client. `done` hears what became of it. When the client's queue is
    /// full it is tried again after a millisecond; the broker acknowledges or the message times
    /// out, so that ends.
    pub(crate) fn publish(&self, message: &Outgoing, done: Done) -> Result<(), KafkaError> {
        let headers = headers(message);
        let topic = match message.purpose {
            Purpose::Event(_) => &self.events_topic,
            Purpose::DeadLetter(_) => &self.dead_letter_topic,
        };
        let ticket = Box::new(Ticket {
            kind: match message.purpose {
                Purpose::Event(kind) => Some(kind),
                Purpose::DeadLetter(_) => None,
            },
            key: message.key.clone(),
            stage: message.stage,
            message_id: message.message_id.clone(),
            publish_ns: now_ns(),
            bytes: (message.key.len() + message.payload.len() + bytes_of(&headers)) as u64,
            done,
        });
        let mut record = BaseRecord::with_opaque_to(topic, ticket)
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
                    record.delivery_opaque.publish_ns = now_ns();
                }
                Err((error, _)) => return Err(error),
            }
        }
    }

    /// Waits until the broker has acknowledged everything.
    pub(crate) fn flush(&self, timeout: Duration) -> Result<(), DemoError> {
        self.producer.flush(timeout).map_err(|source| DemoError::Kafka {
            action: "acknowledge the last events".into(),
            source,
        })
    }
}

fn headers(message: &Outgoing) -> OwnedHeaders {
    let header = |key, value| Header { key, value };
    let headers = OwnedHeaders::new()
        .insert(header(TYPE_HEADER, Some(message.stage.event_type())))
        .insert(header(MESSAGE_ID_HEADER, Some(message.message_id.as_str())));
    match &message.purpose {
        Purpose::Event(Kind::Reordered) => headers.insert(header(HANDED_HEADER, Some("1"))),
        Purpose::Event(_) => headers,
        Purpose::DeadLetter(reason) => headers.insert(header(REASON_HEADER, Some(reason.as_str()))),
    }
}

fn bytes_of(headers: &OwnedHeaders) -> usize {
    headers.iter().map(|header| header.key.len() + header.value.map_or(0, <[u8]>::len)).sum()
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
struct Ticket {
    /// None for a dead letter.
    kind: Option<Kind>,
    key: String,
    stage: Stage,
    message_id: String,
    publish_ns: u64,
    bytes: u64,
    done: Done,
}

/// Takes delivery reports, on the producer's polling thread.
struct Deliveries {
    common: Common,
}

impl ClientContext for Deliveries {}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = Box<Ticket>;

    fn delivery(&self, result: &DeliveryResult<'_>, ticket: Box<Ticket>) {
        let delivered_ns = now_ns();
        let delivered = match result {
            Ok(message) => {
                let at = (message.partition(), message.offset());
                let Ticket { kind, key, stage, message_id, publish_ns, bytes, done } = *ticket;
                self.delivered(kind, at.0, bytes);
                self.common.truth.note(|| match kind {
                    Some(kind) => Record::Published(Publication {
                        publish_ns,
                        delivered_ns,
                        key,
                        stage,
                        message_id,
                        kind,
                        partition: at.0,
                        offset: at.1,
                    }),
                    None => Record::DeadLettered {
                        publish_ns,
                        delivered_ns,
                        key,
                        stage,
                        message_id,
                        partition: at.0,
                        offset: at.1,
                    },
                });
                (done, true)
            }
            Err((error, _)) => {
                self.common.problems.report(format!("event not delivered: {error}"));
                (ticket.done, false)
            }
        };
        match delivered {
            (Done::Batch(batch, index), ok) => batch.report(index, ok),
            // Who no longer waits is stopping.
            (Done::One(waiting), ok) => drop(waiting.send(ok)),
        }
    }
}

impl Deliveries {
    fn delivered(&self, kind: Option<Kind>, partition: i32, bytes: u64) {
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
