//! The shared Kafka with a topic of one's own, spoken to by librdkafka without Sojourn.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::{ClientConfig, Message as _, Offset, TopicPartitionList};
use sojourn_broker::Connect;
use sojourn_broker_kafka::Kafka as Connector;
use sojourn_conformance::{
    Abilities, Message, Rig, System, Wrong, dead_address, wait_for, wait_until,
};
use sojourn_plan::{Channel, Decoder, KafkaChannel};
use sojourn_services::{CutProxy, Kafka, Service, USER};

const PATIENCE: Duration = Duration::from_secs(60);
pub(crate) const PARTITIONS: i32 = 3;

pub(crate) struct KafkaRig {
    pub(crate) kafka: MutexGuard<'static, Kafka>,
    pub(crate) topic: String,
    group: String,
}

impl KafkaRig {
    /// With a topic of three partitions.
    pub(crate) fn new() -> Self {
        Self::with_topic(PARTITIONS, &[])
    }

    /// With a topic made so.
    pub(crate) fn with_topic(partitions: i32, settings: &[(&str, &str)]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let mut kafka = Kafka::shared().unwrap();
        // A test that failed may have left it dead.
        if kafka.instance().process().is_none() {
            kafka.restart().unwrap();
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let rig =
            Self { kafka, topic: format!("events.{number}"), group: format!("system-{number}") };
        create_topic(&rig.kafka.bootstrap(), &rig.topic, partitions, settings);
        rig
    }

    /// The channel's settings, with a listener's address and properties.
    pub(crate) fn settings(&self, brokers: &str, properties: &[(&str, &str)]) -> KafkaChannel {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        KafkaChannel {
            brokers: brokers.to_owned(),
            topics: vec![self.topic.clone()],
            properties: properties.iter().map(own).collect(),
        }
    }

    /// Makes a further topic like its own.
    pub(crate) fn create(&self, topic: &str) {
        create_topic(&self.kafka.bootstrap(), topic, PARTITIONS, &[]);
    }

    pub(crate) fn client(&self) -> ClientConfig {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", self.kafka.bootstrap());
        config.set("log.connection.close", "false");
        config
    }

    /// Sends messages as they are given, one after the other.
    pub(crate) fn send(&self, messages: &[(&str, Option<&str>)]) {
        let producer: BaseProducer = self.client().create().unwrap();
        for (key, payload) in messages {
            let mut record = BaseRecord::<[u8], [u8]>::to(&self.topic);
            record.key = Some(key.as_bytes());
            record.payload = payload.map(str::as_bytes);
            producer.send(record).unwrap();
        }
        producer.flush(PATIENCE).unwrap();
    }
}

pub(crate) fn channel(settings: KafkaChannel) -> Channel {
    Channel {
        name: "events".to_owned(),
        connector: sojourn_plan::Connector::Kafka(settings),
        decoder: Decoder::Auto,
        message_id: None,
        marker: None,
        backlog: Vec::new(),
    }
}

fn create_topic(bootstrap: &str, topic: &str, partitions: i32, settings: &[(&str, &str)]) {
    let admin: AdminClient<DefaultClientContext> =
        ClientConfig::new().set("bootstrap.servers", bootstrap).create().unwrap();
    let mut new = NewTopic::new(topic, partitions, TopicReplication::Fixed(1));
    for (name, value) in settings {
        new = new.set(name, value);
    }
    let options = AdminOptions::new().operation_timeout(Some(PATIENCE));
    let made = block_on(admin.create_topics([&new], &options)).unwrap();
    made.into_iter().for_each(|made| drop(made.unwrap()));
    // Every partition has its leader.
    let client: BaseConsumer =
        ClientConfig::new().set("bootstrap.servers", bootstrap).create().unwrap();
    wait_until("the topic's partitions", || {
        let Ok(metadata) = client.fetch_metadata(None, PATIENCE) else { return false };
        let known = metadata.topics().iter().find(|known| known.name() == topic);
        known.is_some_and(|known| {
            known.partitions().len() == partitions as usize
                && known.partitions().iter().all(|partition| partition.leader() > 0)
        })
    });
}

/// Admin requests are futures whose answers come by a thread of their own.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    wait_for("the admin's answer", || match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(answer) => Some(answer),
        std::task::Poll::Pending => None,
    })
}

