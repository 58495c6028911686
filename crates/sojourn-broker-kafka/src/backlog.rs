//! The lag of the system's consumer groups, asked for without joining them.

use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::{Offset, TopicPartitionList};
use sojourn_broker::{Backlog, BrokerError, Figure, Reading};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::KafkaChannel;

use crate::config::{Redactor, backlog_config};
use crate::watch::Watch;

/// How long the topics' partitions are taken to be the same.
const PARTITIONS_NS_MAX: u64 = 10 * SECOND_NS;
/// Most of librdkafka's events served after a reading.
const EVENTS_MAX: usize = 64;

/// How many messages each group has still to commit, by topic.
pub struct KafkaBacklog {
    brokers: String,
    topics: Vec<String>,
    redactor: Redactor,
    /// One client for each: librdkafka asks for the offsets of the group that it is named for.
    groups: Vec<(String, BaseConsumer<Watch>)>,
    partitions: TopicPartitionList,
    partitions_until_ns: u64,
}

impl KafkaBacklog {
    /// For these groups and the channel's topics. Errs when a property is refused.
    pub fn new(kafka: &KafkaChannel, groups: &[String]) -> Result<Self, BrokerError> {
        let redactor = Redactor::new(kafka);
        let client = |group: &String| {
            let client = backlog_config(kafka, group)
                .create_with_context(Watch::new(redactor.clone(), 0))
                .map_err(|error| redactor.refused_config(&error))?;
            Ok((group.clone(), client))
        };
        let groups = groups.iter().map(client).collect::<Result<_, BrokerError>>()?;
        let mut topics = kafka.topics.clone();
        topics.sort_unstable();
        topics.dedup();
        Ok(Self {
            brokers: kafka.brokers.clone(),
            topics,
            redactor,
            groups,
            partitions: TopicPartitionList::new(),
            partitions_until_ns: 0,
        })
    }

    /// The partitions of the topics. Asks for all topics: asking for one by name could create it.
    fn find_partitions(&mut self, deadline_ns: u64) -> Result<(), BrokerError> {
        let Some((_, client)) = self.groups.first() else { return Ok(()) };
        if now_ns() < self.partitions_until_ns {
            return Ok(());
        }
        let metadata = client
            .fetch_metadata(None, left(deadline_ns))
            .map_err(|error| self.failed("", client, &error))?;
        let mut partitions = TopicPartitionList::new();
        for topic in &self.topics {
            let known = metadata.topics().iter().find(|known| known.name() == topic);
            let Some(known) = known else {
                let brokers = &self.brokers;
                return Err(BrokerError::new(format!("kafka at {brokers} has no topic `{topic}`")));
            };
            for partition in known.partitions() {
                partitions.add_partition(topic, partition.id());
            }
        }
        self.partitions = partitions;
        self.partitions_until_ns = now_ns() + PARTITIONS_NS_MAX;
        Ok(())
    }

    /// The lag of a group in each topic.
    fn lag(
        &self,
        (group, client): &(String, BaseConsumer<Watch>),
        deadline_ns: u64,
        readings: &mut Vec<Reading>,
    ) -> Result<(), BrokerError> {
        let failed = |error: KafkaError| self.failed(group, client, &error);
        // Committed before ends: a commit in between must not look like a lag below nothing.
        let committed =
            client.committed_offsets(self.partitions.clone(), left(deadline_ns)).map_err(failed)?;
        let mut ends = self.partitions.clone();
        ends.set_all_offsets(Offset::End).map_err(failed)?;
        let ends = client.offsets_for_times(ends, left(deadline_ns)).map_err(failed)?;
        for topic in &self.topics {
            let mut lag = None;
            for end in ends.elements_for_topic(topic) {
                end.error().map_err(failed)?;
                let done = committed.find_partition(topic, end.partition());
                let done = done.map(|it| it.error().map(|()| it.offset())).transpose();
                // A partition of which the group has committed nothing does not count, as in
                // Kafka's own tools: where it will begin is only known to its members.
                if let (Some(Offset::Offset(done)), Offset::Offset(end)) =
                    (done.map_err(failed)?, end.offset())
                {
                    *lag.get_or_insert(0) += (end - done).max(0);
                }
            }
            let Some(lag) = lag else {
                let brokers = &self.brokers;
                return Err(BrokerError::new(format!(
                    "kafka at {brokers}: group `{group}` has committed nothing of topic `{topic}`"
                ))
                .with_hint("is this its name? a group that is new commits once it has consumed"));
            };
            let of = match self.topics.len() {
                1 => group.clone(),
                _ => format!("{group} {topic}"),
            };
            readings.push(Reading { of, figure: Figure::Waiting, value: lag as f64 });
        }
        Ok(())
    }

    fn failed(&self, group: &str, client: &BaseConsumer<Watch>, error: &KafkaError) -> BrokerError {
        let of = if group.is_empty() { String::new() } else { format!(" of group `{group}`") };
        let said = client.context().health().last_error.take();
        let said = match error.rdkafka_error_code() {
            Some(RDKafkaErrorCode::GroupAuthorizationFailed) => None,
            _ => said,
        };
        let said = said.unwrap_or_else(|| self.redactor.redact(&error.to_string()));
        BrokerError::new(format!("kafka at {}: cannot read the lag{of}: {said}", self.brokers))
            .with_hint("it needs Describe on the group and the topics")
    }
}

impl Backlog for KafkaBacklog {
    fn read(&mut self, timeout: Duration, readings: &mut Vec<Reading>) -> Result<(), BrokerError> {
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        let deadline_ns = now_ns().saturating_add(timeout_ns);
        self.find_partitions(deadline_ns)?;
        let mut first_error = None;
        for group in &self.groups {
            if let Err(error) = self.lag(group, deadline_ns, readings) {
                // The other groups are there nevertheless.
                first_error = first_error.or(Some(error));
            }
            // Only events come: nothing is assigned.
            for _ in 0..EVENTS_MAX {
                let served = group.1.context().served();
                let came = group.1.poll(Duration::ZERO);
                if came.is_none() && group.1.context().served() == served {
                    break;
                }
            }
        }
        first_error.map_or(Ok(()), Err)
    }
}

impl std::fmt::Debug for KafkaBacklog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the properties: they may hold secrets.
        let groups: Vec<_> = self.groups.iter().map(|(group, _)| group).collect();
        f.debug_struct("KafkaBacklog").field("groups", &groups).finish_non_exhaustive()
    }
}

fn left(deadline_ns: u64) -> Duration {
    Duration::from_nanos(deadline_ns.saturating_sub(now_ns()))
}
