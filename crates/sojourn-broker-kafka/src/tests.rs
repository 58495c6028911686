//! Tests against librdkafka's in-process mock cluster: the real protocol over real sockets.

mod consume;
mod replay;
mod subscription;

use std::time::Duration;

use rdkafka::TopicPartitionList;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::mocking::MockCluster;
use rdkafka::producer::DefaultProducerContext;
use sojourn_broker::{
    BrokerError, Outcome, Position, Publisher, PublisherSettings, RawMessage, Sink, Tap,
};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::KafkaChannel;

use crate::{KafkaPublisher, KafkaTap};

/// Nothing here takes this long unless it is broken.
const PATIENCE_NS: u64 = 15 * SECOND_NS;

type Cluster = MockCluster<'static, DefaultProducerContext>;

#[derive(Clone, Debug, PartialEq)]
struct Seen {
    stamp_ns: u64,
    topic: String,
    key: Option<Vec<u8>>,
    headers: Vec<(String, Vec<u8>)>,
    payload: String,
    position: Option<Position>,
}

#[derive(Default)]
struct Collect(Vec<Seen>);

impl Sink for Collect {
    fn message(&mut self, message: &RawMessage<'_>) {
        let header = |(name, value): &(&str, &[u8])| ((*name).to_owned(), value.to_vec());
        self.0.push(Seen {
            stamp_ns: message.stamp_ns,
            topic: message.topic.to_owned(),
            key: message.key.map(<[u8]>::to_vec),
            headers: message.headers.iter().map(header).collect(),
            payload: String::from_utf8_lossy(message.payload).into_owned(),
            position: message.position,
        });
    }
}

fn cluster(topics: &[(&str, i32)]) -> Cluster {
    let cluster = MockCluster::new(1).unwrap();
    for (topic, partitions) in topics {
        cluster.create_topic(topic, *partitions, 1).unwrap();
    }
    cluster
}

fn settings(brokers: &str, topics: &[&str]) -> KafkaChannel {
    KafkaChannel {
        brokers: brokers.to_owned(),
        topics: topics.iter().map(|topic| (*topic).to_owned()).collect(),
        properties: Vec::new(),
    }
}

fn open(cluster: &Cluster, topics: &[&str]) -> KafkaTap {
    let mut tap = KafkaTap::new(settings(&cluster.bootstrap_servers(), topics));
    tap.open().unwrap();
    tap
}

fn publisher_with(cluster: &Cluster, queue_max: usize) -> KafkaPublisher {
    let how = PublisherSettings { queue_max, ..PublisherSettings::default() };
    KafkaPublisher::new(&settings(&cluster.bootstrap_servers(), &[]), how).unwrap()
}

fn publisher(cluster: &Cluster) -> KafkaPublisher {
    publisher_with(cluster, 1_000)
}

/// Publishes payloads with keys, and waits for every acknowledgement.
fn publish(publisher: &mut KafkaPublisher, topic: &str, messages: &[(&str, &str)]) -> Vec<Outcome> {
    for (token, (key, payload)) in (0..).zip(messages) {
        let headers = [("sojourn-run", &b"r1"[..]), ("empty", b"")];
        publisher
            .try_publish(token, topic, Some(key.as_bytes()), &headers, payload.as_bytes())
            .unwrap();
    }
    outcomes(publisher, messages.len())
}

fn outcomes(publisher: &mut KafkaPublisher, count: usize) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    let deadline_ns = now_ns() + PATIENCE_NS;
    while outcomes.len() < count && now_ns() < deadline_ns {
        publisher.poll(&mut outcomes);
        std::thread::yield_now();
    }
    assert_eq!(outcomes.len(), count, "acknowledgements in time");
    outcomes
}

/// Polls until so many messages have come.
fn read(tap: &mut KafkaTap, count: usize) -> Vec<Seen> {
    let mut seen = Collect::default();
    let deadline_ns = now_ns() + PATIENCE_NS;
    while seen.0.len() < count && now_ns() < deadline_ns {
        tap.poll(Duration::from_millis(50), &mut seen).unwrap();
    }
    assert_eq!(seen.0.len(), count, "messages in time");
    seen.0
}

fn poll_until_lost(tap: &mut KafkaTap) -> BrokerError {
    let mut seen = Collect::default();
    let deadline_ns = now_ns() + PATIENCE_NS;
    while now_ns() < deadline_ns {
        if let Err(error) = tap.poll(Duration::from_millis(50), &mut seen) {
            return error;
        }
    }
    panic!("the tap did not notice");
}

