//! Scripts that import `k6/x/kafka`, against a real Kafka; what they wrote is read by a consumer
//! that knows nothing of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::message::Headers;
use rdkafka::{Message, Offset, TopicPartitionList};
use serde_json::{Value, json};
use sojourn_testkit::services::Kafka;
use sojourn_testkit::{Output, TempDir, closed_port, sojourn, temp_dir};

use crate::mock::Mocked;

#[cfg(feature = "kafka-tls")]
mod key_stores;
#[cfg(all(feature = "kafka-tls", feature = "kafka-zstd"))]
mod secured;
#[cfg(feature = "kafka-tls")]
mod tokens;

/// A script's run and its metrics.
struct Played {
    output: Output,
    metrics: Value,
    /// Where it ran.
    folder: TempDir,
}

impl Played {
    /// What a metric came to.
    fn of(&self, metric: &str, aggregate: &str) -> f64 {
        let found = self.metrics["metrics"][metric][aggregate].as_f64();
        found.unwrap_or_else(|| panic!("{metric} has no {aggregate}: {}", self.metrics))
    }

    fn count(&self, metric: &str) -> f64 {
        self.of(metric, "count")
    }

    fn passed(self) -> Self {
        assert_eq!(self.output.code, Some(0), "{}", self.output);
        assert!(!self.output.stderr.contains("level=error"), "{}", self.output);
        self
    }
}

/// Runs a script of this folder.
fn play(name: &str, variables: &[(&str, &str)]) -> Played {
    play_in(&[], name, variables)
}

/// The same in an environment.
fn play_in(environment: &[(&str, &str)], name: &str, variables: &[(&str, &str)]) -> Played {
    let folder = temp_dir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/k6_kafka").join(name);
    let summary = folder.path().join("summary.json");
    let mut arguments = vec!["k6".to_owned(), "run".to_owned(), "--quiet".to_owned()];
    arguments.push(format!("--summary-export={}", summary.display()));
    for (name, value) in variables {
        arguments.extend(["-e".to_owned(), format!("{name}={value}")]);
    }
    arguments.push(script.display().to_string());
    let program = sojourn(&arguments).in_dir(folder.path()).timeout(Duration::from_secs(120));
    let program =
        environment.iter().fold(program, |program, (name, value)| program.env(name, value));
    let output = program.run().unwrap();
    let text = std::fs::read_to_string(&summary).unwrap_or_default();
    Played { output, metrics: serde_json::from_str(&text).unwrap_or_default(), folder }
}

/// A message as it lies in the topic.
struct Kept {
    key: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
    headers: BTreeMap<String, Vec<u8>>,
    time_ms: Option<i64>,
}

/// Everything in a partition.
fn kept(brokers: &str, topic: &str, partition: i32) -> Vec<Kept> {
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", brokers)
        .set("group.id", "none")
        .set("enable.auto.commit", "false")
        .create()
        .unwrap();
    let mut all = TopicPartitionList::new();
    all.add_partition_offset(topic, partition, Offset::Beginning).unwrap();
    consumer.assign(&all).unwrap();
    let ends = consumer.fetch_watermarks(topic, partition, Duration::from_secs(20)).unwrap();
    let mut kept = Vec::new();
    while (kept.len() as i64) < ends.1 - ends.0 {
        let message = consumer.poll(Duration::from_secs(20)).expect("a message").unwrap();
        let headers = message.headers().into_iter().flat_map(Headers::iter);
        kept.push(Kept {
            key: message.key().map(<[u8]>::to_vec),
            value: message.payload().map(<[u8]>::to_vec),
            headers: headers
                .map(|header| (header.key.to_owned(), header.value.unwrap_or_default().to_vec()))
                .collect(),
            time_ms: message.timestamp().to_millis(),
        });
    }
    kept
}

