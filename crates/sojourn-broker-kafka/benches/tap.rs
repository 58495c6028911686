//! How many messages a second one tap thread can take from a real Kafka: librdkafka alone, the tap
//! with a sink that does nothing, and the tap with the router, which decodes JSON and finds the
//! key.
//!
//! `cargo bench -p sojourn-broker-kafka --bench tap`. Two processor times: of the thread that
//! polls, and of the whole process, with librdkafka's own threads. The messages are in the broker
//! before they are read, so that nothing else is at work in this process. Best of several rounds:
//! other load only adds.
#![allow(clippy::print_stdout, reason = "a benchmark speaks to the terminal")]
#![allow(clippy::unwrap_used, reason = "its server is its own")]

use std::hint::black_box;
use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer as _};
use rdkafka::{ClientConfig, Message as _, Offset, TopicPartitionList};
use serde_json::json;
use sojourn_broker::{RawMessage, Router, Sink, Tap as _};
use sojourn_broker_kafka::KafkaTap;
use sojourn_clock::thread_cpu;
use sojourn_plan::{
    Channel, Check, Connector, Decoder, Expect, Journey, JsonPath, KafkaChannel, PathStep, Plan,
    Selector, Stage, StageKind, StageSource, Test,
};
use sojourn_services::Kafka;

const MESSAGES: u64 = 400_000;
const ROUNDS: usize = 5;
const PATIENCE: Duration = Duration::from_secs(120);
const WAIT: Duration = Duration::from_millis(10);
const TOPIC: &str = "payments.events";

fn main() {
    let kafka = Kafka::start().unwrap();
    let settings = KafkaChannel {
        brokers: kafka.bootstrap(),
        topics: vec![TOPIC.to_owned()],
        // Little is fetched before the measuring begins.
        properties: vec![("queued.max.messages.kbytes".to_owned(), "2048".to_owned())],
    };
    create(&settings.brokers);
    let mut best = [(f64::MAX, f64::MAX); 3];
    for round in 0..ROUNDS as i64 {
        let mut router = Router::new(&plan(), 0, "run-1");
        let spent = [
            bare(&settings, 3 * round * MESSAGES as i64),
            tap(&settings, &mut Count(0)),
            tap(&settings, &mut Routed(&mut router, 0)),
        ];
        for (best, spent) in best.iter_mut().zip(spent) {
            *best = (best.0.min(spent.0), best.1.min(spent.1));
        }
    }
    for (name, (thread_us, process_us)) in ["bare", "tap", "routed"].into_iter().zip(best) {
        println!("kafka_{name}_thread_cpu_each {thread_us:.3} us");
        println!("kafka_{name}_process_cpu_each {process_us:.3} us");
        println!("kafka_{name}_per_thread {:.0} messages/s", 1e6 / thread_us);
        println!("kafka_{name}_per_core {:.0} messages/s", 1e6 / process_us);
    }
}

/// Processor time of each message, microseconds: of this thread, of the process.
fn spend(mut read: impl FnMut()) -> (f64, f64) {
    let (thread, process) = (thread_cpu(), process_cpu_us());
    read();
    let process_us = process_cpu_us() - process;
    let thread_us = thread_cpu().since(&thread).cpu_ns as f64 / 1_000.0;
    (thread_us / MESSAGES as f64, process_us / MESSAGES as f64)
}

fn process_cpu_us() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}

/// A topic comes into being when first published to.
fn create(brokers: &str) {
    let producer: BaseProducer =
        ClientConfig::new().set("bootstrap.servers", brokers).create().unwrap();
    // Asking for a topic by name creates it.
    let deadline_ns = sojourn_clock::now_ns() + 60 * sojourn_clock::SECOND_NS;
    while sojourn_clock::now_ns() < deadline_ns {
        let metadata = producer.client().fetch_metadata(Some(TOPIC), PATIENCE).unwrap();
        if metadata.topics().iter().any(|topic| !topic.partitions().is_empty()) {
            return;
        }
        std::thread::sleep(WAIT);
    }
}

