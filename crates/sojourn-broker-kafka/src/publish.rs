//! Publishing, with acknowledgements by token.

use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, bounded};
use rdkafka::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{DeliveryResult, Header, OwnedHeaders};
use rdkafka::producer::{BaseRecord, Producer as _, ProducerContext, ThreadedProducer};
use sojourn_broker::{BrokerError, Outcome, Publisher, PublisherSettings};
use sojourn_clock::now_ns;
use sojourn_plan::KafkaChannel;

use crate::config::{Redactor, publisher_config, transactional_id};
use crate::ready::Troubles;
use crate::transactions::{Message, Transactions};

/// Sends messages to Kafka without blocking. A thread of its own stamps acknowledgements as they
/// come.
pub struct KafkaPublisher {
    way: Way,
    brokers: String,
    troubles: Arc<Troubles>,
    outcomes: Receiver<Outcome>,
    queue_max: usize,
    /// Messages sent whose outcome has not been handed over. It bounds the outcomes too, so that
    /// their channel never fills up.
    pending: usize,
}

/// How messages go out.
enum Way {
    /// Each by itself.
    Single(ThreadedProducer<Deliveries>),
    /// Several at a time, all or none.
    Transactions(Transactions),
}

impl KafkaPublisher {
    /// A publisher; with the property `transactional.id` one that publishes in transactions. It
    /// connects in the background: an unreachable broker shows in the outcomes, after
    /// `message.timeout.ms` (30 s by default).
    pub fn new(kafka: &KafkaChannel, how: PublisherSettings) -> Result<Self, BrokerError> {
        let queue_max = how.queue_max.max(1);
        let (delivered, outcomes) = bounded(queue_max);
        let troubles = Troubles::new(Redactor::new(kafka));
        let way = if transactional_id(kafka).is_some() {
            Way::Transactions(Transactions::start(kafka, &how, delivered, &troubles)?)
        } else {
            let troubles = Arc::clone(&troubles);
            let producer = publisher_config(kafka, &how)
                .create_with_context(Deliveries { delivered, wake: how.wake, troubles })
                .map_err(|error| Redactor::new(kafka).refused_config(&error))?;
            Way::Single(producer)
        };
        let brokers = kafka.brokers.clone();
        Ok(Self { way, brokers, troubles, outcomes, queue_max, pending: 0 })
    }
}

impl Publisher for KafkaPublisher {
    fn ready(&mut self, topics: &[String]) -> Result<(), BrokerError> {
        match &mut self.way {
            Way::Single(producer) => self.troubles.check(producer.client(), &self.brokers, topics),
            Way::Transactions(transactions) => transactions.ready(topics),
        }
    }

    fn try_publish(
        &mut self,
        token: u64,
        topic: &str,
        key: Option<&[u8]>,
        headers: &[(&str, &[u8])],
        payload: &[u8],
    ) -> Result<(), String> {
        if self.pending >= self.queue_max {
            return Err(format!("{} messages wait for the broker", self.pending));
        }
        let producer = match &self.way {
            Way::Single(producer) => producer,
            Way::Transactions(transactions) => {
                let owned = |(name, value): &(&str, &[u8])| ((*name).to_owned(), value.to_vec());
                transactions.send(Message {
                    token,
                    topic: topic.to_owned(),
                    key: key.map(<[u8]>::to_vec),
                    headers: headers.iter().map(owned).collect(),
                    payload: payload.to_vec(),
                    taken_ns: now_ns(),
                })?;
                self.pending += 1;
                return Ok(());
            }
        };
        let token = usize::try_from(token).map_err(|_| "the token is too large".to_owned())?;
        let mut record =
            BaseRecord::<[u8], [u8], usize>::with_opaque_to(topic, token).payload(payload);
        if let Some(key) = key {
            record = record.key(key);
        }
        if !headers.is_empty() {
            let list = OwnedHeaders::new_with_capacity(headers.len());
            record =
                record.headers(headers.iter().fold(list, |list, (key, value)| {
                    list.insert(Header { key, value: Some(*value) })
                }));
        }
        match producer.send(record) {
            Ok(()) => {
                self.pending += 1;
                Ok(())
            }
            Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), _)) => {
                Err("librdkafka's queue is full".to_owned())
            }
            Err((error, _)) => Err(error.to_string()),
        }
    }

    fn poll(&mut self, outcomes: &mut Vec<Outcome>) {
        let before = outcomes.len();
        outcomes.extend(self.outcomes.try_iter());
        self.pending = self.pending.saturating_sub(outcomes.len() - before);
    }
}

impl std::fmt::Debug for KafkaPublisher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KafkaPublisher").field("pending", &self.pending).finish_non_exhaustive()
    }
}

/// Where librdkafka's delivery reports go; called on the publisher's own thread.
struct Deliveries {
    delivered: Sender<Outcome>,
    wake: Arc<dyn Fn() + Send + Sync>,
    troubles: Arc<Troubles>,
}

impl ClientContext for Deliveries {
    // Each message's outcome says what became of it; these are for who waits to be ready.
    fn log(&self, _level: RDKafkaLogLevel, facility: &str, message: &str) {
        self.troubles.logged(facility, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        self.troubles.heard(&error, reason);
    }
}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = usize;

    fn delivery(&self, result: &DeliveryResult<'_>, token: usize) {
        let outcome = Outcome {
            token: token as u64,
            acked_ns: now_ns(),
            error: result.as_ref().err().map(|(error, _)| error.to_string()),
        };
        // Room for every pending message; it only fails when the publisher is being dropped.
        let _dropped = self.delivered.try_send(outcome);
        (self.wake)();
    }
}
