//! A member of a consumer group.

use std::time::Duration;

use rdkafka::Message;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer as _};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use sojourn_broker::{BrokerError, Consumer, RawMessage, Sink};
use sojourn_clock::now_ns;
use sojourn_plan::KafkaChannel;

use crate::config::{Redactor, consumer_config};
use crate::final_errors::never_mends;
use crate::received::Received;

/// Takes messages as a member of a group, and commits them when asked.
pub struct KafkaConsumer {
    brokers: String,
    redactor: Redactor,
    /// Gone once the group was left.
    consumer: Option<BaseConsumer>,
}

/// Where a group begins that has committed nothing yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// At the oldest message.
    Earliest,
    /// Behind the newest.
    #[default]
    Latest,
}

impl KafkaConsumer {
    /// A member of `group` for the channel's topics. It connects and joins in the background. Errs
    /// when a property is refused.
    pub fn new(kafka: &KafkaChannel, group: &str, start: Start) -> Result<Self, BrokerError> {
        let redactor = Redactor::new(kafka);
        let reset = match start {
            Start::Earliest => "earliest",
            Start::Latest => "latest",
        };
        let consumer: BaseConsumer = consumer_config(kafka, group, reset)
            .create()
            .map_err(|error| redactor.refused_config(&error))?;
        let this = Self { brokers: kafka.brokers.clone(), redactor, consumer: None };
        let topics: Vec<&str> = kafka.topics.iter().map(String::as_str).collect();
        consumer.subscribe(&topics).map_err(|error| this.failed(&error))?;
        Ok(Self { consumer: Some(consumer), ..this })
    }

    fn failed(&self, error: &KafkaError) -> BrokerError {
        let brokers = &self.brokers;
        BrokerError::new(format!(
            "kafka at {brokers}: {}",
            self.redactor.redact(&error.to_string())
        ))
    }

    /// Whether an error ends the membership; librdkafka mends the others by itself.
    fn judge(&self, error: &KafkaError) -> Result<(), BrokerError> {
        use RDKafkaErrorCode as Code;
        match error.rdkafka_error_code() {
            // A system's topics are there before it runs.
            Some(Code::UnknownTopic | Code::UnknownTopicOrPartition) => Err(self.failed(error)),
            Some(code) if never_mends(code) => Err(self.failed(error)),
            _ => Ok(()),
        }
    }
}

impl Consumer for KafkaConsumer {
    fn consume(
        &mut self,
        messages_max: usize,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<usize, BrokerError> {
        let Some(consumer) = &self.consumer else {
            return Err(BrokerError::new("the group was left"));
        };
        let mut wait = timeout;
        for taken in 0..messages_max {
            match consumer.poll(wait) {
                Some(Ok(message)) => {
                    let stamp_ns = now_ns();
                    sink.message(&RawMessage {
                        stamp_ns,
                        topic: message.topic(),
                        key: message.key(),
                        headers: Received::of(&message).headers(),
                        payload: message.payload().unwrap_or_default(),
                        // A group re-reads what nobody committed: that is its business.
                        position: None,
                    });
                    if let Err(error) = consumer.store_offset_from_message(&message) {
                        // Its partition may have gone to another member meanwhile.
                        self.judge(&error)?;
                    }
                }
                Some(Err(error)) => {
                    self.judge(&error)?;
                    return Ok(taken);
                }
                None => return Ok(taken),
            }
            wait = Duration::ZERO;
        }
        Ok(messages_max)
    }

    fn commit(&mut self) -> Result<(), BrokerError> {
        let Some(consumer) = &self.consumer else {
            return Err(BrokerError::new("the group was left"));
        };
        match consumer.commit_consumer_state(CommitMode::Sync) {
            // Nothing was handed over since the last time.
            Err(error) if error.rdkafka_error_code() == Some(RDKafkaErrorCode::NoOffset) => Ok(()),
            committed => committed.map_err(|error| self.failed(&error)),
        }
    }

    fn assigned(&self) -> usize {
        let assignment = self.consumer.as_ref().and_then(|consumer| consumer.assignment().ok());
        assignment.map_or(0, |partitions| partitions.count())
    }

    fn leave(&mut self) {
        // Dropped, it says goodbye to the group.
        self.consumer = None;
    }
}

impl std::fmt::Debug for KafkaConsumer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the properties: they may hold secrets.
        f.debug_struct("KafkaConsumer").field("brokers", &self.brokers).finish_non_exhaustive()
    }
}
