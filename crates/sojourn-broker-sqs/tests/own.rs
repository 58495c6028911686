//! What only this connector does.

use std::time::Duration;

use serde_json::json;
use sojourn_broker::{Connect, Consumer, Figure, RawMessage, Sink, Start, Tap};
use sojourn_broker_sqs::{FEATURE, Sqs};
use sojourn_conformance::{Message, Publishing, Rig, wait_until};

use crate::client::{ask, create, queues, send, take};
use crate::rig::{SqsRig, channel};

type Headers = Vec<(String, Vec<u8>)>;

/// Payloads and headers.
#[derive(Default)]
pub(crate) struct Seen(pub(crate) Vec<(Vec<u8>, Headers)>);

impl Sink for Seen {
    fn message(&mut self, message: &RawMessage<'_>) {
        let headers = message.headers.iter();
        let headers = headers.map(|(name, value)| ((*name).to_owned(), value.to_vec())).collect();
        self.0.push((message.payload.to_vec(), headers));
    }
}

pub(crate) fn take_from(tap: &mut dyn Tap, count: usize) -> Seen {
    let mut seen = Seen::default();
    wait_until("the messages", || {
        tap.poll(Duration::from_millis(20), &mut seen).unwrap();
        seen.0.len() >= count
    });
    seen
}

/// A message that is given out again is seen once: here because its deletion came too late.
#[test]
fn what_comes_twice_is_seen_once() {
    let rig = SqsRig::standard();
    let mut tap = rig.connector().tap(&rig.channel(None)).unwrap();
    tap.open().unwrap();
    let url = rig.url("events");
    send(rig.address(), &url, &[Message::numbered(1)]);
    let slow = &mut Slow(Vec::new(), &rig, url.clone());
    wait_until("the first", || {
        tap.poll(Duration::from_millis(20), slow).unwrap();
        slow.0.len() == 1
    });
    send(rig.address(), &url, &[Message::numbered(2)]);
    wait_until("the second", || {
        tap.poll(Duration::from_millis(20), slow).unwrap();
        slow.0.len() == 2
    });
    assert_ne!(slow.0[0], slow.0[1]);
    wait_until("both are deleted", || {
        tap.poll(Duration::from_millis(20), slow).unwrap();
        let asked = json!({ "QueueUrl": url, "AttributeNames": ["All"] });
        let all = ask(rig.address(), "GetQueueAttributes", &asked);
        let zero = |name: &str| all["Attributes"][name] == "0";
        zero("ApproximateNumberOfMessages") && zero("ApproximateNumberOfMessagesNotVisible")
    });
    assert_eq!(slow.0.len(), 2);
}

/// Keeps the tap inside of its sink until the message is given out again.
struct Slow<'a>(Vec<Vec<u8>>, &'a SqsRig, String);

impl Sink for Slow<'_> {
    fn message(&mut self, message: &RawMessage<'_>) {
        self.0.push(message.payload.to_vec());
        if self.0.len() == 1 {
            wait_until("it is visible again", || {
                let asked = json!({ "QueueUrl": self.2, "AttributeNames": ["All"] });
                let all = ask(self.1.address(), "GetQueueAttributes", &asked);
                all["Attributes"]["ApproximateNumberOfMessages"] == "1"
            });
        }
    }
}

/// A queue that somebody else reads is refused, and its messages are left alone.
#[test]
fn a_queue_in_use_is_refused() {
    let rig = SqsRig::standard();
    let url = rig.url("events");
    send(rig.address(), &url, &[Message::numbered(1)]);
    let asked = json!({ "QueueUrl": url, "VisibilityTimeout": 600 });
    let taken = ask(rig.address(), "ReceiveMessage", &asked);
    assert_eq!(taken["Messages"].as_array().unwrap().len(), 1);
    let mut tap = rig.connector().tap(&rig.channel(None)).unwrap();
    let error = tap.open().unwrap_err();
    assert!(error.message.contains("1 messages in flight"), "{error}");
    assert!(error.hint.unwrap().contains("make a queue for the test"));
}

