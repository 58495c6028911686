//! What only this connector does.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;
use sojourn_broker::{Connect, Consumer, Figure, RawMessage, Sink, Start, Tap};
use sojourn_broker_sqs::{FEATURE, Sqs};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_conformance::{Fate, Message, Publishing, Rig, wait_until};

use crate::before::{Request, answering, counting};
use crate::client::{ask, create, numbers_of, queues, send, take};
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

/// Ten messages are one request.
#[test]
fn messages_go_in_batches() {
    let rig = SqsRig::standard();
    let (server, book) = counting(rig.address());
    let mut sqs = rig.sqs("events", Some(server));
    sqs.publish.clear();
    let channel = channel(sqs);
    // A busy machine may tear a batch apart.
    wait_until("a batch of ten", || {
        let mut publishing = Publishing::to(&Sqs, &channel, "events".to_owned(), 100);
        publishing.ready().unwrap();
        book.clear();
        for number in 0..10 {
            publishing.send(&Message::numbered(number)).unwrap();
        }
        publishing.settle();
        assert_eq!(publishing.acked().len(), 10, "{:?}", publishing.failures());
        assert!(book.of("SendMessage").is_empty());
        let asked = book.of("SendMessageBatch");
        let entries = |body: &String| {
            let body: serde_json::Value = serde_json::from_str(body).unwrap();
            body["Entries"].as_array().unwrap().len()
        };
        assert_eq!(asked.iter().map(entries).sum::<usize>(), 10);
        asked.len() == 1
    });
}

/// One message of a batch that the server refuses fails; the others are there. ElasticMQ refuses
/// none alone, so a server before it does, in the words of SQS's documentation.
#[test]
fn a_part_of_a_batch_can_fail() {
    let mut rig = SqsRig::standard();
    let to = rig.address();
    let server = answering(move |request| match request.action() {
        Some("SendMessageBatch") => without_the_fifth(request, to),
        _ => request.passed_on(to),
    });
    let mut sqs = rig.sqs("store", Some(server));
    sqs.publish.clear();
    let mut publishing = Publishing::to(&Sqs, &channel(sqs), "store".to_owned(), 100);
    for number in 0..9 {
        publishing.send(&Message::numbered(number)).unwrap();
    }
    publishing.settle();
    assert_eq!(publishing.failures(), ["refused: InvalidMessageContents"]);
    assert_eq!(publishing.fates[&4], Fate::Failed("refused: InvalidMessageContents".to_owned()));
    let mut stored = rig.stored().unwrap();
    stored.sort_unstable();
    assert_eq!(stored, [0, 1, 2, 3, 5, 6, 7, 8]);
    assert_eq!(publishing.acked(), stored);
    let refused = publishing.send(&Message::with_payload(20, vec![0xff])).unwrap_err();
    assert!(refused.contains("UTF-8"), "{refused}");
}

/// The answer to a batch, of which message 4 is not passed on.
fn without_the_fifth(request: &Request, to: SocketAddr) -> Option<Vec<u8>> {
    let mut batch: serde_json::Value = serde_json::from_str(&request.body).unwrap();
    let is_refused =
        |entry: &serde_json::Value| entry["MessageAttributes"]["number"]["StringValue"] == "4";
    let entries = batch["Entries"].as_array_mut().unwrap();
    let refused: Vec<_> = entries.extract_if(.., |entry| is_refused(entry)).collect();
    let mut answer = match entries.is_empty() {
        true => json!({ "Successful": [] }),
        false => ask(to, "SendMessageBatch", &batch),
    };
    let failed = refused.iter().map(
        |entry| json!({ "Id": entry["Id"], "SenderFault": true, "Code": "InvalidMessageContents" }),
    );
    answer["Failed"] = failed.collect();
    let body = answer.to_string();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}", body.len());
    Some(format!("{head}\r\nConnection: close\r\n\r\n{body}").into_bytes())
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
fn is_empty(server: SocketAddr, url: &str) -> bool {
    let asked = json!({ "QueueUrl": url, "AttributeNames": ["ApproximateNumberOfMessages"] });
    let answer = ask(server, "GetQueueAttributes", &asked);
    answer["Attributes"]["ApproximateNumberOfMessages"] == "0"
}

/// The group of a key keeps its order, and equal payloads are not taken for one: which message it
/// is stands in a header alone.
#[test]
fn groups_keep_their_order() {
    let rig = SqsRig::fifo();
    let url = create(rig.address(), "orders.fifo", json!({ "ContentBasedDeduplication": "true" }));
    let mut sqs = rig.sqs("orders.fifo", None);
    sqs.publish.clear();
    let mut publishing = Publishing::to(&Sqs, &channel(sqs), "orders.fifo".to_owned(), 1_000);
    for number in 0..200 {
        let payload = br#"{"same":true}"#.to_vec();
        publishing.send(&Message::with_payload(number, payload)).unwrap();
    }
    publishing.settle();
    assert_eq!(publishing.failures(), Vec::<String>::new());
    let mut numbers = numbers_of(rig.address(), &url);
    let mut last = BTreeMap::new();
    for number in &numbers {
        let before = last.insert(Message::numbered(*number).key, *number);
        assert!(before.is_none_or(|before| before < *number), "{before:?} {number}: {numbers:?}");
    }
    assert_eq!(last.len(), 7, "several groups");
    numbers.sort_unstable();
    assert_eq!(numbers, (0..200).collect::<Vec<_>>());
}

/// Nothing comes, and the tap does not ask for it again and again: the server is told to wait.
#[test]
fn an_empty_queue_is_asked_seldom() {
    let rig = SqsRig::standard();
    let (server, book) = counting(rig.address());
    let mut tap = rig.connector().tap(&rig.channel(Some(server))).unwrap();
    tap.open().unwrap();
    let mut seen = Seen::default();
    book.clear();
    let until_ns = now_ns() + 3 * SECOND_NS;
    while now_ns() < until_ns {
        tap.poll(Duration::from_millis(20), &mut seen).unwrap();
    }
    let asked = book.of("ReceiveMessage");
    // Two at a time, a second each.
    assert!((4..=10).contains(&asked.len()), "{}", asked.len());
    for body in asked {
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body["WaitTimeSeconds"], 1, "{body}");
    }
    assert!(seen.0.is_empty());
}
