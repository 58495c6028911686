//! Offsets of groups, set by someone who is no member.

use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer as _};
use rdkafka::{Offset, TopicPartitionList};

use super::admin::{Admin, TIMEOUT};
use crate::config::backlog_config;

/// Up to where a group counts as having read a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupOffset {
    /// The topic.
    pub topic: String,
    /// The partition's number.
    pub partition: i32,
    /// The offset of what it reads next.
    pub offset: i64,
}

impl Admin {
    /// Sets a group without members to the end of every partition of these topics, and says where
    /// that is. The broker refuses it while the group has members.
    pub fn set_group_to_end(
        &self,
        group: &str,
        topics: &[String],
    ) -> Result<Vec<GroupOffset>, String> {
        let mut ends = Vec::new();
        for name in topics {
            let topic = self.topic(name)?;
            if let Some(problem) = topic.error {
                return Err(format!("topic {name}: {problem}"));
            }
            for partition in topic.partitions {
                let (_, offset) = self
                    .client
                    .inner()
                    .fetch_watermarks(name, partition.id, TIMEOUT)
                    .map_err(|error| self.failed(&error))?;
                ends.push(GroupOffset { topic: name.clone(), partition: partition.id, offset });
            }
        }
        self.commit(group, &ends)?;
        Ok(ends)
    }

    fn commit(&self, group: &str, offsets: &[GroupOffset]) -> Result<(), String> {
        let refused = |error| self.redactor.refused_config(&error).to_string();
        let client: BaseConsumer = backlog_config(&self.kafka, group).create().map_err(refused)?;
        if let Some(tokens) = &self.tokens {
            let given = tokens.give(client.client());
            given.map_err(|problem| format!("kafka at {}: {problem}", self.kafka.brokers))?;
        }
        let mut list = TopicPartitionList::with_capacity(offsets.len());
        for at in offsets {
            list.add_partition_offset(&at.topic, at.partition, Offset::Offset(at.offset))
                .map_err(|error| self.failed(&error))?;
        }
        client.commit(&list, CommitMode::Sync).map_err(|error| self.failed(&error))
    }
}
