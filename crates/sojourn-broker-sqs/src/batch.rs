//! A batch as a request, and its answer as the outcomes of its messages.

use std::rc::Rc;

use serde_json::{Value, json};

use crate::api::CallError;
use crate::lanes::Entry;
use crate::sending::Target;
use crate::sns::{VERSION, element, form};

/// Messages that go out together.
pub(crate) struct Batch {
    /// The lane's place.
    pub(crate) lane: usize,
    pub(crate) target: Rc<Target>,
    pub(crate) entries: Vec<Entry>,
}

impl Batch {
    /// Action and body.
    pub(crate) fn request(&self) -> (&'static str, Vec<u8>) {
        match self.target.as_ref() {
            Target::Queue(queue) => ("SendMessageBatch", self.queue_body(&queue.url)),
            Target::Topic(arn) => ("PublishBatch", self.topic_body(arn)),
        }
    }

    fn queue_body(&self, url: &str) -> Vec<u8> {
        let fifo = self.target.fifo();
        let entries: Vec<Value> = (0_u32..)
            .zip(&self.entries)
            .map(|(id, entry)| {
                let message = &entry.message;
                let mut json = json!({ "Id": id.to_string(), "MessageBody": message.payload });
                let attributes = message.attributes(fifo);
                if attributes.as_object().is_some_and(|attributes| !attributes.is_empty()) {
                    json["MessageAttributes"] = attributes;
                }
                if fifo {
                    json["MessageGroupId"] = message.group().into();
                    json["MessageDeduplicationId"] = message.deduplication_id().into();
                }
                json
            })
            .collect();
        json!({ "QueueUrl": url, "Entries": entries }).to_string().into_bytes()
    }

    fn topic_body(&self, arn: &str) -> Vec<u8> {
        let fifo = self.target.fifo();
        let mut pairs = vec![
            ("Action".to_owned(), "PublishBatch".to_owned()),
            ("TopicArn".to_owned(), arn.to_owned()),
        ];
        for (place, entry) in self.entries.iter().enumerate() {
            let message = &entry.message;
            let head = format!("PublishBatchRequestEntries.member.{}", place + 1);
            pairs.push((format!("{head}.Id"), place.to_string()));
            pairs.push((format!("{head}.Message"), message.payload.clone()));
            if fifo {
                pairs.push((format!("{head}.MessageGroupId"), message.group()));
                pairs.push((format!("{head}.MessageDeduplicationId"), message.deduplication_id()));
            }
            let attributes = message.attributes(fifo);
            for (number, (name, value)) in (1..).zip(attributes.as_object().into_iter().flatten()) {
                let head = format!("{head}.MessageAttributes.entry.{number}");
                pairs.push((format!("{head}.Name"), name.clone()));
                for (field, text) in value.as_object().into_iter().flatten() {
                    let text = text.as_str().unwrap_or_default().to_owned();
                    pairs.push((format!("{head}.Value.{field}"), text));
                }
            }
        }
        form(VERSION, &pairs).into_bytes()
    }
}

/// The error of each message of a batch, in their order; `None`: the service has it.
pub(crate) fn outcomes_of(
    batch: &Batch,
    answer: &Result<Vec<u8>, CallError>,
) -> Vec<Option<String>> {
    let count = batch.entries.len();
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => return vec![Some(error.stable()); count],
    };
    let mut outcomes = vec![Some("no word of it in the answer".to_owned()); count];
    let words = match batch.target.as_ref() {
        Target::Queue(_) => of_json(answer),
        Target::Topic(_) => of_xml(answer),
    };
    for (id, error) in words {
        if let Some(outcome) = id.parse::<usize>().ok().and_then(|id| outcomes.get_mut(id)) {
            *outcome = error;
        }
    }
    outcomes
}

/// Entries' ids, and why they were refused.
type Words = Vec<(String, Option<String>)>;

fn of_json(answer: &[u8]) -> Words {
    let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
    let list = |name: &str| {
        answer.get(name).and_then(Value::as_array).cloned().unwrap_or_default().into_iter()
    };
    let text = |entry: &Value, name: &str| {
        entry.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let taken = list("Successful").map(|entry| (text(&entry, "Id"), None));
    let failed = list("Failed")
        .map(|entry| (text(&entry, "Id"), Some(format!("refused: {}", text(&entry, "Code")))));
    taken.chain(failed).collect()
}

fn of_xml(answer: &[u8]) -> Words {
    let text = String::from_utf8_lossy(answer);
    let members = |name: &str| -> Vec<String> {
        let inside = element(&text, name).unwrap_or_default();
        inside.split("<member>").skip(1).map(str::to_owned).collect()
    };
    let id = |member: &str| element(member, "Id").unwrap_or_default().to_owned();
    let taken = members("Successful").into_iter().map(|member| (id(&member), None));
    let failed = members("Failed").into_iter().map(|member| {
        (id(&member), Some(format!("refused: {}", element(&member, "Code").unwrap_or_default())))
    });
    taken.chain(failed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_batch_can_fail() {
        let refused = || Some("refused: InvalidMessageContents".to_owned());
        let expected = vec![("0".to_owned(), None), ("1".to_owned(), refused())];
        let json = r#"{"Successful":[{"Id":"0","MessageId":"m"}],
            "Failed":[{"Id":"1","Code":"InvalidMessageContents","SenderFault":true}]}"#;
        assert_eq!(of_json(json.as_bytes()), expected);
        let xml = "<PublishBatchResponse><PublishBatchResult><Successful><member><MessageId>m\
            </MessageId><Id>0</Id></member></Successful><Failed><member><Id>1</Id><Code>\
            InvalidMessageContents</Code></member></Failed></PublishBatchResult>";
        assert_eq!(of_xml(xml.as_bytes()), expected);
        assert_eq!(of_json(b"<"), []);
        assert_eq!(of_xml(b"\xff"), []);
    }
}
