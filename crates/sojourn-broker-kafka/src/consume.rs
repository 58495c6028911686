//! A member of a consumer group.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer as _, ConsumerContext, Rebalance};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::{ClientContext, Message};
use sojourn_broker::{BrokerError, Consumer, RawMessage, Sink, Start};
use sojourn_clock::now_ns;
use sojourn_plan::KafkaChannel;

use crate::config::{Redactor, consumer_config};
use crate::final_errors::never_mends;
use crate::received::Received;

/// Most messages that are taken before anybody asks for them.
const KEPT_MAX: usize = 100;

/// Takes messages as a member of a group, and commits them when asked.
pub struct KafkaConsumer {
    brokers: String,
    topics: Vec<String>,
    redactor: Redactor,
    membership: Membership,
    /// Taken while nobody asked: librdkafka has its turn only when it is asked for messages.
    kept: VecDeque<Kept>,
    /// Partitions of which something was handed over and not committed.
    uncommitted: BTreeSet<Partition>,
}

enum Membership {
    /// Not joined yet.
    Apart(Box<ClientConfig>),
    Joined(BaseConsumer<Watch>),
    Left,
}

/// Topic and number.
type Partition = (String, i32);

/// A message kept.
struct Kept {
    stamp_ns: u64,
    place: Partition,
    offset: i64,
    key: Option<Vec<u8>>,
    headers: Vec<(String, Vec<u8>)>,
    payload: Vec<u8>,
}

impl KafkaConsumer {
    /// A member of `group` for the channel's topics. It connects and joins with the first call.
    /// Errs when a property is refused, or there are no topics.
    pub fn new(kafka: &KafkaChannel, group: &str, start: Start) -> Result<Self, BrokerError> {
        let redactor = Redactor::new(kafka);
        let brokers = kafka.brokers.clone();
        if kafka.topics.is_empty() {
            return Err(BrokerError::new(format!("kafka at {brokers}: no topics to consume")));
        }
        let reset = match start {
            Start::Earliest => "earliest",
            Start::Latest => "latest",
        };
        let config = consumer_config(kafka, group, reset);
        // What can be known without a connection.
        config.create_native_config().map_err(|error| redactor.refused_config(&error))?;
        Ok(Self {
            brokers,
            topics: kafka.topics.clone(),
            redactor,
            membership: Membership::Apart(Box::new(config)),
            kept: VecDeque::new(),
            uncommitted: BTreeSet::new(),
        })
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

    fn join(&mut self) -> Result<(), BrokerError> {
        let Membership::Apart(config) = &self.membership else { return Ok(()) };
        let consumer: BaseConsumer<Watch> = config
            .create_with_context(Watch::default())
            .map_err(|error| self.redactor.refused_config(&error))?;
        let topics: Vec<&str> = self.topics.iter().map(String::as_str).collect();
        consumer.subscribe(&topics).map_err(|error| self.failed(&error))?;
        self.membership = Membership::Joined(consumer);
        Ok(())
    }

    fn joined(&self) -> Option<&BaseConsumer<Watch>> {
        match &self.membership {
            Membership::Joined(consumer) => Some(consumer),
            Membership::Apart(_) | Membership::Left => None,
        }
    }

    /// Waits up to `wait` for a message, and keeps it; whether there was one.
    fn fetch(&mut self, wait: Duration) -> Result<bool, BrokerError> {
        let Some(consumer) = self.joined() else {
            return Err(BrokerError::new("the group was left"));
        };
        let polled = consumer.poll(wait);
        let gone = consumer.context().take_revoked(&self.uncommitted);
        let polled = match polled {
            Some(Ok(message)) => Ok(Some(Kept::of(&message))),
            Some(Err(error)) => self.judge(&error).map(|()| None),
            None => Ok(None),
        };
        // Whoever has these partitions now reads them from what was committed.
        self.kept.retain(|kept| !gone.contains(&kept.place));
        let kept = polled?;
        let is_there = kept.is_some();
        self.kept.extend(kept);
        Ok(is_there)
    }
}

impl Consumer for KafkaConsumer {
    fn consume(
        &mut self,
        messages_max: usize,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<usize, BrokerError> {
        self.join()?;
        let mut taken = 0;
        let mut wait = timeout;
        while taken < messages_max {
            if self.kept.is_empty() && !self.fetch(wait)? {
                break;
            }
            let Some(kept) = self.kept.pop_front() else { break };
            kept.hand_over(sink);
            taken += 1;
            wait = Duration::ZERO;
            let (topic, partition) = &kept.place;
            let stored = self.joined().map(|it| it.store_offset(topic, *partition, kept.offset));
            if let Some(Err(error)) = stored {
                // Its partition may have gone to another member meanwhile.
                self.judge(&error)?;
            }
            self.uncommitted.insert(kept.place);
        }
        Ok(taken)
    }

    fn commit(&mut self) -> Result<(), BrokerError> {
        if matches!(self.membership, Membership::Left) {
            return Err(BrokerError::new("the group was left"));
        }
        let Some(consumer) = self.joined() else { return Ok(()) };
        let committed = consumer.commit_consumer_state(CommitMode::Sync);
        let lost = consumer.context().take_lost();
        match committed {
            // Nothing was handed over since the last time.
            Err(error) if error.rdkafka_error_code() == Some(RDKafkaErrorCode::NoOffset) => {}
            committed => committed.map_err(|error| self.failed(&error))?,
        }
        self.uncommitted.clear();
        match lost {
            false => Ok(()),
            true => Err(BrokerError::new(format!(
                "kafka at {}: a rebalance took partitions away before this commit: what was \
                 handed over of them comes again",
                self.brokers
            ))),
        }
    }

    fn idle(&mut self) {
        // Errors that stay are said by the next call.
        while self.joined().is_some() && self.kept.len() < KEPT_MAX {
            if !self.fetch(Duration::ZERO).unwrap_or(false) {
                return;
            }
        }
    }

    fn assigned(&self) -> usize {
        let assignment = self.joined().and_then(|consumer| consumer.assignment().ok());
        assignment.map_or(0, |partitions| partitions.count())
    }

    fn leave(&mut self) {
        // Dropped, it says goodbye to the group.
        self.membership = Membership::Left;
        self.kept.clear();
    }
}

impl Kept {
    fn of(message: &rdkafka::message::BorrowedMessage<'_>) -> Self {
        let stamp_ns = now_ns();
        let headers = Received::of(message).headers().into_iter();
        Self {
            stamp_ns,
            place: (message.topic().to_owned(), message.partition()),
            offset: message.offset(),
            key: message.key().map(<[u8]>::to_vec),
            headers: headers.map(|(name, value)| (name.to_owned(), value.to_vec())).collect(),
            payload: message.payload().unwrap_or_default().to_vec(),
        }
    }

