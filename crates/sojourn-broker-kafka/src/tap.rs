//! The tap: assigned partitions read from their end.

use std::collections::BTreeSet;
use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::BorrowedMessage;
use rdkafka::metadata::Metadata;
use rdkafka::{Message, Offset, TopicPartitionList};
use sojourn_broker::{Position, RawMessage, Sink, Span, Tap, TapError, TapInfo};
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_plan::KafkaChannel;

use crate::config::{Redactor, tap_config};
use crate::headers::headers;
use crate::replay::replay;
use crate::watch::Watch;

/// Longest wait for the brokers while opening.
const OPEN_NS_MAX: u64 = 5 * SECOND_NS;
/// Longest single request while opening, so that errors are looked at in between.
const OPEN_STEP: Duration = Duration::from_millis(1_000);
/// How long a leader of ours may be without connection.
const UNREACHABLE_NS_MAX: u64 = SECOND_NS;
/// Most messages handed over by one poll.
const BATCH_MAX: usize = 4_096;
/// Longest wait inside librdkafka before its statistics are looked at again.
const WAIT_MAX: Duration = Duration::from_millis(100);

/// A passive subscription to Kafka topics. The lifecycle is [`Tap`]'s.
pub struct KafkaTap {
    pub(crate) kafka: KafkaChannel,
    pub(crate) redactor: Redactor,
    consumer: Option<BaseConsumer<Watch>>,
    /// Topics without repetitions, in declared order: their index is the upper half of a
    /// partition's number.
    pub(crate) topics: Vec<String>,
    watermark_ns: u64,
    partitions_added: usize,
}

impl KafkaTap {
    /// A tap that is not open yet.
    pub fn new(kafka: KafkaChannel) -> Self {
        let mut topics: Vec<String> = Vec::new();
        for topic in &kafka.topics {
            if !topics.contains(topic) {
                topics.push(topic.clone());
            }
        }
        Self {
            redactor: Redactor::new(&kafka),
            kafka,
            consumer: None,
            topics,
            watermark_ns: 0,
            partitions_added: 0,
        }
    }

    /// Partitions that appeared after [`Tap::open`] and are read from their beginning.
    pub fn partitions_added(&self) -> usize {
        self.partitions_added
    }

    #[cfg(test)]
    pub(crate) fn consumer(&self) -> Option<&BaseConsumer<Watch>> {
        self.consumer.as_ref()
    }

    #[cfg(test)]
    pub(crate) fn watch(&self) -> Option<&Watch> {
        Some(self.consumer.as_ref()?.context())
    }

