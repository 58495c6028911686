//! The lag of several groups in several topics, told apart by `GROUP TOPIC`.

use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::{Offset, TopicPartitionList};
use sojourn_broker::{Backlog, BrokerError, Connect as _, Figure, Reading};
use sojourn_broker_kafka::Kafka as Connector;
use sojourn_conformance::wait_until;

use crate::rig::{KafkaRig, PARTITIONS, channel};

const PATIENCE: Duration = Duration::from_secs(30);

/// A group that has committed these offsets of a topic's first partitions, and nothing of the others.
fn commit(rig: &KafkaRig, group: &str, topic: &str, offsets: &[i64]) {
    let client: BaseConsumer = rig.client().set("group.id", group).create().unwrap();
    let mut done = TopicPartitionList::new();
    for (partition, offset) in (0..).zip(offsets) {
        done.add_partition_offset(topic, partition, Offset::Offset(*offset)).unwrap();
    }
    // The first group of a server waits for the topic of the offsets.
    wait_until("the group's offsets", || client.commit(&done, CommitMode::Sync).is_ok());
}

/// Sends so many messages to each partition of a topic.
fn fill(rig: &KafkaRig, topic: &str, counts: [i64; PARTITIONS as usize]) {
    let producer: BaseProducer = rig.client().create().unwrap();
    for (partition, count) in (0..).zip(counts) {
        for _ in 0..count {
            let record = BaseRecord::<[u8], [u8]>::to(topic).partition(partition).payload(b"{}");
            producer.send(record).unwrap();
        }
    }
    producer.flush(PATIENCE).unwrap();
}

/// What is read once, in the order in which it is told, and the error.
fn read(backlog: &mut dyn Backlog) -> (Vec<(String, f64)>, Option<BrokerError>) {
    let mut readings = Vec::new();
    let error = backlog.read(PATIENCE, &mut readings).err();
    let told = readings.into_iter().map(|Reading { of, figure, value }| {
        assert_eq!(figure, Figure::Waiting, "{of}");
        (of, value)
    });
    (told.collect(), error)
}

/// The reader of these groups in these topics.
fn reader(rig: &KafkaRig, topics: &[&str], groups: &[&str]) -> Box<dyn Backlog> {
    let mut settings = rig.settings(&rig.kafka.bootstrap(), &[]);
    settings.topics = topics.iter().map(|topic| (*topic).to_owned()).collect();
    let mut channel = channel(settings);
    channel.backlog = groups.iter().map(|group| (*group).to_owned()).collect();
    Connector.backlog(&channel).unwrap().unwrap()
}

#[test]
fn several_groups_in_several_topics_are_told_apart() {
    let rig = KafkaRig::new();
    let (orders, refunds) = (rig.topic.clone(), format!("{}.refunds", rig.topic));
    rig.create(&refunds);
    fill(&rig, &orders, [5, 7, 11]);
    fill(&rig, &refunds, [2, 0, 1]);
    let name = |group: &str| format!("{group}-{orders}");
    let (billing, shipping) = (name("billing"), name("shipping"));
    commit(&rig, &billing, &orders, &[0, 0, 0]);
    commit(&rig, &billing, &refunds, &[2, 0, 1]);
    commit(&rig, &shipping, &orders, &[5, 3, 10]);
    // Partitions of which it has committed nothing do not count.
    commit(&rig, &shipping, &refunds, &[1]);
    let mut both = reader(&rig, &[&orders, &refunds], &[&billing, &shipping]);
    let of = |group: &str, topic: &str, lag: u32| (format!("{group} {topic}"), f64::from(lag));
    let expected = vec![
        of(&billing, &orders, 23),
        of(&billing, &refunds, 0),
        of(&shipping, &orders, 5),
        of(&shipping, &refunds, 1),
    ];
    assert_eq!(read(&mut *both), (expected, None));

    // More comes, and one of them works.
    fill(&rig, &orders, [1, 0, 2]);
    fill(&rig, &refunds, [4, 4, 4]);
    commit(&rig, &billing, &orders, &[6, 7, 3]);
    let expected = vec![
        of(&billing, &orders, 10),
        of(&billing, &refunds, 12),
        of(&shipping, &orders, 8),
        of(&shipping, &refunds, 5),
    ];
    assert_eq!(read(&mut *both), (expected, None));

    // In one topic a group's name says all, and a topic that is named twice is one.
    for topics in [&[&*orders][..], &[&*orders, &*orders]] {
        let mut one = reader(&rig, topics, &[&shipping, &billing]);
        let expected = vec![(shipping.clone(), 8.0), (billing.clone(), 10.0)];
        assert_eq!(read(&mut *one), (expected, None));
    }
}

/// The others are told nevertheless.
#[test]
fn a_group_that_has_committed_nothing_does_not_keep_the_others_back() {
    let rig = KafkaRig::new();
    fill(&rig, &rig.topic, [3, 0, 1]);
    let (known, nobody) = (format!("known-{}", rig.topic), format!("nobody-{}", rig.topic));
    commit(&rig, &known, &rig.topic, &[1, 0, 0]);
    let (told, error) = read(&mut *reader(&rig, &[&rig.topic], &[&nobody, &known]));
    assert_eq!(told, [(known, 3.0)]);
    let error = error.unwrap();
    let said = format!("group `{nobody}` has committed nothing of topic `{}`", rig.topic);
    assert!(error.message.contains(&said), "{error}");
}