/// Polls until the statistics say what is waited for.
fn poll_until(tap: &mut KafkaTap, what: &str, mut done: impl FnMut(&KafkaTap) -> bool) {
    let mut seen = Collect::default();
    let deadline_ns = now_ns() + PATIENCE_NS;
    while !done(tap) {
        assert!(now_ns() < deadline_ns, "{what} in time");
        tap.poll(Duration::from_millis(50), &mut seen).unwrap();
    }
}

#[test]
fn reads_only_what_comes_after_open() {
    let cluster = cluster(&[("events", 1)]);
    let mut publisher = publisher(&cluster);
    publish(&mut publisher, "events", &[("k", "before 1"), ("k", "before 2")]);
    let mut tap = KafkaTap::new(settings(&cluster.bootstrap_servers(), &["events"]));
    let info = tap.open().unwrap();
    assert_eq!(
        info.listens_to,
        format!("kafka {}, topic events, 1 partition from their end", cluster.bootstrap_servers())
    );
    let sent_ns = now_ns();
    publish(&mut publisher, "events", &[("pay:1", "after 1"), ("pay:2", "after 2")]);
    let seen = read(&mut tap, 2);
    assert_eq!(seen[0].payload, "after 1");
    assert_eq!(seen[0].topic, "events");
    assert_eq!(seen[0].key.as_deref(), Some(&b"pay:1"[..]));
    assert_eq!(
        seen[0].headers,
        [("sojourn-run".to_owned(), b"r1".to_vec()), ("empty".to_owned(), Vec::new())]
    );
    let position = |offset| Some(Position { partition: 0, offset });
    assert_eq!((seen[0].position, seen[1].position), (position(2), position(3)));
    assert!(sent_ns < seen[0].stamp_ns && seen[0].stamp_ns <= seen[1].stamp_ns);
}

#[test]
fn nothing_published_right_after_open_is_missed() {
    let cluster = cluster(&[("events", 4)]);
    let mut publisher = publisher(&cluster);
    for round in 0..5 {
        let payload = round.to_string();
        let mut tap = open(&cluster, &["events"]);
        // The tap has not been polled even once.
        publish(&mut publisher, "events", &[("a", &payload), ("b", &payload), ("c", &payload)]);
        let seen = read(&mut tap, 3);
        assert!(seen.iter().all(|seen| seen.payload == payload), "{seen:?}");
    }
}

#[test]
fn several_topics_and_partitions_have_positions_of_their_own() {
    let cluster = cluster(&[("one", 3), ("two", 2)]);
    let mut tap = open(&cluster, &["one", "two", "one"]);
    let mut publisher = publisher(&cluster);
    let keys: Vec<String> = (0..40).map(|number| number.to_string()).collect();
    let messages: Vec<_> = keys.iter().map(|key| (key.as_str(), "x")).collect();
    publish(&mut publisher, "one", &messages);
    publish(&mut publisher, "two", &messages);
    let seen = read(&mut tap, 80);
    let mut positions: Vec<_> = seen
        .iter()
        .map(|seen| {
            let position = seen.position.unwrap();
            assert_eq!(position.partition >> 32, u64::from(seen.topic == "two"));
            (position.partition, position.offset)
        })
        .collect();
    positions.sort_unstable();
    positions.dedup();
    assert_eq!(positions.len(), 80, "every position is unique");
    let mut partitions: Vec<_> = positions.iter().map(|(partition, _)| *partition).collect();
    partitions.dedup();
    assert_eq!(partitions, [0, 1, 2, 1 << 32, 1 << 32 | 1]);
}

#[test]
fn the_watermark_is_behind_every_message_to_come() {
    let cluster = cluster(&[("events", 2)]);
    let mut tap = open(&cluster, &["events"]);
    let mut publisher = publisher(&cluster);
    let mut seen = Collect::default();
    let mut sent = 0;
    let mut watermarks = Vec::new();
    let deadline_ns = now_ns() + PATIENCE_NS;
    while seen.0.len() < 500 && now_ns() < deadline_ns {
        if sent < 500 {
            let key = sent.to_string();
            publisher.try_publish(sent, "events", Some(key.as_bytes()), &[], b"x").unwrap();
            sent += 1;
        }
        let known = seen.0.len();
        let watermark_ns = tap.watermark_ns();
        tap.poll(Duration::from_millis(1), &mut seen).unwrap();
        assert!(seen.0[known..].iter().all(|seen| seen.stamp_ns >= watermark_ns));
        assert!(tap.watermark_ns() >= watermark_ns);
        watermarks.push(watermark_ns);
    }
    assert_eq!(seen.0.len(), 500);
    assert!(seen.0.is_sorted_by_key(|seen| seen.stamp_ns));
    watermarks.dedup();
    assert!(watermarks.len() > 10, "the watermark moves");
}