impl Rig for KafkaRig {
    fn connector(&self) -> &dyn Connect {
        &Connector
    }

    fn channel(&self, through: Option<SocketAddr>) -> Channel {
        let brokers = through.unwrap_or_else(|| self.address()).to_string();
        channel(self.settings(&brokers, &[]))
    }

    fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.kafka.port()))
    }

    fn proxy(&self) -> CutProxy {
        self.kafka.proxy().unwrap()
    }

    fn kill(&mut self) {
        self.kafka.kill();
    }

    fn restart(&mut self) {
        self.kafka.restart().unwrap();
    }

    fn publish(&mut self, messages: &[Message]) {
        let mut config = self.client();
        // In their order, whatever is sent again.
        config.set("enable.idempotence", "true").set("linger.ms", "1");
        config.set("queue.buffering.max.messages", "10000");
        let producer: BaseProducer = config.create().unwrap();
        for message in messages {
            let headers = message.headers.iter().fold(OwnedHeaders::new(), |list, (key, value)| {
                list.insert(Header { key, value: Some(value) })
            });
            let record = BaseRecord::to(&self.topic)
                .key(message.key.as_bytes())
                .payload(message.payload.as_slice())
                .headers(headers);
            producer.send(record).map_err(|(error, _)| error).unwrap();
        }
        producer.flush(PATIENCE).unwrap();
        assert_eq!(producer.in_flight_count(), 0);
    }

    fn abilities(&self) -> Abilities {
        Abilities { keeps_a_past: true, idempotent: true, ..Abilities::default() }
    }

    fn wrong(&mut self) -> Vec<Wrong> {
        let bootstrap = self.kafka.bootstrap();
        let port = |address: &str| address.rsplit(':').next().unwrap().to_owned();
        let mut missing = self.settings(&bootstrap, &[]);
        missing.topics = vec![format!("{}x", self.topic)];
        let password = self.kafka.bootstrap_with_password();
        let wrong_password = [
            ("security.protocol", "sasl_plaintext"),
            ("sasl.mechanism", "PLAIN"),
            ("sasl.username", USER),
            ("sasl.password", "hunter2"),
        ];
        let dead = dead_address();
        #[cfg_attr(not(feature = "tls"), expect(unused_mut, reason = "more with TLS"))]
        let mut wrong = vec![
            Wrong {
                what: "the topic",
                channel: channel(missing),
                says: vec![bootstrap.clone(), format!("{}x", self.topic), self.topic.clone()],
                secret: None,
            },
            Wrong {
                what: "the password",
                channel: channel(self.settings(&password, &wrong_password)),
                says: vec![port(&password), "kafka".to_owned(), "sasl.password".to_owned()],
                secret: Some("hunter2".to_owned()),
            },
            Wrong {
                what: "no password",
                channel: channel(self.settings(&password, &[])),
                says: vec![port(&password), "kafka".to_owned(), "security.protocol".to_owned()],
                secret: None,
            },
            Wrong {
                what: "the address",
                channel: channel(self.settings(&dead.to_string(), &[])),
                says: vec![dead.to_string(), "kafka".to_owned()],
                secret: None,
            },
        ];
        #[cfg(feature = "tls")]
        wrong.extend(crate::security::wrong(self));
        wrong
    }

    fn system(&mut self) -> Option<Box<dyn System>> {
        Some(Box::new(Member::join(&self.client(), &self.group, &self.topic)))
    }

    fn footprint(&mut self) -> Vec<String> {
        let client: BaseConsumer = self.client().create().unwrap();
        let groups = client.fetch_group_list(None, PATIENCE).unwrap();
        let metadata = client.fetch_metadata(None, PATIENCE).unwrap();
        let groups = groups.groups().iter();
        let mut names: Vec<String> = groups
            .map(|group| {
                format!("group {} {} {}", group.name(), group.state(), group.members().len())
            })
            .chain(
                metadata
                    .topics()
                    .iter()
                    .map(|topic| format!("topic {} {}", topic.name(), topic.partitions().len())),
            )
            .collect();
        names.sort();
        names
    }

    fn unacknowledged(&mut self) -> Vec<(&'static str, u64)> {
        let mut config = self.client();
        config.set("group.id", &self.group);
        let client: BaseConsumer = config.create().unwrap();
        let mut partitions = TopicPartitionList::new();
        partitions.add_partition_range(&self.topic, 0, PARTITIONS - 1);
        let committed = client.committed_offsets(partitions, PATIENCE).unwrap();
        let behind = committed.elements().into_iter().map(|partition| {
            let Offset::Offset(committed) = partition.offset() else {
                panic!("nothing is committed of {partition:?}");
            };
            let number = partition.partition();
            let (_, end) = client.fetch_watermarks(&self.topic, number, PATIENCE).unwrap();
            u64::try_from(end - committed).unwrap()
        });
        vec![("not committed", behind.sum())]
    }

    fn stored(&mut self) -> Option<Vec<u64>> {
        let mut config = self.client();
        config.set("group.id", "stored").set("enable.partition.eof", "true");
        config.set("enable.auto.commit", "false");
        let client: BaseConsumer = config.create().unwrap();
        let mut partitions = TopicPartitionList::new();
        for partition in 0..PARTITIONS {
            partitions.add_partition_offset(&self.topic, partition, Offset::Beginning).unwrap();
        }
        client.assign(&partitions).unwrap();
        let (mut numbers, mut ended) = (Vec::new(), 0);
        wait_until("all partitions read", || {
            match client.poll(PATIENCE) {
                Some(Ok(message)) => numbers.extend(number(message.payload())),
                Some(Err(rdkafka::error::KafkaError::PartitionEOF(_))) => ended += 1,
                Some(Err(_)) | None => {}
            }
            ended == PARTITIONS
        });
        Some(numbers)
    }

    fn backlog(&self) -> Option<String> {
        Some(self.group.clone())
    }
}