/// Numbers, texts and bytes are headers; a notification of SNS is unwrapped.
#[test]
fn attributes_and_notifications() {
    let rig = SqsRig::standard();
    let mut tap = rig.connector().tap(&rig.channel(None)).unwrap();
    tap.open().unwrap();
    let notification = json!({
        "Type": "Notification", "MessageId": "sns-1", "TopicArn": "arn:aws:sns:x:1:t",
        "Message": "{\"n\":3}", "Timestamp": "2026-01-01T00:00:00.000Z",
        "MessageAttributes": { "run": { "Type": "String", "Value": "r" } },
    });
    let message = json!({
        "QueueUrl": rig.url("events"), "MessageBody": notification.to_string(),
        "MessageAttributes": {
            "number": { "DataType": "Number", "StringValue": "12.5" },
            "bytes": { "DataType": "Binary", "BinaryValue": "AP8=" },
        },
    });
    ask(rig.address(), "SendMessage", &message);
    let seen = take_from(tap.as_mut(), 1);
    let (payload, headers) = &seen.0[0];
    assert_eq!(payload, br#"{"n":3}"#);
    for (name, value) in [
        ("number", b"12.5".as_slice()),
        ("bytes", &[0, 255]),
        ("run", b"r"),
        ("message-id", b"sns-1"),
    ] {
        let found = headers.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        assert_eq!(found.map(Vec::as_slice), Some(value), "{name}");
    }
}

/// One message of a batch that the server refuses fails; the others are there.
#[test]
fn a_part_of_a_batch_can_fail() {
    let mut rig = SqsRig::standard();
    let mut publishing = Publishing::open(&rig, None, 100);
    let mut messages: Vec<_> = (0..9).map(Message::numbered).collect();
    messages[4].headers.push(("aws.forbidden".to_owned(), b"x".to_vec()));
    for message in &messages {
        publishing.send(message).unwrap();
    }
    publishing.settle();
    let mut stored = rig.stored().unwrap();
    stored.sort_unstable();
    assert_eq!(stored, publishing.acked(), "{:?}", publishing.failures());
    assert!(publishing.acked().len() >= 8);
    let refused = publishing.send(&Message::with_payload(20, vec![0xff])).unwrap_err();
    assert!(refused.contains("UTF-8"), "{refused}");
}

/// A queue that is not there is each message's outcome.
#[test]
fn a_missing_queue_is_an_outcome() {
    let rig = SqsRig::standard();
    let mut sqs = rig.sqs("nowhere", None);
    sqs.publish.clear();
    let mut publishing = Publishing::to(&Sqs, &channel(sqs), "nowhere".to_owned(), 10);
    publishing.send(&Message::numbered(1)).unwrap();
    publishing.settle();
    let failures = publishing.failures();
    assert!(failures.len() == 1 && failures[0].contains("QueueDoesNotExist"), "{failures:?}");
}

/// What a demo needs is made, and made again is no error; the consumer takes from its group.
#[test]
fn queues_are_provided() {
    let rig = SqsRig::standard();
    let mut sqs = rig.sqs("made", None);
    sqs.publish = vec!["made".to_owned(), "workers".to_owned()];
    let made = channel(sqs);
    Sqs.provision(&made, "workers").unwrap();
    Sqs.provision(&made, "workers").unwrap();
    let names = queues(rig.address());
    assert!(names.iter().any(|url| url.ends_with("/made")), "{names:?}");
    let mut publishing = Publishing::to(&Sqs, &made, "made".to_owned(), 10);
    publishing.send(&Message::numbered(7)).unwrap();
    publishing.settle();
    assert_eq!(publishing.acked(), [7]);
    let mut consumer: Box<dyn Consumer> = Sqs.consumer(&made, "workers", Start::Latest).unwrap();
    let mut seen = Seen::default();
    wait_until("the worker's copy", || {
        consumer.consume(10, Duration::from_millis(100), &mut seen).unwrap() > 0
    });
    consumer.commit().unwrap();
    let copy = take(rig.address(), &rig.url("made"), 10, 1);
    assert_eq!(copy[0]["n"], 7);
    assert_eq!(FEATURE, made.connector.word());
}

/// The group of a key keeps its order, and equal payloads are not taken for one.
/// A message taken too often goes to the dead letter queue, whose depth is told as any queue's.
#[test]
fn what_is_in_flight_and_what_was_given_up_is_told() {
    let rig = SqsRig::standard();
    let server = rig.address();
    rig.make("dead");
    let arn = "arn:aws:sqs:us-east-1:000000000000:dead";
    let policy = json!({ "deadLetterTargetArn": arn, "maxReceiveCount": 1 }).to_string();
    let work = create(server, "work", json!({ "RedrivePolicy": policy }));
    send(server, &work, &[Message::numbered(0), Message::numbered(1), Message::numbered(2)]);
    let mut channel = channel(rig.sqs("events", None));
    channel.backlog = vec!["work".to_owned(), "dead".to_owned()];
    let mut backlog = rig.connector().backlog(&channel).unwrap().unwrap();
    let mut wait_for_figures = |expect: [f64; 4]| {
        let (waiting, taken) = (Figure::Waiting, Figure::Unacknowledged);
        let names = [("work", waiting), ("work", taken), ("dead", waiting), ("dead", taken)];
        let mut told = Vec::new();
        wait_until("the queues' figures", || {
            told.clear();
            backlog.read(Duration::from_secs(10), &mut told).unwrap();
            let figures =
                told.iter().map(|reading| ((&*reading.of, reading.figure), reading.value));
            figures.eq(names.into_iter().zip(expect))
        });
    };
    wait_for_figures([3.0, 0.0, 0.0, 0.0]);
    let receive = |count: u64| {
        let asked = json!({ "QueueUrl": work, "MaxNumberOfMessages": count });
        ask(server, "ReceiveMessage", &asked)
    };
    let taken = receive(1);
    wait_for_figures([2.0, 1.0, 0.0, 0.0]);
    let receipt = &taken["Messages"][0]["ReceiptHandle"];
    let given_back = json!({ "QueueUrl": work, "ReceiptHandle": receipt, "VisibilityTimeout": 0 });
    ask(server, "ChangeMessageVisibility", &given_back);
    // The one that was given back is not given out again.
    wait_until("the dead letter queue has it", || {
        receive(10);
        !is_empty(server, &rig.url("dead"))
    });
    wait_for_figures([0.0, 2.0, 1.0, 0.0]);
    ask(server, "DeleteQueue", &json!({ "QueueUrl": work }));
}

/// Whether nothing waits in a queue.
fn is_empty(server: std::net::SocketAddr, url: &str) -> bool {
    let asked = json!({ "QueueUrl": url, "AttributeNames": ["ApproximateNumberOfMessages"] });
    let answer = ask(server, "GetQueueAttributes", &asked);
    answer["Attributes"]["ApproximateNumberOfMessages"] == "0"
}

#[test]
fn groups_keep_their_order() {
    let rig = SqsRig::fifo();
    let url = create(rig.address(), "orders.fifo", json!({ "ContentBasedDeduplication": "true" }));
    let mut sqs = rig.sqs("orders.fifo", None);
    sqs.publish.clear();
    let mut publishing = Publishing::to(&Sqs, &channel(sqs), "orders.fifo".to_owned(), 1_000);
    for number in 0..200 {
        let mut message = Message::numbered(number);
        message.payload = br#"{"same":true}"#.to_vec();
        publishing.send(&message).unwrap();
    }
    publishing.settle();
    assert_eq!(publishing.failures(), Vec::<String>::new());
    let mut count = 0;
    wait_until("all are there", || {
        count += take(rig.address(), &url, 10, 0).len();
        count == 200
    });
}