#[test]
fn no_group_is_joined_and_nothing_committed() {
    let cluster = cluster(&[("events", 2)]);
    let mut tap = open(&cluster, &["events"]);
    publish(&mut publisher(&cluster), "events", &[("a", "1"), ("b", "2")]);
    read(&mut tap, 2);
    let requests = |tap: &KafkaTap| tap.watch().unwrap().health().requests.clone();
    poll_until(&mut tap, "statistics", |tap| {
        requests(tap).get("Fetch").is_some_and(|sent| *sent > 0)
    });
    for kind in [
        "JoinGroup",
        "SyncGroup",
        "Heartbeat",
        "LeaveGroup",
        "OffsetCommit",
        "TxnOffsetCommit",
        "ConsumerGroupHeartbeat",
        "CreateTopics",
    ] {
        let sent = requests(&tap).get(kind).copied().unwrap_or(0);
        assert_eq!(sent, 0, "{kind}");
    }
    // Nor does a member of that group find a committed offset.
    let member: BaseConsumer = rdkafka::ClientConfig::new()
        .set("bootstrap.servers", cluster.bootstrap_servers())
        .set("group.id", "sojourn-tap")
        .create()
        .unwrap();
    let mut partitions = TopicPartitionList::new();
    partitions.add_partition_range("events", 0, 1);
    let committed = member.committed_offsets(partitions, Duration::from_secs(5)).unwrap();
    for partition in committed.elements() {
        assert_eq!(partition.offset(), rdkafka::Offset::Invalid);
    }
}

#[test]
fn a_missing_topic_is_an_error_that_offers_similar_ones() {
    let cluster = cluster(&[("payments.events", 1), ("orders", 1)]);
    let mut tap = KafkaTap::new(settings(&cluster.bootstrap_servers(), &["payment.events"]));
    let error = tap.open().unwrap_err();
    assert!(error.message.contains("no topic `payment.events`"), "{error}");
    assert!(error.message.contains(&cluster.bootstrap_servers()), "{error}");
    let hint = error.hint.unwrap();
    assert!(hint.starts_with("it has `payments.events`"), "{hint}");
    // Asking did not create it.
    assert!(tap.open().is_err());
}

#[test]
fn a_broker_that_is_not_there_is_a_clear_error() {
    // A port that was free a moment ago.
    let address = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().to_string()
    };
    let begun_ns = now_ns();
    let mut tap = KafkaTap::new(settings(&address, &["events"]));
    let error = tap.open().unwrap_err();
    let took_ns = now_ns() - begun_ns;
    let expected = format!("cannot reach kafka at {address}: ");
    assert!(error.message.starts_with(&expected), "{error}");
    assert!(error.message.contains("refused"), "{error}");
    assert!(took_ns < 8 * SECOND_NS, "{took_ns}");
}

#[test]
fn partitions_added_during_the_run_are_read_from_their_beginning() {
    let cluster = cluster(&[("events", 3)]);
    let mut tap = open(&cluster, &["events"]);
    // The mock can't add partitions to a topic, so the tap is made to not know one.
    let mut forgotten = TopicPartitionList::new();
    forgotten.add_partition("events", 2);
    tap.consumer().unwrap().incremental_unassign(&forgotten).unwrap();
    let keys: Vec<String> = (0..30).map(|number| number.to_string()).collect();
    let messages: Vec<_> = keys.iter().map(|key| (key.as_str(), "x")).collect();
    publish(&mut publisher(&cluster), "events", &messages);
    let seen = read(&mut tap, 30);
    assert!(seen.iter().any(|seen| seen.position.unwrap().partition == 2));
    assert_eq!(tap.partitions_added(), 1);
}

