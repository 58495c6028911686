//! Messages as `ReceiveMessage` answers them, and those that SNS has wrapped.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use sojourn_broker::RawMessage;

/// The attribute that carries a key where the queue has no groups.
pub(crate) const KEY: &str = "message-key";

/// A message taken from a queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Received {
    /// The queue's own id of it: a message that comes again has the same.
    pub(crate) id: String,
    /// What it is deleted by.
    pub(crate) receipt: String,
    /// The topic's ARN, where SNS wrapped it.
    pub(crate) topic: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) payload: String,
    /// When the queue took it, by the server's clock, milliseconds since the Unix epoch.
    pub(crate) sent_unix_ms: Option<u64>,
}

impl Received {
    /// As the router takes it. It has no position: a queue is no log, and what comes twice is told
    /// by its id.
    pub(crate) fn as_raw<'a>(&'a self, stamp_ns: u64, queue: &'a str) -> RawMessage<'a> {
        let header = |(name, value): &'a (String, Vec<u8>)| (name.as_str(), value.as_slice());
        RawMessage {
            stamp_ns,
            topic: self.topic.as_deref().unwrap_or(queue),
            key: self.key.as_deref().map(str::as_bytes),
            headers: self.headers.iter().map(header).collect(),
            payload: self.payload.as_bytes(),
            position: None,
        }
    }

    /// The first header of this name.
    pub(crate) fn header(&self, name: &str) -> Option<&[u8]> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_slice())
    }
}

#[derive(Deserialize)]
struct Answer {
    #[serde(rename = "Messages", default)]
    messages: Option<Vec<Message>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Message {
    message_id: String,
    receipt_handle: String,
    #[serde(default)]
    body: String,
    #[serde(default)]
    attributes: Attributes,
    #[serde(default)]
    message_attributes: BTreeMap<String, Attribute>,
}

/// What is looked at of what the queue says of a message.
#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Attributes {
    #[serde(default)]
    sent_timestamp: Option<String>,
    #[serde(default)]
    message_group_id: Option<String>,
    #[serde(default)]
    sequence_number: Option<String>,
}

/// Their names, to ask for.
pub(crate) const ATTRIBUTES: [&str; 3] = ["SentTimestamp", "MessageGroupId", "SequenceNumber"];

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Attribute {
    data_type: String,
    #[serde(default)]
    string_value: Option<String>,
    #[serde(default)]
    binary_value: Option<String>,
}

/// What SNS puts around a message unless the subscription is raw.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Notification {
    r#type: String,
    message_id: String,
    topic_arn: String,
    message: String,
    #[serde(default)]
    message_attributes: BTreeMap<String, Wrapped>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Wrapped {
    r#type: String,
    value: String,
}

/// The messages of an answer. Errs when it is none.
pub(crate) fn decode(answer: &[u8]) -> Result<Vec<Received>, String> {
    let answer: Answer = serde_json::from_slice(answer).map_err(|error| error.to_string())?;
    Ok(answer.messages.unwrap_or_default().into_iter().map(received).collect())
}

fn received(message: Message) -> Received {
    let Message { message_id: id, receipt_handle: receipt, body, attributes, .. } = message;
    let Attributes { sent_timestamp, message_group_id: mut key, sequence_number } = attributes;
    let mut headers = Vec::with_capacity(message.message_attributes.len() + 2);
    for (name, attribute) in message.message_attributes {
        let text = attribute.string_value.or(attribute.binary_value).unwrap_or_default();
        match (name.as_str(), &key) {
            (KEY, None) => key = Some(text),
            _ => headers.push((name, value(&attribute.data_type, text))),
        }
    }
    let sent_unix_ms = sent_timestamp.and_then(|text| text.parse().ok());
    if let Some(number) = sequence_number {
        headers.push(("sequence-number".to_owned(), number.into_bytes()));
    }
    let mut received =
        Received { id, receipt, topic: None, key, headers, payload: body, sent_unix_ms };
    let declared = unwrap(&mut received).unwrap_or_else(|| received.id.clone());
    if received.header("message-id").is_none() {
        received.headers.push(("message-id".to_owned(), declared.into_bytes()));
    }
    received
}