    fn hand_over(&self, sink: &mut dyn Sink) {
        let headers = self.headers.iter();
        sink.message(&RawMessage {
            stamp_ns: self.stamp_ns,
            topic: &self.place.0,
            key: self.key.as_deref(),
            headers: headers.map(|(name, value)| (name.as_str(), value.as_slice())).collect(),
            payload: &self.payload,
            // A group re-reads what nobody committed: that is its business.
            position: None,
        });
    }
}

/// Partitions that the group has taken from this member.
#[derive(Default)]
struct Watch(Mutex<Revoked>);

#[derive(Default)]
struct Revoked {
    /// Since this was last asked.
    partitions: BTreeSet<Partition>,
    /// Something of one of them was handed over and not committed.
    is_lost: bool,
}

impl Watch {
    fn take_revoked(&self, uncommitted: &BTreeSet<Partition>) -> BTreeSet<Partition> {
        let mut revoked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        revoked.is_lost |= !revoked.partitions.is_disjoint(uncommitted);
        std::mem::take(&mut revoked.partitions)
    }

    /// Whether a commit comes too late for something; said once.
    fn take_lost(&self) -> bool {
        let mut revoked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut revoked.is_lost)
    }
}

impl ClientContext for Watch {}

impl ConsumerContext for Watch {
    fn post_rebalance(&self, _: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        let Rebalance::Revoke(partitions) = rebalance else { return };
        let partitions = partitions.elements();
        let places = partitions.iter().map(|it| (it.topic().to_owned(), it.partition()));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).partitions.extend(places);
    }
}

impl std::fmt::Debug for KafkaConsumer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the properties: they may hold secrets.
        f.debug_struct("KafkaConsumer").field("brokers", &self.brokers).finish_non_exhaustive()
    }
}