#[test]
fn a_thousand_messages_there_and_back() {
    let kafka = Kafka::shared().unwrap();
    let brokers = kafka.bootstrap();
    let topic = "k6.thousand";
    let played = play("write_and_read.js", &[("BROKERS", &brokers), ("TOPIC", topic)]).passed();
    let messages = kept(&brokers, topic, 0);
    assert_eq!(messages.len(), 1_000);
    for (number, message) in messages.iter().enumerate() {
        let key: Value = serde_json::from_slice(message.key.as_ref().unwrap()).unwrap();
        let value = message.value.as_ref().unwrap();
        assert_eq!(key, json!({ "correlationId": format!("test-id-{number}") }));
        // Byte for byte, members in the order in which the script has them.
        let expected = format!(r#"{{"number":{number},"name":"xk6-kafka é"}}"#);
        assert_eq!(std::str::from_utf8(value).unwrap(), expected);
        assert_eq!(message.headers["mykey"], b"myvalue");
        assert_eq!(message.headers["number"], number.to_string().into_bytes());
        assert_eq!(message.headers["raw"], [0, 255]);
        assert_eq!(message.time_ms, Some(1_700_000_000_000 + number as i64));
    }
    let bytes: usize = messages
        .iter()
        .map(|message| {
            let headers = message.headers.iter().map(|(name, value)| name.len() + value.len());
            let length = |part: &Option<Vec<u8>>| part.as_ref().unwrap().len();
            length(&message.key) + length(&message.value) + headers.sum::<usize>()
        })
        .sum();
    for metric in ["kafka_writer_message_count", "kafka_reader_message_count"] {
        assert_eq!(played.count(metric), 1_000.0, "{metric}");
    }
    for metric in ["kafka_writer_message_bytes", "kafka_reader_message_bytes"] {
        assert_eq!(played.count(metric), bytes as f64, "{metric}");
    }
    assert_eq!(played.count("kafka_writer_write_count"), 10.0);
    assert_eq!(played.count("kafka_reader_fetches_count"), 10.0);
    assert_eq!(played.of("kafka_reader_offset", "value"), 1_000.0);
    assert_eq!(played.of("kafka_reader_lag", "value"), 0.0);
    assert_eq!(played.of("kafka_reader_queue_capacity", "value"), 100_000.0);
    // Nothing but the partition's end.
    assert!(played.of("kafka_reader_queue_length", "value") <= 1.0);
    assert!(played.of("kafka_writer_write_seconds", "max") > 0.0);
}

#[test]
fn a_group_shares_the_partitions() {
    let kafka = Kafka::shared().unwrap();
    let brokers = kafka.bootstrap();
    let variables = [("BROKERS", brokers.as_str()), ("TOPIC", "k6.group")];
    let played = play("group.js", &variables).passed();
    assert_eq!(played.count("kafka_reader_message_count"), 300.0);
    // Round robin: a third in each partition.
    for partition in 0..3 {
        assert_eq!(kept(&brokers, "k6.group", partition).len(), 100, "{partition}");
    }
    assert!(played.count("kafka_reader_rebalance_count") >= 1.0);
    // What was committed is not read again.
    let again = play("group_again.js", &variables).passed();
    assert_eq!(again.count("kafka_reader_message_count"), 0.0);
    assert_eq!(again.count("kafka_reader_timeouts_count"), 1.0);
}

#[test]
fn topics_are_made_listed_and_removed() {
    let kafka = Kafka::shared().unwrap();
    let brokers = kafka.bootstrap();
    play("topics.js", &[("BROKERS", &brokers), ("TOPIC", "k6.topics")]).passed();
}

#[test]
fn version_2() {
    let kafka = Kafka::shared().unwrap();
    let brokers = kafka.bootstrap();
    let played = play("version_2.js", &[("BROKERS", &brokers), ("TOPIC", "k6.two")]).passed();
    assert_eq!(played.count("kafka_writer_message_count"), 21.0);
    // Five of twenty were taken; the partition's end may count as one.
    let waiting = played.of("kafka_reader_queue_length", "max");
    assert!((15.0..=16.0).contains(&waiting), "{waiting}");
    let messages = kept(&brokers, "k6.two", 0);
    assert_eq!(messages.len(), 21);
    assert_eq!(messages[7].key.as_deref(), Some(&b"key-7"[..]));
    assert_eq!(messages[19].value, None);
}

/// The registry's answers, as Confluent documents them.
const REGISTRY: &str = r#"
routes:
  - { route: "POST /subjects/orders-value/versions", json: { id: 7 } }
  - { route: "POST /subjects/orders-value", json: { subject: orders-value, id: 7, version: 3, schema: "{}" } }
  - route: GET /subjects/orders-key/versions/latest
    json: { subject: orders-key, id: 258, version: 1, schema: '"string"' }
  - { route: "*", status: 404, json: { error_code: 40401, message: "Subject not found." } }
"#;

#[test]
fn avro_by_a_registry() {
    let kafka = Kafka::shared().unwrap();
    let brokers = kafka.bootstrap();
    let registry = Mocked::start(&[("registry.yaml", REGISTRY)], &["registry.yaml"]);
    let url = format!("http://{}", registry.address);
    let variables = [("BROKERS", brokers.as_str()), ("TOPIC", "orders"), ("REGISTRY", &url)];
    play("avro.js", &variables).passed();
    let messages = kept(&brokers, "orders", 0);
    assert_eq!(messages.len(), 1);
    // The prefix (0, id), then Avro by hand: the text `k1`; and a record of a long, a union's
    // second branch, an array of two symbols and bytes.
    assert_eq!(messages[0].key.as_deref(), Some(&b"\x00\x00\x00\x01\x02\x04k1"[..]));
    let expected = b"\x00\x00\x00\x00\x07\x36\x02\x06abc\x04\x00\x02\x00\x04\x01\xff";
    assert_eq!(messages[0].value.as_deref(), Some(&expected[..]));
}

const PROTOBUF_REGISTRY: &str = r#"
routes:
  - { route: "POST /subjects/shop.Order/versions", json: { id: 9 } }
  - { route: "POST /subjects/shop.Order", json: { subject: shop.Order, id: 9, version: 1, schema: "" } }
  - route: GET /subjects/money/versions/2
    json:
      subject: money
      id: 8
      version: 2
      schemaType: PROTOBUF
      schema: 'syntax = "proto3"; package shop; message Money { int32 cents = 1; int64 exact = 2; }'
  - { route: "*", status: 404, json: { error_code: 40401, message: "Subject not found." } }
"#;

#[test]
fn protobuf_by_a_registry() {
    let kafka = Kafka::shared().unwrap();
    let brokers = kafka.bootstrap();
    let registry = Mocked::start(&[("registry.yaml", PROTOBUF_REGISTRY)], &["registry.yaml"]);
    let url = format!("http://{}", registry.address);
    let variables = [("BROKERS", brokers.as_str()), ("TOPIC", "k6.protobuf"), ("REGISTRY", &url)];
    play("protobuf.js", &variables).passed();
    let messages = kept(&brokers, "k6.protobuf", 0);
    assert_eq!(messages.len(), 1);
    // The prefix (0, id, one index: the second message), then fields by hand: a text, a message of
    // two numbers, a packed list, bytes.
    let expected = b"\0\0\0\0\x09\x02\x02\x0a\x03o-1\
        \x12\x0c\x08\xe2\x09\x10\x81\x80\x80\x80\x80\x80\x80\x10\x1a\x01\x01\x22\x02\x01\xff";
    assert_eq!(messages[0].value.as_deref(), Some(&expected[..]));
}

#[test]
fn errors_throw_in_time_and_are_counted() {
    let kafka = Kafka::shared().unwrap();
    let brokers = kafka.bootstrap();
    let nobody = format!("127.0.0.1:{}", closed_port().unwrap());
    let played = play("errors.js", &[("BROKERS", &brokers), ("NOBODY", &nobody)]);
    // A threshold on errors that there were.
    assert_eq!(played.output.code, Some(99), "{}", played.output);
    assert_eq!(played.of("checks", "fails"), 0.0, "{}", played.output);
    assert!(played.of("checks", "passes") >= 12.0, "{}", played.output);
    assert_eq!(played.count("kafka_writer_error_count"), 3.0);
    assert_eq!(played.count("kafka_writer_message_count"), 0.0);
    // One came late, the other was asked of a reader that was closed.
    assert_eq!(played.count("kafka_reader_error_count"), 2.0);
    assert_eq!(played.count("kafka_reader_timeouts_count"), 1.0);
}

/// Users that wait for Kafka do not keep others waiting.
#[test]
fn waiting_users_hold_nobody_up() {
    let kafka = Kafka::shared().unwrap();
    let brokers = kafka.bootstrap();
    let played = play("waiting.js", &[("BROKERS", &brokers), ("TOPIC", "k6.waiting")]).passed();
    // One thread: the reader waits for 2 s in all, the other user goes on every 10 ms.
    assert!(played.count("ticks") >= 100.0, "{}", played.metrics);
}

#[test]
fn check_knows_the_module() {
    let folder = temp_dir().unwrap();
    let script = "import { Writer, LoadJKS, SCHEMA_TYPE_AVRO, Nonsense } from 'k6/x/kafka';
        export default function () { new Writer({}); LoadJKS({}); SCHEMA_TYPE_AVRO; Nonsense; }";
    std::fs::write(folder.path().join("s.js"), script).unwrap();
    let output = sojourn(["k6", "check", "s.js"]).in_dir(folder.path()).run().unwrap();
    assert_eq!(output.code, Some(104), "{output}");
    assert!(output.stdout.contains("✓ k6/x/kafka  Writer\n"), "{output}");
    assert!(output.stdout.contains("✓ k6/x/kafka  SCHEMA_TYPE_AVRO\n"), "{output}");
    assert!(output.stdout.contains("✗ k6/x/kafka  Nonsense:"), "{output}");
}
