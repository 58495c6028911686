//! Topics of a real server: what the tap makes and removes, what deliveries look like, publishing.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sojourn_broker::{Connect, Start};
use sojourn_broker_sqs::Sqs;
use sojourn_conformance::{Message, Publishing, Rig};
use sojourn_plan::{SqsChannel, SqsSource};

use crate::client::{ask, create, numbers_of, queues, take};
use crate::own::take_from;
use crate::rig::channel;
use crate::sns_client::{publish, query, subscribe, subscribed, texts};
use crate::sns_rig::SnsRig;

type Header<'a> = (&'a str, &'a [u8]);

/// The tap reads a queue of its own, whatever the system's queues are sent; at the end nothing is
/// left of it and nothing else is touched.
#[test]
fn a_queue_is_made_subscribed_and_removed() {
    let rig = SnsRig::standard();
    let server = rig.address();
    let own = create(server, "billing", json!({}));
    // The system's own queue gets a part only.
    subscribe(server, &rig.topic, &own, &[("FilterPolicy", r#"{"number":["7"]}"#)]);
    let before = (queues(server), subscribed(server));
    let mut tap = rig.connector().tap(&rig.channel(None)).unwrap();
    let info = tap.open().unwrap();
    assert!(info.listens_to.contains(&rig.topic), "{}", info.listens_to);

    let made: Vec<_> = queues(server).into_iter().filter(|url| !before.0.contains(url)).collect();
    assert!(made.len() == 1 && made[0].contains("/sojourn-tap-"), "{made:?}");
    let asked = json!({ "QueueUrl": made[0], "AttributeNames": ["All"] });
    let attributes = ask(server, "GetQueueAttributes", &asked)["Attributes"].clone();
    assert_eq!(attributes["MessageRetentionPeriod"], "3600");
    let policy = attributes["Policy"].as_str().unwrap();
    let policy: Value = serde_json::from_str(policy).unwrap();
    let condition = &policy["Statement"][0]["Condition"]["ArnEquals"]["aws:SourceArn"];
    assert_eq!(condition, rig.topic.as_str());
    let tags = ask(server, "ListQueueTags", &json!({ "QueueUrl": made[0] }));
    assert_eq!(tags["Tags"]["sojourn"], "tap");
    let arn = attributes["QueueArn"].as_str().unwrap().to_owned();
    let new: Vec<_> =
        subscribed(server).into_iter().filter(|queue| !before.1.contains(queue)).collect();
    assert_eq!(new, [arn]);

    let messages: Vec<_> = (0..10).map(Message::numbered).collect();
    publish(server, &rig.topic, &messages);
    let mut seen = take_from(tap.as_mut(), 10).0;
    seen.sort();
    let mut sent: Vec<_> = messages.into_iter().map(|message| message.payload).collect();
    sent.sort();
    assert_eq!(seen.into_iter().map(|(payload, _)| payload).collect::<Vec<_>>(), sent);
    drop(tap);
    assert_eq!((queues(server), subscribed(server)), before, "nothing is left behind");
    let taken = take(server, &own, 10, 1);
    assert!(taken.len() == 1 && taken[0]["MessageAttributes"]["number"]["Value"] == "7");
}

/// Which topic is not there is said, and the queue that was made for it is gone again.
#[test]
fn nothing_is_left_behind_of_a_topic_that_is_not_there() {
    let rig = SnsRig::standard();
    let before = (queues(rig.address()), subscribed(rig.address()));
    let missing = format!("{}x", rig.topic);
    let mut tap = Sqs.tap(&channel(rig.sns(&missing, None))).unwrap();
    let error = tap.open().unwrap_err();
    assert!(error.message.contains("no topic") && error.message.contains(&missing), "{error}");
    drop(tap);
    assert_eq!((queues(rig.address()), subscribed(rig.address())), before);
    let mut publishing =
        Publishing::to(&Sqs, &channel(rig.sns(&missing, None)), missing.clone(), 10);
    publishing.send(&Message::numbered(1)).unwrap();
    publishing.settle();
    assert_eq!(publishing.failures(), ["refused: NotFound"]);
}

/// A queue that the user subscribed gives the same, whether SNS wraps what it sends or not. Bytes
/// are sent wrapped only: raw, this server fails by them.
#[test]
fn raw_and_wrapped_are_the_same() {
    let rig = SnsRig::standard();
    let server = rig.address();
    let headers: [Header<'_>; 3] =
        [("text", "grün & <b>".as_bytes()), ("message-id", b"own-1"), ("bytes", &[0, 255])];
    let payload = r#"{"n":1,"text":"a&b=c <d> ü"}"#.as_bytes();
    let tap_of = |name: &str, attributes: &[(&str, &str)]| {
        let url = create(server, name, json!({}));
        subscribe(server, &rig.topic, &url, attributes);
        let source = SqsSource::Queue(name.to_owned());
        let mut tap =
            Sqs.tap(&channel(SqsChannel { source, ..rig.sns(&rig.topic, None) })).unwrap();
        tap.open().unwrap();
        tap
    };
    let said = |headers: &[(String, Vec<u8>)]| -> BTreeMap<String, Vec<u8>> {
        headers.iter().cloned().collect()
    };
    let publish = |headers: &[Header<'_>], token| {
        let how = sojourn_broker::PublisherSettings::default();
        let mut publisher = Sqs.publisher(&rig.channel(None), how).unwrap();
        publisher.try_publish(token, &rig.topic, Some(b"key-1"), headers, payload).unwrap();
        let mut outcomes = Vec::new();
        sojourn_conformance::wait_until("its outcome", || {
            publisher.poll(&mut outcomes);
            !outcomes.is_empty()
        });
        assert_eq!(outcomes[0].error, None);
    };
    let mut wrapped = tap_of("wrapped", &[]);
    publish(&headers, 1);
    let (came, told) = take_from(wrapped.as_mut(), 1).0.remove(0);
    assert_eq!(came, payload);
    let told = said(&told);
    for (name, value) in headers {
        assert_eq!(told.get(name).map(Vec::as_slice), Some(value), "{name}");
    }
    let mut raw = tap_of("raw", &[("RawMessageDelivery", "true")]);
    publish(&headers[..2], 2);
    let (came, told) = take_from(raw.as_mut(), 1).0.remove(0);
    assert_eq!(came, payload);
    let told = said(&told);
    for (name, value) in &headers[..2] {
        assert_eq!(told.get(*name).map(Vec::as_slice), Some(*value), "{name}");
    }
}

/// What SNS itself makes of a message that we publish: text, key and headers with their types.
#[test]
fn a_message_is_published_as_sns_has_it() {
    let rig = SnsRig::standard();
    let url = create(rig.address(), "wrapped", json!({}));
    subscribe(rig.address(), &rig.topic, &url, &[]);
    let mut publishing = Publishing::open(&rig, None, 10);
    let mut message = Message::numbered(3);
    message.headers.push(("bytes".to_owned(), vec![0, 255]));
    // Only the queue that is sent its messages wrapped takes bytes.
    for subscription in subscriptions_of(&rig, "store") {
        let pairs = [("Action", "Unsubscribe"), ("SubscriptionArn", &*subscription)];
        query(rig.address(), "sns", &pairs);
    }
    publishing.send(&message).unwrap();
    publishing.settle();
    assert_eq!((publishing.acked(), publishing.failures()), (vec![3], Vec::new()));
    let notification = take(rig.address(), &url, 1, 1).remove(0);
    assert_eq!(notification["TopicArn"], rig.topic.as_str());
    assert_eq!(notification["Message"].as_str().unwrap().as_bytes(), message.payload);
    let attributes = json!({
        "sojourn-run": { "Type": "String", "Value": "conformance" },
        "number": { "Type": "String", "Value": "3" },
        "message-key": { "Type": "String", "Value": "key-3" },
        "bytes": { "Type": "Binary", "Value": "AP8=" },
    });
    assert_eq!(notification["MessageAttributes"], attributes);
}

/// The subscriptions that send to a queue, by their ARNs.
fn subscriptions_of(rig: &SnsRig, queue: &str) -> Vec<String> {
    let all = query(rig.address(), "sns", &[("Action", "ListSubscriptions")]);
    let all = texts(&all, "member").into_iter();
    let of_queue = all.filter(|member| texts(member, "Endpoint")[0].ends_with(queue));
    of_queue.map(|member| texts(&member, "SubscriptionArn").remove(0)).collect()
}

/// SNS takes less than SQS: what is too long for it fails alone, in its words.
#[test]
fn what_sns_does_not_take_is_an_outcome() {
    let rig = SnsRig::standard();
    let mut publishing = Publishing::open(&rig, None, 10);
    publishing.send(&Message::numbered(0)).unwrap();
    publishing.send(&Message::padded(1, 300_000)).unwrap();
    publishing.send(&Message::numbered(2)).unwrap();
    publishing.settle();
    assert_eq!(publishing.acked(), [0, 2]);
    assert_eq!(publishing.failures(), ["refused: InvalidParameter"]);
}

/// A group keeps its order, equal payloads are not taken for one, and one id twice is. Looked at is
/// what the topic has sent on, by one reader: to two at a time this server gives a group's messages
/// without regard to who has the ones before.
#[test]
fn groups_keep_their_order() {
    let rig = SnsRig::fifo();
    let mut publishing = Publishing::open(&rig, None, 1_000);
    let mut messages: Vec<_> = (0..60).map(Message::numbered).collect();
    for message in &mut messages {
        message.payload = br#"{"same":true}"#.to_vec();
    }
    let mut twice = Message::numbered(60);
    twice.headers.push(("message-id".to_owned(), b"once".to_vec()));
    messages.push(twice.clone());
    messages.push(Message { number: 61, ..twice });
    messages.push(Message::numbered(62));
    for message in &messages {
        publishing.send(message).unwrap();
    }
    publishing.settle();
    assert_eq!(publishing.failures(), Vec::<String>::new());
    let mut last = BTreeMap::new();
    let mut numbers = Vec::new();
    for number in numbers_of(rig.address(), &rig.store) {
        let before = last.insert(number % 7, number);
        assert!(before.is_none_or(|before| before < number), "{before:?} {number}");
        numbers.push(number);
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (0..=60).chain([62]).collect::<Vec<_>>());
}

/// What a demo needs is made: the topic, and a queue for the group that gets its messages.
#[test]
fn topics_are_provided() {
    let rig = SnsRig::standard();
    let topic = rig.topic.replace("events", "made");
    let made = channel(rig.sns(&topic, None));
    Sqs.provision(&made, "workers").unwrap();
    Sqs.provision(&made, "workers").unwrap();
    let mut publishing = Publishing::to(&Sqs, &made, topic.clone(), 10);
    publishing.send(&Message::numbered(7)).unwrap();
    publishing.settle();
    assert_eq!(publishing.acked(), [7]);
    let mut consumer = Sqs.consumer(&made, "workers", Start::Latest).unwrap();
    let mut seen = crate::own::Seen::default();
    sojourn_conformance::wait_until("the worker's copy", || {
        consumer.consume(10, std::time::Duration::from_millis(100), &mut seen).unwrap() > 0
    });
    consumer.commit().unwrap();
    assert_eq!(seen.0[0].0, Message::numbered(7).payload);
    let elsewhere = topic.replace("123456789012", "999999999999");
    let error = Sqs.provision(&channel(rig.sns(&elsewhere, None)), "workers").unwrap_err();
    assert!(error.message.contains("it became"), "{error}");
}
