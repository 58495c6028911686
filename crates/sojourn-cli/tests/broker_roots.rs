//! Journeys that start with a message, on every broker's real server: the real command publishes
//! and listens at the same place, and every figure is known, since nobody else does anything. What
//! is published is counted by a witness too, who is told of it without Sojourn.
//!
//! Where the broker tells of what waits for the system's consumers, a group (queue, durable
//! consumer) is there for which nobody consumes: everything waits, and must be on the timeline.

mod run;
mod trace;
mod witnesses;

use std::time::Duration;

use rdkafka::{
    ClientConfig, Offset, TopicPartitionList,
    consumer::{BaseConsumer, CommitMode, Consumer},
};
use sojourn_broker::{RawMessage, Sink, Start};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_testkit::services::{
    ElasticMq, Fauxqs, Kafka, Mosquitto, Nats, Postgres, RabbitMq, Redis, Service,
};

use crate::common::{sns_topic, until};
use run::{JOURNEYS, provision, rooted, rooted_with, with_connector};
use witnesses::{
    NatsSubscriber, Psql, RedisSubscriber, nats_stream_length, rabbit_messages,
    redis_stream_length, sqs_queue_length,
};

const PATIENCE: Duration = Duration::from_secs(30);

/// Two groups wait, and each is told by its name.
#[test]
fn of_kafka() {
    let kafka = Kafka::shared().unwrap();
    let (brokers, topic) = (kafka.bootstrap(), "roots.orders");
    let groups = ["roots-billing", "roots-shipping"];
    let [billing, shipping] = groups;
    let settings = format!(
        "kafka: {{ brokers: \"{brokers}\", topics: [{topic}] }}, backlog: [{billing}, {shipping}]"
    );
    provision(&settings, "");
    let clients = groups.map(|group| {
        let client = kafka_client(&brokers, group);
        // A group that has committed nothing has no lag.
        let mut begin = TopicPartitionList::new();
        for partition in kafka_partitions(&client, topic) {
            begin.add_partition_offset(topic, partition, Offset::Offset(0)).unwrap();
        }
        // The first group of a server waits for the topic of the offsets.
        until("the group has its place", || client.commit(&begin, CommitMode::Sync).is_ok());
        client
    });
    let finished = rooted(&settings);
    groups.iter().for_each(|group| finished.all_waits(group, "waiting"));
    let [client, _] = &clients;
    let kept = kafka_partitions(client, topic).into_iter().map(|partition| {
        let (low, high) = client.fetch_watermarks(topic, partition, PATIENCE).unwrap();
        high - low
    });
    assert_eq!(kept.sum::<i64>(), JOURNEYS as i64);
}

/// Each generator publishes under an id of its own: under one, the broker would end all but the
/// last.
#[test]
fn of_kafka_in_transactions_of_two_generators() {
    let brokers = Kafka::shared().unwrap().bootstrap();
    let settings = format!(
        "kafka: {{ brokers: \"{brokers}\", topics: [roots.paid], \
         properties: {{ transactional.id: roots }} }}"
    );
    provision(&settings, "");
    rooted_with(&settings, &["--generators", "2"]);
}

fn kafka_client(brokers: &str, group: &str) -> BaseConsumer {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", brokers).set("group.id", group).create().unwrap()
}

fn kafka_partitions(client: &BaseConsumer, topic: &str) -> Vec<i32> {
    let metadata = client.fetch_metadata(Some(topic), PATIENCE).unwrap();
    metadata.topics()[0].partitions().iter().map(|partition| partition.id()).collect()
}

#[test]
fn of_core_nats() {
    let nats = Nats::start().unwrap();
    let settings = format!("nats: {{ url: \"{}\", subjects: [roots.told] }}", nats.url());
    let witness = NatsSubscriber::new(nats.port(), "roots.told");
    rooted(&settings);
    assert_eq!(witness.count(), JOURNEYS);
}

#[test]
fn of_jetstream() {
    let nats = Nats::start().unwrap();
    let (url, durable) = (nats.url(), "billing");
    let settings = format!(
        "nats: {{ url: \"{url}\", subjects: [roots.kept], stream: ROOTS }}, backlog: [{durable}]"
    );
    provision(&settings, "");
    with_connector(&settings, |connector, channel| {
        let mut member = connector.consumer(channel, durable, Start::Latest).unwrap();
        until("the durable consumer is there", || {
            assert_eq!(member.consume(1, Duration::ZERO, &mut Counter::default()), Ok(0));
            member.assigned() > 0
        });
        member.leave();
    });
    let finished = rooted(&settings);
    finished.all_waits(durable, "waiting");
    finished.all_waits("ROOTS", "kept");
    assert_eq!(nats_stream_length(nats.port(), "ROOTS"), JOURNEYS);
}

