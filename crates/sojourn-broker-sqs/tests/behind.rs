//! A consumer of a queue that is behind.

use std::time::Duration;

use sojourn_broker::{Connect, Start};
use sojourn_broker_sqs::Sqs;
use sojourn_conformance::{Message, Rig, wait_until};

use crate::client::{send, unacknowledged};
use crate::own::Seen;
use crate::rig::{SqsRig, channel};

/// It has further messages fetched while those of one answer are worked on, commits many at once,
/// and takes nothing with it.
#[test]
fn a_consumer_asks_for_more_while_answers_are_full() {
    let rig = SqsRig::standard();
    let (server, url) = (rig.address(), rig.make("behind"));
    let messages: Vec<_> = (0..200).map(Message::numbered).collect();
    send(server, &url, &messages);
    let mut consumer =
        Sqs.consumer(&channel(rig.sqs("events", None)), "behind", Start::Latest).unwrap();
    let mut seen = Seen::default();
    let mut take = |most: usize| {
        consumer.consume(most, Duration::from_secs(5), &mut seen).unwrap();
        seen.0.len()
    };
    let in_flight = || unacknowledged(server, &url)[1].1 as usize;
    // Who takes one at a time has no more than one answer fetched.
    assert_eq!((take(1), take(1)), (1, 2));
    assert_eq!(in_flight(), 10);
    let mut taken = 0;
    wait_until("more is fetched than is taken", || {
        taken = take(1_000);
        std::thread::sleep(Duration::from_millis(50));
        in_flight() > taken
    });
    assert!(taken < 200 && taken > 10, "{taken}");
    consumer.commit().unwrap();
    consumer.leave();
    let left = (200 - taken) as u64;
    wait_until("the rest is given back", || {
        unacknowledged(server, &url) == [("visible", left), ("in flight", 0)]
    });
    let mut payloads: Vec<_> = seen.0.iter().map(|(payload, _)| payload.clone()).collect();
    payloads.sort();
    payloads.dedup();
    assert_eq!(payloads.len(), taken);
}
