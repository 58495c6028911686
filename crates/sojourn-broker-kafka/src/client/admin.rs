//! Topics: made, removed, listed.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::metadata::{Metadata, MetadataTopic};
use rdkafka::types::RDKafkaRespErr;
use sojourn_broker::BrokerError;
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_plan::KafkaChannel;

use super::tokens::TokenSource;
use crate::config::{Redactor, admin_config};

/// How long the broker has for each request.
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);
/// How long a new topic may take until it has leaders.
const LEADERS_NS_MAX: u64 = 10 * SECOND_NS;
/// Between two looks whether it has.
const LOOK_NS: u64 = 20 * MILLISECOND_NS;

/// Manages topics. Everything blocks, for ten seconds at most each.
pub struct Admin {
    pub(super) client: AdminClient<DefaultClientContext>,
    pub(super) kafka: KafkaChannel,
    pub(super) redactor: Redactor,
    pub(super) tokens: Option<Arc<TokenSource>>,
}

/// A topic to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicPlan {
    /// Its name.
    pub name: String,
    /// How many partitions.
    pub partitions: i32,
    /// Copies of each.
    pub replication: i32,
    /// The brokers of each partition's copies; empty: the cluster decides.
    pub assignments: Vec<Vec<i32>>,
    /// Its settings, by Kafka's names.
    pub config: Vec<(String, String)>,
}

/// A topic as the broker tells of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topic {
    /// Its name.
    pub name: String,
    /// Its partitions, in order.
    pub partitions: Vec<Partition>,
    /// What the broker says is wrong with it.
    pub error: Option<String>,
}

/// A partition as the broker tells of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partition {
    /// Its number.
    pub id: i32,
    /// The broker that leads it, -1 without.
    pub leader: i32,
    /// The brokers that have a copy.
    pub replicas: Vec<i32>,
    /// Those whose copy is up to date.
    pub in_sync: Vec<i32>,
    /// What the broker says is wrong with it.
    pub error: Option<String>,
}

impl Admin {
    /// It connects in the background. Errs when a property is refused.
    pub fn new(
        kafka: &KafkaChannel,
        tokens: Option<Arc<TokenSource>>,
    ) -> Result<Self, BrokerError> {
        let redactor = Redactor::new(kafka);
        let client =
            admin_config(kafka).create().map_err(|error| redactor.refused_config(&error))?;
        Ok(Self { client, kafka: kafka.clone(), redactor, tokens })
    }

    /// Makes a topic and waits until it can be used. One that is there stays as it is.
    pub fn create(&self, plan: &TopicPlan) -> Result<(), String> {
        self.let_in()?;
        let copies: Vec<&[i32]> = plan.assignments.iter().map(Vec::as_slice).collect();
        let replication = match copies.is_empty() {
            true => TopicReplication::Fixed(plan.replication),
            false => TopicReplication::Variable(&copies),
        };
        let topic = NewTopic::new(&plan.name, plan.partitions, replication);
        let topic = plan.config.iter().fold(topic, |topic, (name, value)| topic.set(name, value));
        let made = self.wait(self.client.create_topics([&topic], &options()))?;
        for outcome in made {
            match outcome {
                Ok(_) | Err((_, RDKafkaErrorCode::TopicAlreadyExists)) => {}
                Err((_, code)) => return Err(self.failed(&KafkaError::AdminOp(code))),
            }
        }
        self.wait_for_leaders(&plan.name)
    }

    /// Removes a topic.
    pub fn delete(&self, topic: &str) -> Result<(), String> {
        self.let_in()?;
        let removed = self.wait(self.client.delete_topics(&[topic], &options()))?;
        let failed = removed.into_iter().find_map(Result::err);
        failed.map_or(Ok(()), |(_, code)| Err(self.failed(&KafkaError::AdminOp(code))))
    }

    /// All topics, by their names.
    pub fn topics(&self) -> Result<Vec<Topic>, String> {
        let mut topics: Vec<Topic> = self.metadata(None)?.topics().iter().map(topic).collect();
        topics.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(topics)
    }

    /// One topic. A broker that makes topics when they are asked for may make it.
    pub fn topic(&self, name: &str) -> Result<Topic, String> {
        let found = self.metadata(Some(name))?.topics().first().map(topic);
        found.ok_or_else(|| self.failed(&KafkaError::AdminOp(RDKafkaErrorCode::UnknownTopic)))
    }

    fn metadata(&self, topic: Option<&str>) -> Result<Metadata, String> {
        self.let_in()?;
        let found = self.client.inner().fetch_metadata(topic, TIMEOUT);
        found.map_err(|error| self.failed(&error))
    }

    /// Its events are not polled, so it is given a token before each question.
    fn let_in(&self) -> Result<(), String> {
        let Some(tokens) = &self.tokens else { return Ok(()) };
        let given = tokens.give(self.client.inner());
        given.map_err(|problem| format!("kafka at {}: {problem}", self.kafka.brokers))
    }

    fn wait_for_leaders(&self, name: &str) -> Result<(), String> {
        let deadline_ns = now_ns() + LEADERS_NS_MAX;
        loop {
            let topics = self.topics()?;
            let topic = topics.iter().find(|topic| topic.name == name);
            let partitions = topic.map_or(&[][..], |topic| &topic.partitions);
            if !partitions.is_empty() && partitions.iter().all(|it| it.leader >= 0) {
                return Ok(());
            }
            let now_ns = now_ns();
            if now_ns > deadline_ns {
                let code = RDKafkaErrorCode::LeaderNotAvailable;
                return Err(self.failed(&KafkaError::AdminOp(code)));
            }
            sojourn_clock::sleep_until(now_ns + LOOK_NS);
        }
    }

    fn wait<T>(&self, asked: impl Future<Output = Result<T, KafkaError>>) -> Result<T, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.map_err(|error| format!("no runtime to ask with: {error}"))?;
        runtime.block_on(asked).map_err(|error| self.failed(&error))
    }

    pub(super) fn failed(&self, error: &KafkaError) -> String {
        format!("kafka at {}: {}", self.kafka.brokers, self.redactor.redact(&error.to_string()))
    }
}

impl fmt::Debug for Admin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admin").field("brokers", &self.kafka.brokers).finish_non_exhaustive()
    }
}

fn options() -> AdminOptions {
    AdminOptions::new().operation_timeout(Some(TIMEOUT)).request_timeout(Some(TIMEOUT))
}

fn topic(found: &MetadataTopic) -> Topic {
    let partition = |it: &rdkafka::metadata::MetadataPartition| Partition {
        id: it.id(),
        leader: it.leader(),
        replicas: it.replicas().to_vec(),
        in_sync: it.isr().to_vec(),
        error: it.error().map(told),
    };
    Topic {
        name: found.name().to_owned(),
        partitions: found.partitions().iter().map(partition).collect(),
        error: found.error().map(told),
    }
}

fn told(error: RDKafkaRespErr) -> String {
    RDKafkaErrorCode::from(error).to_string()
}
