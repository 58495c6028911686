//! Creating topics, for demos and tests.

use std::time::Duration;

use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use sojourn_broker::BrokerError;
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::KafkaChannel;

use crate::config::{Redactor, admin_config};

/// How long the broker has for each request.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long a new topic may take until it has leaders.
const LEADERS_NS_MAX: u64 = 10 * SECOND_NS;
/// Partitions of a topic that is created.
const PARTITIONS: i32 = 16;

/// Creates the channel's topics where they are missing, and waits until they can be used.
pub(crate) fn provision(kafka: &KafkaChannel) -> Result<(), BrokerError> {
    let redactor = Redactor::new(kafka);
    let failed = |error: &KafkaError| {
        let said = redactor.redact(&error.to_string());
        BrokerError::new(format!("kafka at {}: cannot create topics: {said}", kafka.brokers))
    };
    let config = admin_config(kafka);
    let admin: AdminClient<DefaultClientContext> =
        config.create().map_err(|error| redactor.refused_config(&error))?;
    let topics: Vec<NewTopic<'_>> = kafka
        .topics
        .iter()
        .map(|topic| NewTopic::new(topic, PARTITIONS, TopicReplication::Fixed(1)))
        .collect();
    let options =
        AdminOptions::new().operation_timeout(Some(TIMEOUT)).request_timeout(Some(TIMEOUT));
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(|error| {
        BrokerError::new(format!("kafka at {}: no runtime to ask with: {error}", kafka.brokers))
    })?;
    let created = runtime.block_on(admin.create_topics(&topics, &options));
    for topic in created.map_err(|error| failed(&error))? {
        match topic {
            Ok(_) | Err((_, RDKafkaErrorCode::TopicAlreadyExists)) => {}
            Err((_, code)) => return Err(failed(&KafkaError::AdminOp(code))),
        }
    }
    let client: BaseConsumer = config.create().map_err(|error| redactor.refused_config(&error))?;
    let deadline_ns = now_ns() + LEADERS_NS_MAX;
    while !have_leaders(&client, kafka).map_err(|error| failed(&error))? {
        if now_ns() > deadline_ns {
            return Err(failed(&KafkaError::AdminOp(RDKafkaErrorCode::LeaderNotAvailable)));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

fn have_leaders(client: &BaseConsumer, kafka: &KafkaChannel) -> Result<bool, KafkaError> {
    let metadata = client.fetch_metadata(None, TIMEOUT)?;
    Ok(kafka.topics.iter().all(|topic| {
        let known = metadata.topics().iter().find(|known| known.name() == topic);
        known.is_some_and(|known| {
            let mut partitions = known.partitions().iter();
            !known.partitions().is_empty() && partitions.all(|partition| partition.leader() >= 0)
        })
    }))
}