fn fill(brokers: &str) {
    let producer: BaseProducer = ClientConfig::new()
        .set("bootstrap.servers", brokers)
        .set("linger.ms", "5")
        .set("queue.buffering.max.messages", "500000")
        .create()
        .unwrap();
    for number in 0..MESSAGES {
        let payload = json!({
            "type": "PaymentSettled", "aggregateId": format!("pay:{number:036}"),
            "amount": number, "currency": "GBP", "occurredAt": "2026-01-01T00:00:00.000Z",
        });
        let (payload, key) = (payload.to_string(), number.to_string());
        let record = BaseRecord::to(TOPIC).key(&key).payload(&payload).partition(0);
        producer.send(record).map_err(|(error, _)| error).unwrap();
        if number % 1_000 == 0 {
            producer.poll(Duration::ZERO);
        }
    }
    producer.flush(PATIENCE).unwrap();
}

/// librdkafka as the tap uses it, without anything done to a message.
fn bare(settings: &KafkaChannel, offset: i64) -> (f64, f64) {
    fill(&settings.brokers);
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", &settings.brokers).set("group.id", "bare");
    config.set("enable.auto.commit", "false").set("fetch.wait.max.ms", "5");
    config.set("fetch.queue.backoff.ms", "1");
    for (name, value) in &settings.properties {
        config.set(name, value);
    }
    let consumer: BaseConsumer = config.create().unwrap();
    let mut partitions = TopicPartitionList::new();
    partitions.add_partition_offset(TOPIC, 0, Offset::Offset(offset)).unwrap();
    consumer.assign(&partitions).unwrap();
    spend(|| {
        let mut count = 0;
        while count < MESSAGES {
            if let Some(Ok(message)) = consumer.poll(PATIENCE) {
                black_box(message.payload());
                count += 1;
            }
        }
    })
}

/// By a tap that is opened before the messages are published, and polled afterwards.
fn tap(settings: &KafkaChannel, sink: &mut dyn Counting) -> (f64, f64) {
    let mut tap = KafkaTap::new(settings.clone());
    tap.open().unwrap();
    fill(&settings.brokers);
    spend(|| {
        while sink.count() < MESSAGES {
            sink.poll(&mut tap);
        }
    })
}

trait Counting {
    fn count(&self) -> u64;
    fn poll(&mut self, tap: &mut KafkaTap);
}

struct Count(u64);

impl Sink for Count {
    fn message(&mut self, message: &RawMessage<'_>) {
        black_box(message);
        self.0 += 1;
    }
}

impl Counting for Count {
    fn count(&self) -> u64 {
        self.0
    }

    fn poll(&mut self, tap: &mut KafkaTap) {
        tap.poll(WAIT, self).unwrap();
    }
}

struct Routed<'a>(&'a mut Router, u64);

impl Sink for Routed<'_> {
    fn message(&mut self, message: &RawMessage<'_>) {
        let observation = self.0.observe(message).unwrap();
        assert_eq!(observation.candidates.len(), 1);
        black_box(observation);
        self.1 += 1;
    }
}

impl Counting for Routed<'_> {
    fn count(&self) -> u64 {
        self.1
    }

    fn poll(&mut self, tap: &mut KafkaTap) {
        tap.poll(WAIT, self).unwrap();
    }
}

fn plan() -> Plan {
    let stage = Stage {
        name: "PaymentSettled".to_owned(),
        source: StageSource::Event {
            channel: 0,
            matches: vec![Check {
                text: String::new(),
                selector: Selector::Type,
                test: Test::Equals(json!("PaymentSettled")),
            }],
            checks: Vec::new(),
            key: Selector::Body(JsonPath {
                text: "$.aggregateId".to_owned(),
                plain: Some(vec![PathStep::Name("aggregateId".to_owned())]),
                compiled: serde_json_path::JsonPath::parse("$.aggregateId").unwrap(),
            }),
            key_format: "{}".to_owned(),
        },
        kind: StageKind::Required,
        after: None,
        expect: Expect::Members(1),
        member: None,
        shared: false,
        reason: None,
        rekey: None,
    };
    Plan {
        channels: vec![Channel {
            name: "events".to_owned(),
            connector: Connector::Kafka(KafkaChannel::default()),
            decoder: Decoder::Auto,
            message_id: None,
            marker: None,
            backlog: Vec::new(),
        }],
        journeys: vec![Journey {
            name: "payment".to_owned(),
            steps: Vec::new(),
            stages: vec![stage],
            within_ns: 1,
            linger_ns: 0,
            trace: false,
            poison: None,
        }],
        ..Plan::default()
    }
}
