//! A client of SQS that shares nothing with the connector's.
//!
//! It signs nothing, but says which service it means where a signature says so: some servers go by
//! that.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};
use sojourn_conformance::Message;

/// A request and its answer. Panics when it is refused.
#[track_caller]
pub(crate) fn ask(server: SocketAddr, action: &str, body: &Value) -> Value {
    let headers = format!(
        "Content-Type: application/x-amz-json-1.0\r\nX-Amz-Target: AmazonSQS.{action}\r\n{}",
        meant_for("sqs")
    );
    let answer = post(server, "/", &headers, &body.to_string());
    if answer.trim().is_empty() { Value::Null } else { serde_json::from_str(&answer).unwrap() }
}

/// A header that says which service is meant.
pub(crate) fn meant_for(service: &str) -> String {
    format!(
        "Authorization: AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/{service}/aws4_request, \
         SignedHeaders=host, Signature=0\r\n"
    )
}

/// Posts a body and returns the answer's. Panics when it is refused.
#[track_caller]
pub(crate) fn post(server: SocketAddr, path: &str, headers: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(server).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {server}\r\n{headers}Content-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{headers}{answer}");
    body.to_owned()
}

/// Creates a queue; its URL.
#[track_caller]
pub(crate) fn create(server: SocketAddr, name: &str, attributes: Value) -> String {
    let mut attributes = attributes;
    if name.ends_with(".fifo") {
        attributes["FifoQueue"] = "true".into();
    }
    let answer =
        ask(server, "CreateQueue", &json!({ "QueueName": name, "Attributes": attributes }));
    answer["QueueUrl"].as_str().unwrap().to_owned()
}

/// All queues' URLs.
pub(crate) fn queues(server: SocketAddr) -> Vec<String> {
    let answer = ask(server, "ListQueues", &json!({}));
    let urls = answer["QueueUrls"].as_array().cloned().unwrap_or_default();
    let mut urls: Vec<_> = urls.iter().map(|url| url.as_str().unwrap().to_owned()).collect();
    urls.sort();
    urls
}

/// Sends messages in their order, and returns when the server has them all.
#[track_caller]
pub(crate) fn send(server: SocketAddr, url: &str, messages: &[Message]) {
    let mut left = messages;
    while !left.is_empty() {
        let mut bytes = 0;
        let count = left.iter().take(10).take_while(|message| {
            bytes += message.payload.len() + 200;
            bytes <= 200 << 10
        });
        let (batch, rest) = left.split_at(count.count().max(1));
        left = rest;
        let entries: Vec<_> = batch.iter().map(|message| entry(message, url)).collect();
        let answer =
            ask(server, "SendMessageBatch", &json!({ "QueueUrl": url, "Entries": entries }));
        assert_eq!(answer["Successful"].as_array().unwrap().len(), batch.len(), "{answer}");
    }
}

fn entry(message: &Message, url: &str) -> Value {
    use std::sync::atomic::{AtomicU64, Ordering};
    static UNIQUE: AtomicU64 = AtomicU64::new(0);
    let unique = UNIQUE.fetch_add(1, Ordering::Relaxed);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut attributes = json!({});
    for (name, value) in &message.headers {
        attributes[name] = json!({ "DataType": "String", "StringValue": text(value) });
    }
    let mut entry = json!({ "Id": unique.to_string(), "MessageBody": text(&message.payload) });
    if url.ends_with(".fifo") {
        entry["MessageGroupId"] = message.key.clone().into();
        entry["MessageDeduplicationId"] = format!("unique-{unique}").into();
    } else {
        attributes["message-key"] =
            json!({ "DataType": "String", "StringValue": message.key.clone() });
    }
    entry["MessageAttributes"] = attributes;
    entry
}

/// Takes up to ten messages and deletes them; their payloads.
#[track_caller]
pub(crate) fn take(server: SocketAddr, url: &str, count: usize, wait_s: u64) -> Vec<Value> {
    let asked = json!({
        "QueueUrl": url, "MaxNumberOfMessages": count.min(10), "WaitTimeSeconds": wait_s,
    });
    let answer = ask(server, "ReceiveMessage", &asked);
    let messages = answer["Messages"].as_array().cloned().unwrap_or_default();
    for message in &messages {
        let asked = json!({ "QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"] });
        ask(server, "DeleteMessage", &asked);
    }
    let payload = |message: &Value| {
        serde_json::from_str(message["Body"].as_str().unwrap()).unwrap_or(Value::Null)
    };
    messages.iter().map(payload).collect()
}

/// The header `number` of all messages of a queue, in the order in which it gives them.
#[track_caller]
pub(crate) fn numbers_of(server: SocketAddr, url: &str) -> Vec<u64> {
    let mut numbers = Vec::new();
    loop {
        let asked = json!({
            "QueueUrl": url, "MaxNumberOfMessages": 10, "MessageAttributeNames": ["All"],
        });
        let answer = ask(server, "ReceiveMessage", &asked);
        let messages = answer["Messages"].as_array().cloned().unwrap_or_default();
        if messages.is_empty() {
            return numbers;
        }
        for message in &messages {
            let number = message["MessageAttributes"]["number"]["StringValue"].as_str().unwrap();
            numbers.push(number.parse().unwrap());
            let asked = json!({ "QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"] });
            ask(server, "DeleteMessage", &asked);
        }
    }
}

/// What a queue says of its messages: how many can be taken, and how many are.
#[track_caller]
pub(crate) fn unacknowledged(server: SocketAddr, url: &str) -> Vec<(&'static str, u64)> {
    let asked = json!({ "QueueUrl": url, "AttributeNames": ["All"] });
    let answer = ask(server, "GetQueueAttributes", &asked);
    let figure = |name: &str| answer["Attributes"][name].as_str().unwrap().parse().unwrap();
    vec![
        ("visible", figure("ApproximateNumberOfMessages")),
        ("in flight", figure("ApproximateNumberOfMessagesNotVisible")),
    ]
}