/// Takes SNS's wrapping off, if that is what the payload is; SNS's id of the message.
fn unwrap(received: &mut Received) -> Option<String> {
    let text = &received.payload;
    if !text.starts_with('{') || !text.contains("\"TopicArn\"") {
        return None;
    }
    let inside: Notification = serde_json::from_str(text).ok()?;
    if inside.r#type != "Notification" {
        return None;
    }
    for (name, Wrapped { r#type, value: text }) in inside.message_attributes {
        match (name.as_str(), &received.key) {
            (KEY, None) => received.key = Some(text),
            _ => received.headers.push((name, value(&r#type, text))),
        }
    }
    received.topic = Some(inside.topic_arn);
    received.payload = inside.message;
    Some(inside.message_id)
}

/// An attribute's bytes; numbers stay the text that they are sent as.
fn value(data_type: &str, text: String) -> Vec<u8> {
    match data_type.starts_with("Binary") {
        true => STANDARD.decode(&text).unwrap_or_else(|_| text.into_bytes()),
        false => text.into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn one(message: serde_json::Value) -> Received {
        let answer = json!({ "Messages": [message] }).to_string();
        decode(answer.as_bytes()).unwrap().remove(0)
    }

    #[test]
    fn attributes_are_headers_and_the_group_is_the_key() {
        let message = one(json!({
            "MessageId": "m1", "ReceiptHandle": "r1", "Body": "hé",
            "Attributes": {
                "SentTimestamp": "1700000000123", "MessageGroupId": "g",
                "SequenceNumber": "18849496460467696128"
            },
            "MessageAttributes": {
                "n": { "DataType": "Number", "StringValue": "7.5" },
                "b": { "DataType": "Binary", "BinaryValue": "AP8=" },
                "s": { "DataType": "String.x", "StringValue": "t" }
            }
        }));
        assert_eq!((message.key.as_deref(), message.payload.as_str()), (Some("g"), "hé"));
        assert_eq!(message.sent_unix_ms, Some(1_700_000_000_123));
        assert_eq!(message.header("n"), Some(b"7.5".as_slice()));
        assert_eq!(message.header("b"), Some([0, 255].as_slice()));
        assert_eq!(message.header("s"), Some(b"t".as_slice()));
        assert_eq!(message.header("message-id"), Some(b"m1".as_slice()));
        assert_eq!(message.header("sequence-number").unwrap().len(), 20);
    }

    #[test]
    fn a_notification_is_unwrapped_and_its_like_is_not() {
        let wrapped = json!({
            "Type": "Notification", "MessageId": "s1", "TopicArn": "arn:t", "Message": "{\"a\":1}",
            "MessageAttributes": {
                "message-key": { "Type": "String", "Value": "k" },
                "b": { "Type": "Binary", "Value": "AQ==" }
            }
        });
        let body = |json: &serde_json::Value| {
            one(json!({ "MessageId": "m", "ReceiptHandle": "r", "Body": json.to_string() }))
        };
        let message = body(&wrapped);
        assert_eq!(
            (message.payload.as_str(), message.topic.as_deref()),
            ("{\"a\":1}", Some("arn:t"))
        );
        assert_eq!(
            (message.key.as_deref(), message.header("b")),
            (Some("k"), Some([1].as_slice()))
        );
        assert_eq!(message.header("message-id"), Some(b"s1".as_slice()));
        assert_eq!(message.id, "m", "what comes again is told by the queue's id");
        let mut other = wrapped;
        other["Type"] = "SubscriptionConfirmation".into();
        let message = body(&other);
        assert_eq!((message.topic.as_deref(), message.header("b")), (None, None));
        assert_eq!(message.payload, other.to_string());
    }

    #[test]
    fn answers_without_messages_and_no_answers() {
        assert_eq!(decode(b"{}").unwrap(), []);
        assert_eq!(decode(br#"{"Messages":null}"#).unwrap(), []);
        assert!(decode(b"<xml/>").is_err());
        assert!(decode(br#"{"Messages":[{"MessageId":"only"}]}"#).is_err());
    }

    proptest! {
        #[test]
        fn no_answer_panics(cut in 0_usize..200, place in 0_usize..200, byte: u8) {
            let mut bytes = json!({ "Messages": [{
                "MessageId": "m", "ReceiptHandle": "r",
                "Body": "{\"Type\":\"Notification\",\"TopicArn\":\"t\",\"Message\":\"\\u00e9\"}",
                "MessageAttributes": { "b": { "DataType": "Binary", "BinaryValue": "!!" } }
            }] }).to_string().into_bytes();
            let place = place % bytes.len();
            bytes[place] = byte;
            drop(decode(&bytes));
            bytes.truncate(cut);
            drop(decode(&bytes));
        }
    }
}
