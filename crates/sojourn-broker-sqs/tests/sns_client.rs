//! A client of SNS that shares nothing with the connector's.

use std::net::SocketAddr;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;
use sojourn_conformance::Message;

use crate::client::{ask, meant_for, post};

/// A request by AWS's Query protocol and its answer. Panics when it is refused.
#[track_caller]
pub(crate) fn query(server: SocketAddr, service: &str, pairs: &[(&str, &str)]) -> String {
    let version = match service {
        "iam" => "2010-05-08",
        "monitoring" => "2010-08-01",
        _ => "2010-03-31",
    };
    let mut body = format!("Version={version}");
    for (name, value) in pairs {
        body.push_str(&format!("&{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)));
    }
    let form = "Content-Type: application/x-www-form-urlencoded; charset=utf-8\r\n";
    post(server, "/", &format!("{form}{}", meant_for(service)), &body)
}

/// The texts of all elements of this name.
pub(crate) fn texts(xml: &str, name: &str) -> Vec<String> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let texts = xml.split(&open).skip(1).filter_map(|rest| rest.split_once(&close));
    texts.map(|(text, _)| text.to_owned()).collect()
}

/// Creates a topic; its ARN.
#[track_caller]
pub(crate) fn create_topic(server: SocketAddr, name: &str) -> String {
    let mut pairs = vec![("Action", "CreateTopic"), ("Name", name)];
    if name.ends_with(".fifo") {
        pairs.extend([
            ("Attributes.entry.1.key", "FifoTopic"),
            ("Attributes.entry.1.value", "true"),
        ]);
    }
    texts(&query(server, "sns", &pairs), "TopicArn").remove(0)
}

/// Subscribes a queue, with further attributes of the subscription; the subscription's ARN.
#[track_caller]
pub(crate) fn subscribe(
    server: SocketAddr,
    topic: &str,
    url: &str,
    attributes: &[(&str, &str)],
) -> String {
    let asked = json!({ "QueueUrl": url, "AttributeNames": ["QueueArn"] });
    let answer = ask(server, "GetQueueAttributes", &asked);
    let queue = answer["Attributes"]["QueueArn"].as_str().unwrap();
    let numbered: Vec<_> = (1..)
        .zip(attributes)
        .flat_map(|(number, (name, value))| {
            let head = format!("Attributes.entry.{number}");
            [(format!("{head}.key"), *name), (format!("{head}.value"), *value)]
        })
        .collect();
    let mut pairs = vec![
        ("Action", "Subscribe"),
        ("TopicArn", topic),
        ("Protocol", "sqs"),
        ("Endpoint", queue),
        ("ReturnSubscriptionArn", "true"),
    ];
    pairs.extend(numbered.iter().map(|(name, value)| (name.as_str(), *value)));
    texts(&query(server, "sns", &pairs), "SubscriptionArn").remove(0)
}

/// The queues that topics send to, by their ARNs.
#[track_caller]
pub(crate) fn subscribed(server: SocketAddr) -> Vec<String> {
    let mut queues = texts(&query(server, "sns", &[("Action", "ListSubscriptions")]), "Endpoint");
    queues.sort();
    queues
}

/// Publishes messages in their order, and returns when the server has them all.
#[track_caller]
pub(crate) fn publish(server: SocketAddr, topic: &str, messages: &[Message]) {
    let mut left = messages;
    while !left.is_empty() {
        let mut bytes = 0;
        let count = left.iter().take(10).take_while(|message| {
            bytes += message.payload.len() + 200;
            bytes <= 200 << 10
        });
        let (batch, rest) = left.split_at(count.count().max(1));
        left = rest;
        let mut pairs = vec![
            ("Action".to_owned(), "PublishBatch".to_owned()),
            ("TopicArn".to_owned(), topic.to_owned()),
        ];
        for (place, message) in batch.iter().enumerate() {
            entry(&mut pairs, place, message, topic.ends_with(".fifo"));
        }
        let pairs: Vec<_> = pairs.iter().map(|(name, value)| (&**name, &**value)).collect();
        let answer = query(server, "sns", &pairs);
        let taken = texts(&answer, "Successful").remove(0);
        assert_eq!(texts(&taken, "Id").len(), batch.len(), "{answer}");
    }
}

fn entry(pairs: &mut Vec<(String, String)>, place: usize, message: &Message, fifo: bool) {
    use std::sync::atomic::{AtomicU64, Ordering};
    static UNIQUE: AtomicU64 = AtomicU64::new(0);
    let unique = UNIQUE.fetch_add(1, Ordering::Relaxed);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let head = format!("PublishBatchRequestEntries.member.{}", place + 1);
    let mut add = |name: &str, value: String| pairs.push((format!("{head}.{name}"), value));
    add("Id", place.to_string());
    add("Message", text(&message.payload));
    let mut headers = message.headers.clone();
    if fifo {
        add("MessageGroupId", message.key.clone());
        add("MessageDeduplicationId", format!("unique-{unique}"));
    } else {
        headers.push(("message-key".to_owned(), message.key.clone().into_bytes()));
    }
    for (number, (name, value)) in (1..).zip(&headers) {
        let head = format!("MessageAttributes.entry.{number}");
        add(&format!("{head}.Name"), name.clone());
        add(&format!("{head}.Value.DataType"), "String".to_owned());
        add(&format!("{head}.Value.StringValue"), text(value));
    }
}