fn number(payload: Option<&[u8]>) -> Option<u64> {
    let payload: serde_json::Value = serde_json::from_slice(payload?).ok()?;
    payload.get("n")?.as_u64()
}

/// The system's own member of a group.
struct Member(BaseConsumer);

impl Member {
    fn join(client: &ClientConfig, group: &str, topic: &str) -> Self {
        let mut config = client.clone();
        config.set("group.id", group).set("enable.auto.commit", "false");
        config.set("auto.offset.reset", "latest").set("session.timeout.ms", "6000");
        let consumer: BaseConsumer = config.create().unwrap();
        consumer.subscribe(&[topic]).unwrap();
        wait_until("the group has its partitions", || {
            assert!(consumer.poll(Duration::from_millis(10)).is_none(), "no message yet");
            consumer.assignment().unwrap().count() == PARTITIONS as usize
        });
        // From here on, whatever the group finds when it first looks.
        let mut end = TopicPartitionList::new();
        for partition in 0..PARTITIONS {
            let (_, high) = consumer.fetch_watermarks(topic, partition, PATIENCE).unwrap();
            end.add_partition_offset(topic, partition, Offset::Offset(high)).unwrap();
        }
        consumer.seek_partitions(end.clone(), PATIENCE).unwrap();
        consumer.commit(&end, CommitMode::Sync).unwrap();
        Self(consumer)
    }
}

impl System for Member {
    fn take(&mut self, count: usize) -> Vec<u64> {
        let mut numbers = Vec::new();
        let mut done = TopicPartitionList::new();
        let deadline_ns = sojourn_clock::now_ns() + 20 * sojourn_clock::SECOND_NS;
        while numbers.len() < count && sojourn_clock::now_ns() < deadline_ns {
            let Some(Ok(message)) = self.0.poll(Duration::from_millis(100)) else { continue };
            numbers.extend(number(message.payload()));
            let next = Offset::Offset(message.offset() + 1);
            let (topic, partition) = (message.topic(), message.partition());
            match done.find_partition(topic, partition) {
                Some(_) => done.set_partition_offset(topic, partition, next).unwrap(),
                None => done.add_partition_offset(topic, partition, next).unwrap(),
            }
        }
        self.0.commit(&done, CommitMode::Sync).unwrap();
        numbers
    }
}
