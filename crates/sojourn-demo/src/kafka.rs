//! Kafka, embedded or external: brokers, topics and the settings of the demo's two clients.
//!
//! The embedded one is librdkafka's mock cluster with a single broker, which speaks the real
//! protocol over TCP. It needs a client of its own, so a demo has three: that one, a producer and a
//! consumer.

use crate::config::{DemoConfig, KafkaChoice};
use crate::error::DemoError;
use crate::stop::StopSignal;
use crate::threads::Thread;
use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::FromClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::mocking::MockCluster;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use sojourn_clock::{SECOND_NS, now_ns};
use std::sync::{Arc, mpsc::sync_channel};
use std::time::Duration;

/// How long an external Kafka has to answer, seconds.
const REACH_S: u64 = 5;

/// Pause before each operation on the embedded broker. One that follows another at once may lose
/// its wake-up to it (`rdkafka_mock.c`, `rd_kafka_mock_cluster_op_io`) and then takes a second.
const BROKER_PAUSE: Duration = Duration::from_millis(5);

/// A Kafka that is there, with its topics.
pub(crate) struct Kafka {
    pub(crate) servers: String,
    /// Partitions of the events topic.
    pub(crate) partitions: i32,
    embedded: bool,
}

impl Kafka {
    /// Starts the embedded broker, with the thread that owns it, or finds the external one and
    /// makes its topics.
    pub(crate) fn start(
        config: &DemoConfig,
        stop: &Arc<StopSignal>,
    ) -> Result<(Self, Option<Thread>), DemoError> {
        match &config.kafka {
            KafkaChoice::Embedded => {
                let (servers, thread) = start_embedded(config, stop)?;
                let kafka =
                    Self { servers, partitions: i32::from(config.partitions), embedded: true };
                Ok((kafka, Some(thread)))
            }
            KafkaChoice::External(servers) => {
                let kafka = Self {
                    servers: servers.clone(),
                    partitions: prepare_external(config, servers)?,
                    embedded: false,
                };
                Ok((kafka, None))
            }
        }
    }

    /// A consumer of the events topic, assigned to all partitions from their present end on.
    pub(crate) fn consumer(&self, config: &DemoConfig) -> Result<BaseConsumer, DemoError> {
        let failed = |action: &str| {
            let action = action.to_owned();
            move |source| DemoError::Kafka { action, source }
        };
        let consumer: BaseConsumer = client(&self.servers)
            // Named because librdkafka assigns no partitions without one; offsets aren't committed.
            .set("group.id", "sojourn-demo")
            .set("enable.auto.commit", "false")
            .set("fetch.wait.max.ms", config.fetch_wait_ms.to_string())
            .set("fetch.min.bytes", "1")
            .create()
            .map_err(failed("create a consumer"))?;
        let mut list = TopicPartitionList::new();
        for partition in 0..self.partitions {
            let offset = if self.embedded {
                0
            } else {
                consumer
                    .fetch_watermarks(&config.events_topic, partition, Duration::from_secs(REACH_S))
                    .map_err(failed("tell where the events topic ends"))?
                    .1
            };
            list.add_partition_offset(&config.events_topic, partition, Offset::Offset(offset))
                .map_err(failed("take an offset"))?;
        }
        consumer.assign(&list).map_err(failed("assign partitions"))?;
        Ok(consumer)
    }

    /// Settings of the producer: order and single delivery of what the relay hands over.
    pub(crate) fn producer_config(&self) -> ClientConfig {
        client(&self.servers)
            .set("enable.idempotence", "true")
            .set("linger.ms", "1")
            .set("message.timeout.ms", "10000")
            .clone()
    }
}

fn client(servers: &str) -> ClientConfig {
    ClientConfig::new()
        .set("bootstrap.servers", servers)
        .set("client.id", "sojourn-demo")
        .set("socket.nagle.disable", "true")
        .set("log.connection.close", "false")
        .clone()
}

/// The mock cluster may not leave the thread that made it, so it gets one, which sleeps until the
/// end.
fn start_embedded(
    config: &DemoConfig,
    stop: &Arc<StopSignal>,
) -> Result<(String, Thread), DemoError> {
    let (told, servers) = sync_channel(1);
    let partitions = i32::from(config.partitions);
    let topics = [config.events_topic.clone(), config.dead_letter_topic.clone()];
    let stop = Arc::clone(stop);
    let thread = Thread::spawn("demo-kafka", move || {
        let made = MockCluster::new(1).and_then(|cluster| {
            for topic in &topics {
                std::thread::sleep(BROKER_PAUSE);
                cluster.create_topic(topic, partitions, 1)?;
            }
            Ok(cluster)
        });
        let answer = match &made {
            Ok(cluster) => Ok(cluster.bootstrap_servers()),
            Err(error) => Err(error.clone()),
        };
        if told.send(answer).is_ok() && made.is_ok() {
            while !stop.wait_until(now_ns() + 3_600 * SECOND_NS) {}
        }
    })?;
    let servers = servers
        .recv()
        .map_err(|_| DemoError::Panicked { name: "demo-kafka" })?
        .map_err(|source| DemoError::Kafka { action: "start embedded".into(), source })?;
    Ok((servers, thread))
}

/// Makes the topics where they are missing; the number of partitions that the events topic has.
fn prepare_external(config: &DemoConfig, servers: &str) -> Result<i32, DemoError> {
    let timeout = Duration::from_secs(REACH_S);
    let failed = |action: &str| {
        let action = action.to_owned();
        move |source| DemoError::Kafka { action, source }
    };
    let admin: AdminClient<DefaultClientContext> =
        AdminClient::from_config(&client(servers)).map_err(failed("create an admin client"))?;
    let metadata = admin.inner().fetch_metadata(None, timeout).map_err(|source| {
        DemoError::KafkaUnreachable { servers: servers.to_owned(), seconds: REACH_S, source }
    })?;
    let partitions_of = |topic: &str| {
        metadata
            .topics()
            .iter()
            .find(|it| it.name() == topic && it.error().is_none())
            .map(|it| it.partitions().len() as i32)
            .filter(|&partitions| partitions > 0)
    };
    for topic in [&config.events_topic, &config.dead_letter_topic] {
        if partitions_of(topic).is_none() {
            create_topic(&admin, topic, i32::from(config.partitions))?;
        }
    }
    Ok(partitions_of(&config.events_topic).unwrap_or_else(|| i32::from(config.partitions)))
}

fn create_topic(
    admin: &AdminClient<DefaultClientContext>,
    topic: &str,
    partitions: i32,
) -> Result<(), DemoError> {
    let failed = |source| DemoError::Kafka { action: format!("create topic {topic}"), source };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .map_err(|source| DemoError::Thread { name: "kafka admin", source })?;
    let new = NewTopic::new(topic, partitions, TopicReplication::Fixed(1));
    let options = AdminOptions::new().operation_timeout(Some(Duration::from_secs(REACH_S)));
    let results = runtime.block_on(admin.create_topics([&new], &options)).map_err(failed)?;
    for result in results {
        match result {
            Ok(_) | Err((_, RDKafkaErrorCode::TopicAlreadyExists)) => {}
            Err((_, code)) => return Err(failed(KafkaError::AdminOp(code))),
        }
    }
    Ok(())
}