#[test]
fn messages_deleted_before_they_were_read_lose_the_tap() {
    let cluster = cluster(&[("events", 1)]);
    let mut kafka = settings(&cluster.bootstrap_servers(), &["events"]);
    // Fetches no further ahead than one message, so that the mock, which keeps 5 MB of a partition,
    // has deleted others by the time they are asked for.
    kafka.properties = vec![("queued.max.messages.kbytes".to_owned(), "1".to_owned())];
    let mut tap = KafkaTap::new(kafka);
    tap.open().unwrap();
    let large = "x".repeat(500_000);
    let messages = [("k", large.as_str()); 30];
    publish(&mut publisher(&cluster), "events", &messages);
    let error = poll_until_lost(&mut tap);
    assert!(error.message.contains("deleted before"), "{error}");
    assert!(error.hint.unwrap().contains("retention"));
}

#[test]
fn a_tap_that_keeps_up_is_not_behind_and_one_that_is_not_polled_is() {
    let cluster = cluster(&[("events", 1)]);
    let mut tap = open(&cluster, &["events"]);
    poll_until(&mut tap, "statistics", |tap| tap.behind_ns().is_some());
    let keeping_up_ns = tap.behind_ns().unwrap();
    assert!(keeping_up_ns < SECOND_NS, "{keeping_up_ns}");
    // Statistics made while nobody polls wait in the queue, and say so when they come.
    let idle_from_ns = now_ns();
    sojourn_clock::sleep_until(idle_from_ns + 2 * SECOND_NS);
    let mut worst_ns = 0;
    poll_until(&mut tap, "old statistics", |tap| {
        worst_ns = worst_ns.max(tap.behind_ns().unwrap());
        worst_ns > SECOND_NS
    });
}

#[test]
fn a_broker_that_answers_nothing_leaves_the_tap_behind() {
    let cluster = cluster(&[("events", 1)]);
    let mut tap = open(&cluster, &["events"]);
    poll_until(&mut tap, "statistics", |tap| tap.behind_ns().is_some());
    // The connection stays, answers come ten seconds late.
    cluster.broker_round_trip_time(1, Duration::from_secs(10)).unwrap();
    poll_until(&mut tap, "silence", |tap| tap.behind_ns().is_some_and(|ns| ns > SECOND_NS));
}

#[test]
fn errors_do_not_tell_secrets() {
    let mut kafka = settings("127.0.0.1:1", &["events"]);
    for (name, value) in [
        ("sasl.password", "hunter2"),
        ("security.protocol", "hunter3"),
        ("no.such.property", "hunter4"),
        ("ssl.ca.location", "/hunter5"),
    ] {
        kafka.properties = vec![(name.to_owned(), value.to_owned())];
        if name == "sasl.password" {
            kafka.properties.push(("sasl.mechanism".to_owned(), "hunter2".to_owned()));
            kafka.properties.push(("security.protocol".to_owned(), "sasl_plaintext".to_owned()));
        }
        let mut tap = KafkaTap::new(kafka.clone());
        let error = tap.open().unwrap_err();
        assert!(!format!("{error:?}{tap:?}").contains("hunter"), "{name}: {error:?}");
        assert!(!error.message.is_empty());
    }
}

#[test]
fn a_publisher_stamps_acknowledgements_and_refuses_beyond_its_bound() {
    let cluster = cluster(&[("events", 1)]);
    let mut publisher = publisher_with(&cluster, 2);
    let begun_ns = now_ns();
    for token in [7, 8] {
        publisher.try_publish(token, "events", None, &[], b"x").unwrap();
    }
    assert!(publisher.try_publish(9, "events", None, &[], b"x").is_err());
    let mut acked = outcomes(&mut publisher, 2);
    acked.sort_by_key(|outcome| outcome.token);
    for (outcome, token) in acked.iter().zip([7, 8]) {
        assert_eq!((outcome.token, &outcome.error), (token, &None));
        assert!(begun_ns < outcome.acked_ns && outcome.acked_ns <= now_ns());
    }
    publisher.try_publish(9, "events", None, &[], b"x").unwrap();
    assert_eq!(outcomes(&mut publisher, 1)[0].token, 9);
}

#[test]
fn a_publisher_says_what_the_broker_refused() {
    let cluster = cluster(&[]);
    cluster
        .topic_error(
            "denied",
            rdkafka::types::RDKafkaRespErr::RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
        )
        .unwrap();
    let mut publisher = publisher(&cluster);
    publisher.try_publish(1, "denied", None, &[], b"x").unwrap();
    let outcome = outcomes(&mut publisher, 1).remove(0);
    assert!(outcome.error.is_some(), "{outcome:?}");
}