    /// Hands over up to [`BATCH_MAX`] messages; moves the watermark when it found the queue empty.
    fn drain(
        &mut self,
        consumer: &BaseConsumer<Watch>,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<(), TapError> {
        let mut timeout = timeout;
        for _ in 0..BATCH_MAX {
            let served = consumer.context().served();
            let asked_ns = now_ns();
            match consumer.poll(timeout) {
                Some(Ok(message)) => {
                    let stamp_ns = now_ns();
                    sink.message(&self.raw(&message, stamp_ns));
                }
                Some(Err(error)) => self.judge(&error)?,
                // Nothing. Not after a wait: what came in its last moment may not have been seen.
                // Nor if a callback was served: that ends a poll whatever else there is.
                None if timeout.is_zero() && consumer.context().served() == served => {
                    self.watermark_ns = self.watermark_ns.max(asked_ns);
                    return Ok(());
                }
                None => {}
            }
            timeout = Duration::ZERO;
        }
        Ok(())
    }

    pub(crate) fn raw<'m>(
        &self,
        message: &'m BorrowedMessage<'_>,
        stamp_ns: u64,
    ) -> RawMessage<'m> {
        let topic = message.topic();
        let index = self.topics.iter().position(|known| known == topic);
        // Neither is negative for a message that was read.
        let partition = u64::try_from(message.partition()).unwrap_or(0);
        let offset = u64::try_from(message.offset()).unwrap_or(0);
        RawMessage {
            stamp_ns,
            topic,
            key: message.key(),
            headers: headers(message),
            payload: message.payload().unwrap_or_default(),
            position: index
                .map(|index| Position { partition: (index as u64) << 32 | partition, offset }),
        }
    }

    /// Whether an error that the consumer returned loses the tap.
    pub(crate) fn judge(&self, error: &KafkaError) -> Result<(), TapError> {
        use RDKafkaErrorCode as Code;
        let lost = |what: String| Err(TapError::new(format!("{}: {what}", self.name())));
        match error.rdkafka_error_code() {
            // Connections come and go: [`Self::check_connection`] says when one is gone for good.
            Some(
                Code::AllBrokersDown
                | Code::BrokerNotAvailable
                | Code::BrokerTransportFailure
                | Code::NetworkException
                | Code::OperationTimedOut
                | Code::RequestTimedOut
                | Code::Resolve
                | Code::Retry,
            ) => Ok(()),
            // Partitions on their way to another leader.
            Some(
                Code::LeaderNotAvailable
                | Code::NotLeaderForPartition
                | Code::FencedLeaderEpoch
                | Code::UnknownLeaderEpoch
                | Code::OffsetNotAvailable
                | Code::ReplicaNotAvailable,
            ) => Ok(()),
            // About the group that we have the name of but do not join.
            Some(
                Code::CoordinatorLoadInProgress
                | Code::CoordinatorNotAvailable
                | Code::GroupAuthorizationFailed
                | Code::NotCoordinator
                | Code::WaitingForCoordinator,
            ) => Ok(()),
            Some(Code::AutoOffsetReset | Code::OffsetOutOfRange) => {
                let mut error = TapError::new(format!(
                    "{}: messages were deleted before the tap could read them",
                    self.name()
                ));
                error.hint = Some("the topic's retention is too short for this load".to_owned());
                Err(error)
            }
            Some(Code::NotImplemented) => lost(
                "a message is compressed in a way that this build cannot read (it has no zstd)"
                    .to_owned(),
            ),
            _ => lost(self.redactor.redact(&error.to_string())),
        }
    }

    /// Errs when a leader of ours has been unreachable for too long.
    pub(crate) fn check_connection(&self, consumer: &BaseConsumer<Watch>) -> Result<(), TapError> {
        let health = consumer.context().health();
        let Some((since_ns, broker)) = &health.unreachable else {
            return Ok(());
        };
        if now_ns().saturating_sub(*since_ns) <= UNREACHABLE_NS_MAX {
            return Ok(());
        }
        let reason = health.last_error.as_deref().unwrap_or("connection lost");
        Err(TapError::new(format!("lost kafka at {broker}: {reason}"))
            .with_hint("what the tap missed is not known, so the run is void"))
    }

    /// Assigns partitions that were added to our topics since, from their beginning.
    fn follow_new_partitions(&mut self, consumer: &BaseConsumer<Watch>) -> Result<(), TapError> {
        let found = std::mem::take(&mut consumer.context().health().unassigned);
        if found.is_empty() {
            return Ok(());
        }
        let assigned = consumer.assignment().map_err(|error| self.failed(&error))?;
        let mut added = TopicPartitionList::new();
        for (topic, partition) in found {
            if self.topics.contains(&topic) && assigned.find_partition(&topic, partition).is_none()
            {
                added
                    .add_partition_offset(&topic, partition, Offset::Beginning)
                    .map_err(|error| self.failed(&error))?;
            }
        }
        if added.count() > 0 {
            consumer.incremental_assign(&added).map_err(|error| self.failed(&error))?;
            self.partitions_added += added.count();
        }
        Ok(())
    }

    /// Every partition of our topics. Asks for all topics: asking for one by name could create it.
    pub(crate) fn find_partitions(
        &self,
        consumer: &BaseConsumer<Watch>,
        deadline_ns: u64,
    ) -> Result<TopicPartitionList, TapError> {
        let metadata =
            self.until(consumer, deadline_ns, |step| consumer.fetch_metadata(None, step))?;
        let mut partitions = TopicPartitionList::new();
        for topic in &self.topics {
            let known = metadata.topics().iter().find(|known| known.name() == topic);
            match known {
                Some(known) if !known.partitions().is_empty() => {
                    for partition in known.partitions() {
                        partitions.add_partition(topic, partition.id());
                    }
                }
                _ => return Err(self.missing(topic, &metadata)),
            }
        }
        Ok(partitions)
    }

    /// The partitions at their present ends. One request per broker, by asking for the offset "at"
    /// the special time −1 (Kafka's ListOffsets: latest; under read_committed the last stable
    /// offset).
    pub(crate) fn at_their_ends(
        &self,
        consumer: &BaseConsumer<Watch>,
        mut partitions: TopicPartitionList,
        deadline_ns: u64,
    ) -> Result<TopicPartitionList, TapError> {
        partitions.set_all_offsets(Offset::End).map_err(|error| self.failed(&error))?;
        self.until(consumer, deadline_ns, |step| {
            let ends = consumer.offsets_for_times(partitions.clone(), step)?;
            for end in ends.elements() {
                end.error()?;
                if !matches!(end.offset(), Offset::Offset(_)) {
                    return Err(KafkaError::OffsetFetch(RDKafkaErrorCode::LeaderNotAvailable));
                }
            }
            Ok(ends)
        })
    }

    /// Tries until it works or the deadline has passed, serving librdkafka's errors in between.
    pub(crate) fn until<T>(
        &self,
        consumer: &BaseConsumer<Watch>,
        deadline_ns: u64,
        mut attempt: impl FnMut(Duration) -> Result<T, KafkaError>,
    ) -> Result<T, TapError> {
        loop {
            let left = Duration::from_nanos(deadline_ns.saturating_sub(now_ns()));
            let outcome = attempt(left.min(OPEN_STEP));
            let error = match outcome {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            // Nothing is assigned yet: only events come, and a bounded number of them is looked at.
            for _ in 0..64 {
                let served = consumer.context().served();
                let came = consumer.poll(Duration::from_millis(1));
                if came.is_none() && consumer.context().served() == served {
                    break;
                }
            }
            let health = consumer.context().health();
            if now_ns() + 10 * MILLISECOND_NS >= deadline_ns || health.refused {
                let reason = health.last_error.clone();
                let reason = reason.unwrap_or_else(|| self.redactor.redact(&error.to_string()));
                return Err(TapError::new(format!(
                    "cannot reach kafka at {}: {reason}",
                    self.kafka.brokers
                ))
                .with_hint("is the broker running, and is this its address?"));
            }
            drop(health);
            // A refused request returns at once; the brokers get a moment.
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn missing(&self, topic: &str, metadata: &Metadata) -> TapError {
        let similar = similar_topics(topic, metadata.topics().iter().map(|known| known.name()));
        let error =
            TapError::new(format!("kafka at {} has no topic `{topic}`", self.kafka.brokers));
        if similar.is_empty() {
            error.with_hint("create it first: a tap never creates topics")
        } else {
            error.with_hint(format!("it has {}", similar.join(", ")))
        }
    }

    pub(crate) fn failed(&self, error: &KafkaError) -> TapError {
        TapError::new(format!("{}: {}", self.name(), self.redactor.redact(&error.to_string())))
    }

    pub(crate) fn name(&self) -> String {
        format!("kafka at {}", self.kafka.brokers)
    }

    fn info(&self, partitions: usize) -> TapInfo {
        let s = |count: usize| if count == 1 { "" } else { "s" };
        TapInfo {
            listens_to: format!(
                "kafka {}, topic{} {}, {partitions} partition{} from their end",
                self.kafka.brokers,
                s(self.topics.len()),
                self.topics.join(" "),
                s(partitions),
            ),
            address: None,
        }
    }
}

impl Tap for KafkaTap {
    fn open(&mut self) -> Result<TapInfo, TapError> {
        if self.topics.is_empty() {
            return Err(TapError::new(format!("{}: no topics named", self.name())));
        }
        let deadline_ns = now_ns() + OPEN_NS_MAX;
        let consumer: BaseConsumer<Watch> = tap_config(&self.kafka)
            .create_with_context(Watch::new(self.redactor.clone()))
            .map_err(|error| self.redactor.refused_config(&error))?;
        let partitions = self.find_partitions(&consumer, deadline_ns)?;
        let ends = self.at_their_ends(&consumer, partitions, deadline_ns)?;
        consumer.assign(&ends).map_err(|error| self.failed(&error))?;
        // What brokers said while we were finding them is past.
        consumer.context().health().last_error = None;
        self.watermark_ns = now_ns();
        self.consumer = Some(consumer);
        Ok(self.info(ends.count()))
    }

    fn poll(&mut self, timeout: Duration, sink: &mut dyn Sink) -> Result<(), TapError> {
        let Some(consumer) = self.consumer.take() else {
            return Err(TapError::new(format!("{}: the tap is not open", self.name())));
        };
        consumer.context().health().begin_poll();
        let polled = self
            .drain(&consumer, timeout.min(WAIT_MAX), sink)
            .and_then(|()| self.check_connection(&consumer))
            .and_then(|()| self.follow_new_partitions(&consumer));
        self.consumer = Some(consumer);
        polled
    }

    fn watermark_ns(&self) -> u64 {
        self.watermark_ns
    }

    fn replay(
        &mut self,
        span: &Span,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<u64, TapError> {
        replay(self, span, timeout, sink)
    }

    fn behind_ns(&self) -> Option<u64> {
        self.consumer.as_ref()?.context().health().behind_ns
    }
}

impl std::fmt::Debug for KafkaTap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the properties: they may hold secrets.
        f.debug_struct("KafkaTap")
            .field("brokers", &self.kafka.brokers)
            .field("topics", &self.topics)
            .finish_non_exhaustive()
    }
}

/// Up to five topics to offer instead of a missing one, the most similar first.
fn similar_topics<'t>(wanted: &str, known: impl Iterator<Item = &'t str>) -> Vec<String> {
    let known: BTreeSet<&str> = known.filter(|name| !name.starts_with("__")).collect();
    let mut scored: Vec<_> =
        known.iter().map(|name| (strsim::jaro_winkler(wanted, name), *name)).collect();
    scored.sort_by(|left, right| right.0.total_cmp(&left.0));
    let offered = scored.iter().take(5);
    offered.map(|(_, name)| format!("`{name}`")).collect()
}
