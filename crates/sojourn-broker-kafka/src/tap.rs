//! The tap: assigned partitions read from their end.

use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::{Offset, TopicPartitionList};
use sojourn_broker::{Backoff, BrokerError, Gap, Position, RawMessage, Sink, Span, Tap, TapInfo};
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_plan::KafkaChannel;

use crate::config::{Redactor, fetch_wait_ns, tap_config};
use crate::outage::Outages;
use crate::received::Received;
use crate::replay::replay;
use crate::subscription::Subscription;
use crate::watch::Watch;

/// Longest wait for the brokers while opening.
const OPEN_NS_MAX: u64 = 5 * SECOND_NS;
/// Most messages handed over by one poll.
const BATCH_MAX: usize = 1_024;
/// Longest wait inside librdkafka before its statistics are looked at again.
const WAIT_MAX: Duration = Duration::from_millis(100);
/// The client is asked what it has to say at least so often, however many messages come.
const SERVE_NS: u64 = 250 * MILLISECOND_NS;
/// Most of what it has to say that is taken in at once.
const SERVED_MAX: usize = 64;

/// A passive subscription to Kafka topics. The lifecycle is [`Tap`]'s.
pub struct KafkaTap {
    pub(crate) kafka: KafkaChannel,
    pub(crate) redactor: Redactor,
    subscription: Option<Subscription>,
    /// Topics without repetitions, in declared order: their index is the upper half of a
    /// partition's number.
    pub(crate) topics: Vec<String>,
    pub(crate) give_up_after: Duration,
    pub(crate) outages: Outages,
    /// Why the tap was lost: it stays so.
    lost: Option<BrokerError>,
    watermark_ns: u64,
    /// When the client was last asked what it has to say.
    served_ns: u64,
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
            subscription: None,
            topics,
            give_up_after: Backoff::GIVE_UP_AFTER,
            outages: Outages::default(),
            lost: None,
            watermark_ns: 0,
            served_ns: 0,
            partitions_added: 0,
        }
    }

    /// Partitions that appeared after [`Tap::open`] and are read from their beginning.
    pub fn partitions_added(&self) -> usize {
        self.partitions_added
    }

    #[cfg(test)]
    pub(crate) fn consumer(&self) -> Option<&BaseConsumer<Watch>> {
        Some(self.subscription.as_ref()?.client())
    }

    #[cfg(test)]
    pub(crate) fn watch(&self) -> Option<&Watch> {
        Some(self.consumer()?.context())
    }

    /// Hands over up to [`BATCH_MAX`] messages; moves the watermark when it found none left.
    fn drain(
        &mut self,
        subscription: &Subscription,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<(), BrokerError> {
        let (mut wait, mut handed_over) = (timeout, 0);
        while handed_over < BATCH_MAX {
            let asked_ns = now_ns();
            let taken = subscription.take(wait);
            if taken.len() > 0 {
                handed_over += taken.len();
                let stamp_ns = now_ns();
                for message in taken {
                    match message {
                        Ok(message) => self.hand_over(message.received(), stamp_ns, sink),
                        Err(error) => self.judge(&error)?,
                    }
                }
            } else if wait.is_zero() {
                self.serve(subscription.client(), asked_ns, sink)?;
                // Not without a connection.
                let watch = subscription.client().context();
                if self.outages.since_ns().is_none() && !watch.has_lost() {
                    self.watermark_ns = self.watermark_ns.max(asked_ns);
                }
                return Ok(());
            }
            // After a wait too: what came in its last moment may not have been seen.
            wait = Duration::ZERO;
        }
        let now_ns = now_ns();
        match now_ns.saturating_sub(self.served_ns) >= SERVE_NS {
            true => self.serve(subscription.client(), now_ns, sink),
            false => Ok(()),
        }
    }

    /// Takes in what the client says of itself. Usually when no message is left, so that how long
    /// statistics have waited says how long messages did.
    fn serve(
        &mut self,
        client: &BaseConsumer<Watch>,
        at_ns: u64,
        sink: &mut dyn Sink,
    ) -> Result<(), BrokerError> {
        self.served_ns = at_ns;
        for _ in 0..SERVED_MAX {
            let served = client.context().served();
            match client.poll(Duration::ZERO) {
                // Of a partition that was not ours to redirect yet.
                Some(Ok(message)) => {
                    self.hand_over(Received::of(&message), now_ns(), sink);
                }
                Some(Err(error)) => self.judge(&error)?,
                // A callback that was served ends a poll, whatever else there is.
                None if client.context().served() == served => break,
                None => {}
            }
        }
        Ok(())
    }

    fn hand_over(&mut self, message: Received<'_>, stamp_ns: u64, sink: &mut dyn Sink) {
        let topic = self.topic_of(message);
        sink.message(&self.raw(topic, message, stamp_ns));
        if let Some(index) = topic.1 {
            self.outages.took(index, message.partition(), message.offset());
        }
    }

    /// A topic's place in [`Self::topics`].
    pub(crate) fn topic_index(&self, topic: impl AsRef<[u8]>) -> Option<usize> {
        let topic = topic.as_ref();
        self.topics.iter().position(|known| known.as_bytes() == topic)
    }

    /// A message's topic, and that one's place.
    pub(crate) fn topic_of<'m>(&'m self, message: Received<'m>) -> (&'m str, Option<usize>) {
        let name = message.topic();
        match self.topic_index(name) {
            Some(index) => (&self.topics[index], Some(index)),
            // Kafka's names are ASCII.
            None => (std::str::from_utf8(name).unwrap_or_default(), None),
        }
    }

    /// With what [`Self::topic_of`] says of it.
    pub(crate) fn raw<'m>(
        &self,
        (topic, index): (&'m str, Option<usize>),
        message: Received<'m>,
        stamp_ns: u64,
    ) -> RawMessage<'m> {
        // Neither is negative for a message that was read.
        let partition = u64::try_from(message.partition()).unwrap_or(0);
        let offset = u64::try_from(message.offset()).unwrap_or(0);
        RawMessage {
            stamp_ns,
            topic,
            key: message.key(),
            headers: message.headers(),
            payload: message.payload().unwrap_or_default(),
            position: index
                .map(|index| Position { partition: (index as u64) << 32 | partition, offset }),
        }
    }

    /// Assigns partitions that were added to our topics since, from their beginning.
    fn follow_new_partitions(&mut self, subscription: &Subscription) -> Result<(), BrokerError> {
        let consumer = subscription.client();
        let found = std::mem::take(&mut consumer.context().health().unassigned);
        if found.is_empty() {
            return Ok(());
        }
        let assigned = consumer.assignment().map_err(|error| self.failed(&error))?;
        let mut added = TopicPartitionList::new();
        for (topic, partition) in found {
            if self.topics.contains(&topic) && assigned.find_partition(&topic, partition).is_none()
            {
                subscription.redirect(&topic, partition);
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

    pub(crate) fn failed(&self, error: &KafkaError) -> BrokerError {
        BrokerError::new(format!("{}: {}", self.name(), self.redactor.redact(&error.to_string())))
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
    fn open(&mut self) -> Result<TapInfo, BrokerError> {
        if self.topics.is_empty() {
            return Err(BrokerError::new(format!("{}: no topics named", self.name())));
        }
        let deadline_ns = now_ns() + OPEN_NS_MAX;
        let consumer: BaseConsumer<Watch> = tap_config(&self.kafka)
            .create_with_context(Watch::new(self.redactor.clone(), fetch_wait_ns(&self.kafka)))
            .map_err(|error| self.redactor.refused_config(&error))?;
        let partitions = self.find_partitions(&consumer, deadline_ns)?;
        let ends = self.at_their_ends(&consumer, partitions, deadline_ns)?;
        let subscription = Subscription::new(consumer);
        let consumer = subscription.client();
        for end in ends.elements() {
            subscription.redirect(end.topic(), end.partition());
            if let (Some(topic), Offset::Offset(offset)) =
                (self.topic_index(end.topic()), end.offset())
            {
                self.outages.read_from(topic, end.partition(), offset);
            }
        }
        consumer.assign(&ends).map_err(|error| self.failed(&error))?;
        // What brokers said while we were finding them is past.
        {
            let mut health = consumer.context().health();
            health.last_error = None;
            health.links.begin();
        }
        self.watermark_ns = now_ns();
        self.subscription = Some(subscription);
        Ok(self.info(ends.count()))
    }

    fn give_up_after(&mut self, patience: Duration) {
        self.give_up_after = patience;
    }

    fn take_gaps(&mut self) -> Vec<Gap> {
        self.outages.take()
    }

    fn poll(&mut self, timeout: Duration, sink: &mut dyn Sink) -> Result<(), BrokerError> {
        if let Some(error) = &self.lost {
            return Err(error.clone());
        }
        let Some(subscription) = self.subscription.take() else {
            return Err(BrokerError::new(format!("{}: the tap is not open", self.name())));
        };
        subscription.client().context().health().begin_poll();
        let polled = self
            .drain(&subscription, timeout.min(WAIT_MAX), sink)
            .and_then(|()| self.follow_connection(subscription.client()))
            .and_then(|()| self.follow_new_partitions(&subscription));
        self.subscription = Some(subscription);
        self.lost = polled.as_ref().err().cloned();
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
    ) -> Result<u64, BrokerError> {
        replay(self, span, timeout, sink)
    }

    fn behind_ns(&self) -> Option<u64> {
        self.subscription.as_ref()?.client().context().health().behind_ns
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
