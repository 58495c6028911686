//! Members of a group.

use sojourn_broker::{Consumer as _, Start};

use super::*;
use crate::KafkaConsumer;

/// The mock lets a group settle for three seconds at first, for a session's time-out afterwards.
const SETTLING_NS: u64 = 60 * SECOND_NS;

fn member(cluster: &Cluster, group: &str) -> KafkaConsumer {
    let mut settings = settings(&cluster.bootstrap_servers(), &["events"]);
    settings.properties = [("session.timeout.ms", "6000"), ("heartbeat.interval.ms", "500")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    KafkaConsumer::new(&settings, group, Start::Earliest).unwrap()
}

/// Lets members consume, one after the other, until this holds.
fn until(
    members: &mut [(KafkaConsumer, Collect)],
    done: impl Fn(&[(KafkaConsumer, Collect)]) -> bool,
) {
    let deadline_ns = now_ns() + SETTLING_NS;
    while !done(members) {
        assert!(now_ns() < deadline_ns, "in time");
        for (member, seen) in &mut *members {
            let before = seen.0.len();
            let taken = member.consume(7, Duration::from_millis(20), seen).unwrap();
            assert_eq!(taken, seen.0.len() - before);
            assert!(taken <= 7);
        }
    }
}

fn payloads<'s>(seen: impl IntoIterator<Item = &'s Seen>) -> Vec<&'s str> {
    let mut payloads: Vec<_> = seen.into_iter().map(|seen| seen.payload.as_str()).collect();
    payloads.sort_unstable();
    payloads
}

fn publish_numbers(cluster: &Cluster, numbers: std::ops::Range<u32>) -> Vec<String> {
    let texts: Vec<String> = numbers.map(|number| format!("{number:03}")).collect();
    let messages: Vec<_> = texts.iter().map(|text| (text.as_str(), text.as_str())).collect();
    publish(&mut publisher(cluster), "events", &messages);
    texts
}

#[test]
fn members_share_the_partitions_and_take_each_message_once() {
    let cluster = cluster(&[("events", 4)]);
    let two = || (member(&cluster, "g"), Collect::default());
    let mut members = [two(), two()];
    until(&mut members, |members| members.iter().all(|(member, _)| member.assigned() == 2));
    let sent = publish_numbers(&cluster, 0..60);
    until(&mut members, |members| {
        members.iter().map(|(_, seen)| seen.0.len()).sum::<usize>() >= sent.len()
    });
    let seen = members.iter().flat_map(|(_, seen)| &seen.0);
    assert_eq!(payloads(seen), sent);
    assert!(members.iter().all(|(_, seen)| !seen.0.is_empty()));
    let first = &members[0].1.0[0];
    assert!(first.stamp_ns > 0 && first.key.is_some() && first.position.is_none());
    assert_eq!(first.headers[0], ("sojourn-run".to_owned(), b"r1".to_vec()));
}

#[test]
fn what_was_not_committed_comes_again() {
    let cluster = cluster(&[("events", 1)]);
    let sent = publish_numbers(&cluster, 0..20);
    let take = |commit_at: usize, leave_at: usize| {
        let mut member = member(&cluster, "g");
        let mut seen = Collect::default();
        let deadline_ns = now_ns() + SETTLING_NS;
        while seen.0.len() < leave_at && now_ns() < deadline_ns {
            let left = if seen.0.len() < commit_at { commit_at } else { leave_at } - seen.0.len();
            member.consume(left, Duration::from_millis(50), &mut seen).unwrap();
            if seen.0.len() == commit_at {
                member.commit().unwrap();
            }
        }
        assert_eq!(seen.0.len(), leave_at, "in time");
        member.leave();
        assert_eq!(member.assigned(), 0);
        assert!(member.consume(1, Duration::ZERO, &mut seen).is_err());
        assert!(member.commit().is_err());
        seen.0
    };
    assert_eq!(payloads(&take(5, 8)), sent[..8]);
    assert_eq!(payloads(&take(10, 10)), sent[5..15], "from the fifth, the last committed");
    assert_eq!(payloads(&take(5, 5)), sent[15..]);
}

#[test]
fn a_group_that_committed_nothing_begins_where_it_is_told() {
    let cluster = cluster(&[("events", 1)]);
    publish_numbers(&cluster, 0..5);
    let settings = settings(&cluster.bootstrap_servers(), &["events"]);
    let latest = KafkaConsumer::new(&settings, "late", Start::Latest).unwrap();
    let mut members = [(latest, Collect::default())];
    until(&mut members, |members| members[0].0.assigned() == 1);
    members[0].0.commit().unwrap();
    // Published until one comes: the member looks for the end some time after it was assigned.
    let deadline_ns = now_ns() + SETTLING_NS;
    while members[0].1.0.is_empty() && now_ns() < deadline_ns {
        publish_numbers(&cluster, 100..101);
        let (member, seen) = &mut members[0];
        member.consume(10, Duration::from_millis(100), seen).unwrap();
    }
    assert!(!members[0].1.0.is_empty());
    assert!(members[0].1.0.iter().all(|seen| seen.payload == "100"));
}

#[test]
fn a_member_says_what_is_wrong_without_secrets() {
    let mut refused = settings("127.0.0.1:1", &["events"]);
    refused.properties = vec![("security.protocol".to_owned(), "hunter2".to_owned())];
    let error = KafkaConsumer::new(&refused, "g", Start::Latest).unwrap_err();
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    let none = KafkaConsumer::new(&settings("127.0.0.1:1", &[]), "g", Start::Latest);
    assert!(none.is_err(), "no topics");
}
