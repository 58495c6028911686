//! Publishing in transactions, and what the script does not ask of a publisher.

use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::{Message as _, Offset, TopicPartitionList};
use sojourn_broker::{Connect as _, PublisherSettings};
use sojourn_broker_kafka::Kafka as Connector;
use sojourn_conformance::{Listener, Message, Publishing, Rig, wait_until};
use sojourn_plan::Channel;

use crate::rig::{KafkaRig, PARTITIONS, channel};

fn transactional(rig: &KafkaRig, id: &str) -> Channel {
    let brokers = rig.address().to_string();
    channel(rig.settings(&brokers, &[("transactional.id", id)]))
}

fn open(rig: &KafkaRig, channel: &Channel) -> Publishing {
    Publishing::to(&Connector, channel, rig.topic.clone(), 10_000)
}

fn send(publishing: &mut Publishing, numbers: std::ops::Range<u64>) {
    for number in numbers {
        publishing.send(&Message::numbered(number)).unwrap();
    }
}

#[test]
fn transactions_are_seen_by_consumers_once_committed() {
    let rig = KafkaRig::new();
    let listener = Listener::open(&rig, None);
    let mut publishing = open(&rig, &transactional(&rig, &rig.topic));
    send(&mut publishing, 0..2_000);
    publishing.settle();
    assert_eq!(publishing.failures(), Vec::<String>::new());
    // More than fit into one: several transactions.
    send(&mut publishing, 2_000..2_001);
    publishing.settle();
    listener.wait_for_messages(2_001);
    listener.wait_for_watermark(sojourn_clock::now_ns());
    let (_tap, book) = listener.stop();
    let mut numbers = book.numbers(&rig);
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..2_001));
    // The ends of a topic count markers too: some, but not one for each message.
    let client: BaseConsumer = rig.client().create().unwrap();
    let ends: i64 = (0..PARTITIONS)
        .map(|partition| {
            let timeout = std::time::Duration::from_secs(30);
            client.fetch_watermarks(&rig.topic, partition, timeout).unwrap().1
        })
        .sum();
    assert!((2_002..3_000).contains(&ends), "{ends}");
}

#[test]
fn a_second_publisher_of_the_same_id_fences_the_first() {
    let rig = KafkaRig::new();
    let channel = transactional(&rig, &rig.topic);
    let mut first = open(&rig, &channel);
    send(&mut first, 0..1);
    first.settle();
    let mut second = open(&rig, &channel);
    send(&mut second, 1..2);
    second.settle();
    assert_eq!((first.acked(), second.acked()), (vec![0], vec![1]));
    send(&mut first, 2..12);
    first.settle();
    assert_eq!(first.failures().len(), 10, "{:?}", first.failures());
    send(&mut second, 12..13);
    second.settle();
    assert_eq!(second.acked(), [1, 12]);
}

#[test]
fn publishers_of_one_run_have_ids_of_their_own() {
    let rig = KafkaRig::new();
    let channel = transactional(&rig, &rig.topic);
    let member = |member| {
        let how = PublisherSettings { member, ..PublisherSettings::default() };
        Publishing::with(&Connector, &channel, rig.topic.clone(), how)
    };
    let mut members = [member(0), member(1), member(2)];
    // In turn, twice: a fenced one would fail at its second.
    for number in 0..6 {
        let publishing = &mut members[number as usize % 3];
        send(publishing, number..number + 1);
        publishing.settle();
        assert_eq!(publishing.failures(), Vec::<String>::new());
    }
    assert_eq!(members.map(|it| it.acked()), [vec![0, 3], vec![1, 4], vec![2, 5]]);
}

#[test]
fn fewer_acknowledgements_are_to_be_had_by_asking_for_them() {
    let rig = KafkaRig::new();
    let brokers = rig.address().to_string();
    for acks in ["1", "0", "all"] {
        let mut publishing = open(&rig, &channel(rig.settings(&brokers, &[("acks", acks)])));
        send(&mut publishing, 0..10);
        publishing.settle();
        assert_eq!((publishing.failures().len(), publishing.acked().len()), (0, 10), "{acks}");
    }
    // Both can't be had.
    let both = rig.settings(&brokers, &[("acks", "1"), ("enable.idempotence", "true")]);
    let made = Connector.publisher(&channel(both), PublisherSettings::default());
    let Err(error) = made else { panic!("it is idempotent with one acknowledgement") };
    assert!(error.message.contains("acks"), "{error:?}");
}

#[test]
fn transactions_go_on_after_the_server_was_killed() {
    let mut rig = KafkaRig::new();
    let mut publishing = open(&rig, &transactional(&rig, &rig.topic));
    send(&mut publishing, 0..100);
    publishing.settle();
    send(&mut publishing, 100..600);
    rig.kill();
    rig.restart();
    publishing.settle();
    let mut number = 1_000;
    wait_until("a message is acknowledged again", || {
        number += 1;
        send(&mut publishing, number..number + 1);
        publishing.settle();
        println!("{number}: {:?}", publishing.failures().last());
        publishing.acked().contains(&number)
    });
    let committed = committed(&rig);
    for number in publishing.acked() {
        assert_eq!(committed.iter().filter(|it| **it == number).count(), 1, "{number}");
    }
    // What failed was never committed: a transaction is all or none.
    let failed = publishing.fates.len() - publishing.acked().len();
    assert_eq!(committed.len(), publishing.acked().len(), "{failed} failed");
}

/// Numbers that consumers of committed messages see.
fn committed(rig: &KafkaRig) -> Vec<u64> {
    let mut config = rig.client();
    config.set("group.id", "committed").set("enable.partition.eof", "true");
    config.set("isolation.level", "read_committed").set("enable.auto.commit", "false");
    let client: BaseConsumer = config.create().unwrap();
    let mut partitions = TopicPartitionList::new();
    partitions.add_partition_range(&rig.topic, 0, PARTITIONS - 1);
    partitions.set_all_offsets(Offset::Beginning).unwrap();
    client.assign(&partitions).unwrap();
    let (mut numbers, mut ended) = (Vec::new(), 0);
    wait_until("all partitions read", || {
        match client.poll(std::time::Duration::from_secs(1)) {
            Some(Ok(message)) => {
                let payload: serde_json::Value =
                    serde_json::from_slice(message.payload().unwrap()).unwrap();
                numbers.extend(payload["n"].as_u64());
            }
            Some(Err(rdkafka::error::KafkaError::PartitionEOF(_))) => ended += 1,
            _ => {}
        }
        ended == PARTITIONS
    });
    numbers
}

#[test]
fn a_message_that_is_too_large_is_refused_and_the_others_go() {
    let rig = KafkaRig::new();
    let brokers = rig.address().to_string();
    let properties = [("message.max.bytes", "5000000")];
    let mut publishing = open(&rig, &channel(rig.settings(&brokers, &properties)));
    send(&mut publishing, 0..1);
    // Larger than the broker takes.
    publishing.send(&Message::with_payload(1, vec![b'x'; 3_000_000])).unwrap();
    send(&mut publishing, 2..3);
    publishing.settle();
    assert_eq!(publishing.acked(), [0, 2]);
    assert!(publishing.failures()[0].contains("too large"), "{:?}", publishing.failures());
    // And larger than librdkafka takes.
    let refused = publishing.send(&Message::with_payload(3, vec![b'x'; 6_000_000])).unwrap_err();
    assert!(refused.contains("too large"), "{refused}");
}