#[test]
fn of_amqp() {
    let rabbit = RabbitMq::shared().unwrap();
    let (url, queue) = (rabbit.url(), "roots.billing");
    let settings = format!(
        "amqp: {{ url: \"{url}\", exchange: roots.orders, routing: [order] }}, backlog: [{queue}]"
    );
    provision(&settings, queue);
    rooted(&settings).all_waits(queue, "waiting");
    assert_eq!(rabbit_messages(rabbit.port_management(), queue).len() as u64, JOURNEYS);
}

#[test]
fn of_redis_streams() {
    let redis = Redis::start().unwrap();
    let (url, group) = (redis.url(), "billing");
    let settings = format!(
        "redis: {{ url: \"{url}\", streams: [roots.orders], field: payload }}, backlog: [{group}]"
    );
    provision(&settings, group);
    let finished = rooted(&settings);
    finished.all_waits(group, "waiting");
    finished.all_waits("roots.orders", "kept");
    assert_eq!(redis_stream_length(redis.port(), "roots.orders"), JOURNEYS);
}

/// Neither key nor headers are carried: what a message is stands in its payload.
#[test]
fn of_redis_pub_sub() {
    let redis = Redis::start().unwrap();
    let settings = format!("redis: {{ url: \"{}\", channels: [roots.told] }}", redis.url());
    let witness = RedisSubscriber::new(redis.port(), "roots.told");
    rooted(&settings);
    assert_eq!(witness.count(), JOURNEYS);
}

/// The witness is a second tap: it is sent its own copy of each message.
#[test]
fn of_mqtt() {
    let mosquitto = Mosquitto::start().unwrap();
    let url = mosquitto.url();
    let settings =
        format!("mqtt: {{ url: \"{url}\", topics: [roots/orders], qos: 1, version: \"5\" }}");
    let mut witness =
        with_connector(&settings, |connector, channel| connector.tap(channel)).unwrap();
    witness.open().unwrap();
    rooted(&settings);
    let (mut seen, ended_ns) = (Counter::default(), now_ns());
    // All that came before this instant has been handed over when the watermark is beyond it.
    until("the witness has read everything", || {
        witness.poll(Duration::from_millis(10), &mut seen).unwrap();
        witness.watermark_ns() > ended_ns + SECOND_NS
    });
    assert_eq!(seen.0, JOURNEYS);
}

/// A table of the system's own, whose rows nobody has sent on yet.
#[test]
fn of_postgres_table() {
    let postgres = Postgres::start().unwrap();
    let url = postgres.url();
    let mut psql = Psql::new(&url);
    psql.run(
        "CREATE TABLE roots (n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id uuid NOT NULL, \
         type text NOT NULL, number int NOT NULL, sent_at timestamptz)",
    );
    let settings = format!(
        "postgres: {{ url: \"{url}\", table: {{ name: roots, cursor: n }}, \
         outbox: {{ table: roots, waiting: sent_at IS NULL }} }}"
    );
    rooted(&settings).all_waits("roots", "waiting");
    let counted = "SELECT count(*), count(DISTINCT id), min(number), max(number) FROM roots";
    let last = JOURNEYS - 1;
    assert_eq!(psql.run(counted), [format!("{JOURNEYS}|{JOURNEYS}|0|{last}")]);
}

#[test]
fn of_postgres_notify() {
    let postgres = Postgres::start().unwrap();
    let url = postgres.url();
    let mut witness = Psql::new(&url);
    assert_eq!(witness.run("LISTEN roots"), [""; 0]);
    rooted(&format!("postgres: {{ url: \"{url}\", notify: [roots] }}"));
    let told = witness.run("SELECT 'looked'");
    let told = told.iter().filter(|line| line.starts_with("Asynchronous notification \"roots\""));
    assert_eq!(told.count() as u64, JOURNEYS);
}

/// Whoever reads a queue takes from it, so the tap has a copy of its own.
#[test]
fn of_sqs() {
    let server = ElasticMq::shared().unwrap();
    let (endpoint, queue) = (server.url(), "roots-billing");
    let settings = format!(
        "sqs: {{ endpoint: \"{endpoint}\", queue: roots-tapped, publish: [{queue}, roots-tapped] }}, \
         backlog: [{queue}]"
    );
    provision(&settings, queue);
    rooted(&settings).all_waits(queue, "waiting");
    assert_eq!(sqs_queue_length(server.port(), queue), JOURNEYS);
}

/// A topic, of which the tap has a queue of its own and the system another.
#[test]
fn of_sns() {
    let server = Fauxqs::start().unwrap();
    let queue = "roots-billing";
    let settings = format!("sqs: {}, backlog: [{queue}]", sns_topic(&server, "roots-orders"));
    provision(&settings, queue);
    rooted(&settings).all_waits(queue, "waiting");
    assert_eq!(sqs_queue_length(server.port(), queue), JOURNEYS);
}

/// Counts what it is given.
#[derive(Default)]
struct Counter(u64);

impl Sink for Counter {
    fn message(&mut self, _message: &RawMessage<'_>) {
        self.0 += 1;
    }
}
