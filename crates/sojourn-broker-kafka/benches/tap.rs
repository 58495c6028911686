//! What a message costs the tap, over a real Kafka, beside librdkafka polled for nothing (`client`)
//! and Kafka's own tool. `cargo bench -p sojourn-broker-kafka --bench tap`; `sojourn-tap-cost` says
//! what the figures are. librdkafka's own threads are in them.
//!
//! The messages are in the broker before they are read.
#![allow(clippy::unwrap_used, reason = "its server is its own")]

use std::hint::black_box;
use std::process::Command;
use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer as _};
use rdkafka::{ClientConfig, Message as _, Offset, TopicPartitionList};
use sojourn_broker_kafka::Kafka as KafkaConnector;
use sojourn_plan::{Connector, KafkaChannel, Plan};
use sojourn_services::Kafka;
use sojourn_tap_cost::{
    Cost, Order, Publisher, Round, Used, When, event, measured, missing, on_path, plan,
    publish_if_asked, tool,
};

const PATIENCE: Duration = Duration::from_secs(120);
const WAIT: Duration = Duration::from_millis(10);
const TOPIC: &str = "payments.events";
const TOOL: [&str; 2] = ["kafka-consumer-perf-test.sh", "kafka-consumer-perf-test"];

fn main() {
    publish_if_asked(publish);
    let kafka = Kafka::start().unwrap();
    let brokers = kafka.bootstrap();
    create(&brokers);
    let plan = plan_of(&brokers);
    let publisher = &Publisher { address: brokers.clone(), when: When::Before };
    let brokers = &brokers;
    let mut cost = Cost::new("kafka", 400_000);
    cost.baseline("client", |round| client(brokers, publisher, round));
    cost.taps(&KafkaConnector, &plan, publisher);
    match on_path(&TOOL) {
        None => missing("kafka", "`kafka-consumer-perf-test.sh` of Kafka's archive is not on PATH"),
        Some(program) => cost.way("consumer-perf-test", move |round| {
            // It reads from the beginning.
            publisher.start(round.messages).finish();
            let mut command = Command::new(&program);
            command.args(["--bootstrap-server", brokers, "--topic", TOPIC]);
            tool(command.args(["--messages", &round.messages.to_string()]), || ())
        }),
    }
    cost.run();
}

fn plan_of(brokers: &str) -> Plan {
    let (brokers, topics) = (brokers.to_owned(), vec![TOPIC.to_owned()]);
    plan(Connector::Kafka(KafkaChannel { brokers, topics, ..KafkaChannel::default() }))
}

/// A topic comes into being when first asked for by name.
fn create(brokers: &str) {
    let producer: BaseProducer =
        ClientConfig::new().set("bootstrap.servers", brokers).create().unwrap();
    let deadline_ns = sojourn_clock::now_ns() + 60 * sojourn_clock::SECOND_NS;
    while sojourn_clock::now_ns() < deadline_ns {
        let metadata = producer.client().fetch_metadata(Some(TOPIC), PATIENCE).unwrap();
        // Its leader may not know yet that it is the leader.
        if metadata.topics().iter().any(|topic| !topic.partitions().is_empty())
            && producer.client().fetch_watermarks(TOPIC, 0, PATIENCE).is_ok()
        {
            return;
        }
        std::thread::sleep(WAIT);
    }
}

fn publish(order: &Order) {
    let producer: BaseProducer = ClientConfig::new()
        .set("bootstrap.servers", &order.address)
        .set("linger.ms", "5")
        .set("queue.buffering.max.messages", "500000")
        .create()
        .unwrap();
    for number in 0..order.messages {
        let (payload, key) = (event(number), number.to_string());
        let record = BaseRecord::to(TOPIC).key(&key).payload(&payload).partition(0);
        producer.send(record).map_err(|(error, _)| error).unwrap();
        if number.is_multiple_of(1_000) {
            producer.poll(Duration::ZERO);
        }
    }
    producer.flush(PATIENCE).unwrap();
}

/// librdkafka as the tap uses it, without anything done to a message.
fn client(brokers: &str, publisher: &Publisher, round: Round) -> Used {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", brokers).set("group.id", "bare");
    config.set("enable.auto.commit", "false").set("fetch.wait.max.ms", "5");
    config.set("fetch.queue.backoff.ms", "1");
    let consumer: BaseConsumer = config.create().unwrap();
    let (_, end) = consumer.fetch_watermarks(TOPIC, 0, PATIENCE).unwrap();
    let mut partitions = TopicPartitionList::new();
    partitions.add_partition_offset(TOPIC, 0, Offset::Offset(end)).unwrap();
    consumer.assign(&partitions).unwrap();
    measured(
        || publisher.start(round.messages),
        || {
            let mut count = 0;
            while count < round.messages {
                if let Some(Ok(message)) = consumer.poll(PATIENCE) {
                    black_box(message.payload());
                    count += 1;
                }
            }
        },
    )
}
