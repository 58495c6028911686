//! Reading a stretch again, with a client of its own: the tap's position does not move.

use std::collections::BTreeMap;
use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::{Message, Offset, TopicPartitionList};
use sojourn_broker::{BrokerError, PositionRange, Sink, Span};
use sojourn_clock::now_ns;

use crate::config::{fetch_wait_ns, replay_config};
use crate::received::Received;
use crate::tap::KafkaTap;
use crate::watch::Watch;

/// Longest wait inside librdkafka before the clock is looked at again.
const WAIT_MAX: Duration = Duration::from_millis(50);

/// Offsets of one topic's partitions: from the first up to, not including, the second.
type Ranges = BTreeMap<i32, (i64, i64)>;

/// [`sojourn_broker::Tap::replay`] of a Kafka tap, open or not.
pub(crate) fn replay(
    tap: &KafkaTap,
    span: &Span,
    timeout: Duration,
    sink: &mut dyn Sink,
) -> Result<u64, BrokerError> {
    let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
    let deadline_ns = now_ns().saturating_add(timeout_ns);
    let consumer: BaseConsumer<Watch> = replay_config(&tap.kafka)
        .create_with_context(Watch::new(tap.redactor.clone(), fetch_wait_ns(&tap.kafka)))
        .map_err(|error| tap.redactor.refused_config(&error))?;
    let replay = Replay { tap, consumer, deadline_ns };
    let ends = replay.ends()?;
    let ranges = match span {
        Span::Positions(ranges) => replay.of_positions(ranges, &ends)?,
        Span::Time { from_unix_ms, to_unix_ms } => {
            replay.of_time(*from_unix_ms, *to_unix_ms, &ends)?
        }
    };
    let mut handed_over = 0;
    // One topic after the other: where a partition ends, librdkafka does not say of which topic.
    for (topic, ranges) in ranges {
        handed_over += replay.read(&topic, ranges, sink)?;
    }
    Ok(handed_over)
}

struct Replay<'a> {
    tap: &'a KafkaTap,
    consumer: BaseConsumer<Watch>,
    deadline_ns: u64,
}

impl Replay<'_> {
    /// Where every partition of our topics ends now.
    fn ends(&self) -> Result<TopicPartitionList, BrokerError> {
        let partitions = self.tap.find_partitions(&self.consumer, self.deadline_ns)?;
        self.tap.at_their_ends(&self.consumer, partitions, self.deadline_ns)
    }

    fn of_positions(
        &self,
        ranges: &[PositionRange],
        ends: &TopicPartitionList,
    ) -> Result<BTreeMap<String, Ranges>, BrokerError> {
        let mut of_topics: BTreeMap<String, Ranges> = BTreeMap::new();
        for range in ranges {
            let topic = usize::try_from(range.partition >> 32).ok();
            let topic = topic.and_then(|index| self.tap.topics.get(index));
            let partition = i32::try_from(range.partition & 0xFFFF_FFFF).ok();
            let end = topic.zip(partition).and_then(|(topic, partition)| {
                Some((topic, partition, offset_of(ends, topic, partition)?))
            });
            let Some((topic, partition, end)) = end else {
                let number = range.partition;
                let name = self.tap.name();
                return Err(BrokerError::new(format!("{name}: there is no partition {number:#x}")));
            };
            let clamp = |offset: u64| i64::try_from(offset).unwrap_or(i64::MAX).min(end);
            let (from, to) = (clamp(range.from), clamp(range.to));
            of_topics.entry(topic.clone()).or_default().insert(partition, (from, to));
        }
        Ok(of_topics)
    }

    fn of_time(
        &self,
        from_unix_ms: u64,
        to_unix_ms: u64,
        ends: &TopicPartitionList,
    ) -> Result<BTreeMap<String, Ranges>, BrokerError> {
        let from = self.offsets_at(from_unix_ms, ends)?;
        let to = self.offsets_at(to_unix_ms, ends)?;
        let mut of_topics: BTreeMap<String, Ranges> = BTreeMap::new();
        for end in ends.elements() {
            let (topic, partition) = (end.topic(), end.partition());
            // No message so late: the end.
            let at = |list| {
                offset_of(list, topic, partition).or_else(|| offset_of(ends, topic, partition))
            };
            if let (Some(from), Some(to)) = (at(&from), at(&to)) {
                of_topics.entry(topic.to_owned()).or_default().insert(partition, (from, to));
            }
        }
        Ok(of_topics)
    }

    /// The first offset of each partition that is dated no earlier.
    fn offsets_at(
        &self,
        unix_ms: u64,
        ends: &TopicPartitionList,
    ) -> Result<TopicPartitionList, BrokerError> {
        let at = Offset::Offset(i64::try_from(unix_ms).unwrap_or(i64::MAX));
        let mut asked = ends.clone();
        asked.set_all_offsets(at).map_err(|error| self.tap.failed(&error))?;
        self.tap.until(&self.consumer, self.deadline_ns, |step| {
            let found = self.consumer.offsets_for_times(asked.clone(), step)?;
            for partition in found.elements() {
                partition.error()?;
            }
            Ok(found)
        })
    }

    /// Reads these parts of a topic; returns how many messages they had.
    fn read(&self, topic: &str, ranges: Ranges, sink: &mut dyn Sink) -> Result<u64, BrokerError> {
        let mut open = ranges;
        open.retain(|_, (from, to)| from < to);
        let mut assignment = TopicPartitionList::new();
        for (partition, (from, _)) in &open {
            assignment
                .add_partition_offset(topic, *partition, Offset::Offset(*from))
                .map_err(|error| self.tap.failed(&error))?;
        }
        self.consumer.assign(&assignment).map_err(|error| self.tap.failed(&error))?;
        let mut handed_over = 0;
        while !open.is_empty() {
            self.check_time(topic, &open)?;
            self.consumer.context().health().begin_poll();
            match self.consumer.poll(WAIT_MAX) {
                Some(Ok(message)) => {
                    let stamp_ns = now_ns();
                    let Some((_, to)) = open.get(&message.partition()).copied() else {
                        // Past the span, fetched ahead.
                        continue;
                    };
                    if message.offset() < to {
                        let received = Received::of(&message);
                        let topic = self.tap.topic_of(received);
                        sink.message(&self.tap.raw(topic, received, stamp_ns));
                        handed_over += 1;
                    }
                    // Offsets have gaps: what a transaction or a compaction left.
                    if message.offset() + 1 >= to {
                        open.remove(&message.partition());
                    }
                }
                Some(Err(KafkaError::PartitionEOF(partition))) => drop(open.remove(&partition)),
                Some(Err(error)) => self.tap.judge(&error)?,
                None => {}
            }
        }
        Ok(handed_over)
    }

    fn check_time(&self, topic: &str, open: &Ranges) -> Result<(), BrokerError> {
        if now_ns() < self.deadline_ns {
            return Ok(());
        }
        let (name, partitions) = (self.tap.name(), open.len());
        let reason = match &self.consumer.context().health().last_error {
            Some(reason) => format!(": {reason}"),
            None => String::new(),
        };
        Err(BrokerError::new(format!(
            "{name}: {partitions} partitions of {topic} were not read again in time{reason}"
        ))
        .with_hint("read a shorter span, or give it longer"))
    }
}

/// A partition's offset in a list, where it has a definite one.
fn offset_of(list: &TopicPartitionList, topic: &str, partition: i32) -> Option<i64> {
    match list.find_partition(topic, partition)?.offset() {
        Offset::Offset(offset) => Some(offset),
        _ => None,
    }
}
