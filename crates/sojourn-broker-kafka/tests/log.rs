//! What is Kafka's own: dates, tombstones, compaction, compression, partitions added.

use rdkafka::admin::{AdminClient, AdminOptions, NewPartitions};
use rdkafka::client::DefaultClientContext;
use sojourn_broker::{Connect, RawMessage, Sink, Span};
use sojourn_broker_kafka::Kafka as Connector;
use sojourn_clock::Anchor;
use sojourn_conformance::{Listener, Message, Rig, Seen, wait_until};

use crate::rig::{KafkaRig, PARTITIONS, block_on};

const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

fn messages(numbers: std::ops::Range<u64>) -> Vec<Message> {
    numbers.map(Message::numbered).collect()
}

fn now_unix_ms() -> u64 {
    let anchor = Anchor::now();
    anchor.unix_ns_at(anchor.monotonic_ns) / 1_000_000
}

#[derive(Default)]
struct Numbers(Vec<u64>);

impl Sink for Numbers {
    fn message(&mut self, message: &RawMessage<'_>) {
        let payload: serde_json::Value = serde_json::from_slice(message.payload).unwrap();
        self.0.extend(payload["n"].as_u64());
    }
}

#[test]
fn a_stretch_of_time_is_read_again() {
    let mut rig = KafkaRig::new();
    let mut tap = Connector.tap(&rig.channel(None)).unwrap();
    tap.open().unwrap();
    let mut bounds = Vec::new();
    for part in 0..3 {
        rig.publish(&messages(part * 100..part * 100 + 100));
        // The clock has ticked between the parts.
        std::thread::sleep(std::time::Duration::from_millis(20));
        bounds.push(now_unix_ms());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let mut read = |from_unix_ms, to_unix_ms| {
        let mut numbers = Numbers::default();
        let span = Span::Time { from_unix_ms, to_unix_ms };
        let count = tap.replay(&span, PATIENCE, &mut numbers).unwrap();
        assert_eq!(count, numbers.0.len() as u64);
        numbers.0.sort_unstable();
        numbers.0
    };
    assert!(read(bounds[0], bounds[1]).into_iter().eq(100..200));
    assert!(read(0, bounds[0]).into_iter().eq(0..100));
    assert!(read(bounds[1], u64::MAX).into_iter().eq(200..300));
    assert_eq!(read(bounds[2], bounds[2] + 60_000), [0_u64; 0]);
}

#[test]
fn tombstones_are_messages_with_an_empty_payload() {
    let rig = KafkaRig::new();
    let listener = Listener::open(&rig, None);
    rig.send(&[("a", Some("{\"n\":1}")), ("a", None), ("a", Some("{\"n\":2}"))]);
    listener.wait_for_messages(3);
    let (_tap, book) = listener.stop();
    let payloads: Vec<_> = book.messages.iter().map(|seen| seen.payload.as_slice()).collect();
    assert_eq!(payloads, [&b"{\"n\":1}"[..], b"", b"{\"n\":2}"]);
    assert!(book.messages.iter().all(|seen| seen.key.as_deref() == Some(b"a")));
}

#[test]
fn a_compacted_topic_is_read_over_its_holes() {
    let mut settings = vec![("cleanup.policy", "compact"), ("segment.ms", "100")];
    settings.extend([("min.cleanable.dirty.ratio", "0.01"), ("max.compaction.lag.ms", "200")]);
    settings.push(("delete.retention.ms", "100"));
    let mut rig = KafkaRig::with_topic(PARTITIONS, &settings);
    let listener = Listener::open(&rig, None);
    rig.publish(&messages(0..700));
    listener.wait_for_messages(700);
    let (mut tap, book) = listener.stop();
    let mut ranges = Vec::new();
    for partition in 0..PARTITIONS as u64 {
        ranges.push(sojourn_broker::PositionRange { partition, from: 0, to: u64::MAX });
    }
    let span = Span::Positions(ranges);
    // Messages of seven keys: the older ones go once the cleaner has come by, which it does every
    // fifteen seconds and only for segments that are closed.
    let mut left = Vec::new();
    wait_until("the cleaner has been here", || {
        rig.publish(&messages(700..707));
        let mut numbers = Numbers::default();
        tap.replay(&span, PATIENCE, &mut numbers).unwrap();
        left = numbers.0;
        (left.len() as u64) < book.count / 2
    });
    let listener = Listener::of(tap);
    listener.wait_for_messages(7);
    let (_tap, book) = listener.stop();
    let seen: Vec<&Seen> = book.messages.iter().collect();
    assert!(seen.iter().all(|seen| (700..707).contains(&seen.number().unwrap())));
}

#[test]
fn partitions_added_during_a_run_are_read_from_their_beginning() {
    let mut rig = KafkaRig::with_topic(1, &[]);
    let listener = Listener::open(&rig, None);
    rig.publish(&messages(0..50));
    listener.wait_for_messages(50);
    let admin: AdminClient<DefaultClientContext> = rig.client().create().unwrap();
    let added = [NewPartitions::new(&rig.topic, PARTITIONS as usize)];
    block_on(admin.create_partitions(&added, &AdminOptions::new())).unwrap();
    rig.publish(&messages(50..150));
    listener.wait_for_messages(150);
    let (_tap, book) = listener.stop();
    let partitions = book.messages.iter().filter_map(|seen| seen.position);
    assert!(partitions.map(|(partition, _)| partition).any(|partition| partition > 0));
    let mut numbers = book.numbers(&rig);
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..150));
}

/// Messages compressed by each of Kafka's ways.
#[test]
fn compressed_messages_are_read() {
    let mut ways = vec!["gzip", "snappy", "lz4"];
    ways.extend(cfg!(feature = "zstd").then_some("zstd"));
    for way in ways {
        let rig = KafkaRig::new();
        let listener = Listener::open(&rig, None);
        let settings = rig.settings(&rig.address().to_string(), &[("compression.type", way)]);
        let channel = crate::rig::channel(settings);
        let all: Vec<_> = (0..200).map(|number| Message::padded(number, 500)).collect();
        sojourn_conformance::publish_all(&Connector, &channel, &rig.topic, &all);
        listener.wait_for_messages(200);
        let (_tap, book) = listener.stop();
        assert!(book.messages.iter().all(|seen| seen.payload.len() > 500), "{way}");
    }
}

#[cfg(not(feature = "zstd"))]
#[test]
fn zstd_without_its_feature_loses_the_tap_and_says_so() {
    let mut rig = KafkaRig::with_topic(1, &[("compression.type", "zstd")]);
    let listener = Listener::open(&rig, None);
    rig.publish(&messages(0..1));
    let (error, _) = listener.wait_for_loss();
    assert!(error.message.contains("compressed"), "{error}");
    assert!(error.hint.unwrap().contains("--features kafka-zstd"));
}
