//! SNS: a queue of the tap's own subscribed to a topic, and what its protocol needs.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;
use sojourn_broker::BrokerError;
use sojourn_clock::{SECOND_NS, now_ns};

use crate::api::{Api, CallError};
use crate::config::Settings;
use crate::queue::{Queue, TIMEOUT, text};

/// Queues of taps begin so, and have the tag `sojourn: tap`: one that a killed run left behind is
/// known by it, and keeps messages for an hour at most.
pub(crate) const OWN_PREFIX: &str = "sojourn-tap-";
const KEPT_S: u64 = 3_600;
/// How long a subscription may take until it is confirmed.
const CONFIRMED_NS_MAX: u64 = 20 * SECOND_NS;
pub(crate) const VERSION: &str = "2010-03-31";
const SET: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A queue of our own that a topic sends to.
pub(crate) struct Subscription {
    pub(crate) queue: Queue,
    sqs: Api,
    sns: Api,
    arn: Option<String>,
}

impl Subscription {
    /// Makes a queue and subscribes it. What was made is removed again when a step fails.
    pub(crate) fn make(
        api: &mut Api,
        settings: Settings,
        topic: &str,
    ) -> Result<Self, BrokerError> {
        let sns = Api::new(settings)?;
        let sqs = Api::new(api.settings.clone())?;
        let name = own_name(topic);
        let attributes = json!({ "MessageRetentionPeriod": KEPT_S.to_string() });
        let queue = Queue::create(api, &name, &attributes, &json!({ "sojourn": "tap" }))?;
        let mut made = Self { queue, sqs, sns, arn: None };
        let Self { queue, sqs, sns, arn } = &mut made;
        if let Err(error) = subscribe(sqs, sns, queue, topic, arn) {
            made.remove();
            return Err(error);
        }
        Ok(made)
    }

    /// Unsubscribes and deletes the queue.
    pub(crate) fn remove(&mut self) {
        if let Some(arn) = self.arn.take() {
            drop(ask(&mut self.sns, &[("Action", "Unsubscribe"), ("SubscriptionArn", &arn)]));
        }
        let asked = json!({ "QueueUrl": self.queue.url });
        drop(self.sqs.call("DeleteQueue", &asked, TIMEOUT));
    }
}

/// Lets a topic send to a queue and subscribes the queue with raw delivery. `arn` is the
/// subscription's as soon as there is one, whatever fails afterwards.
pub(crate) fn subscribe(
    sqs: &mut Api,
    sns: &mut Api,
    queue: &Queue,
    topic: &str,
    arn: &mut Option<String>,
) -> Result<(), BrokerError> {
    let attributes = queue.attributes(sqs, TIMEOUT)?;
    let queue_arn = text(&attributes, "QueueArn");
    let asked = json!({
        "QueueUrl": queue.url, "Attributes": { "Policy": policy(&queue_arn, topic) },
    });
    let set = sqs.call("SetQueueAttributes", &asked, TIMEOUT);
    let what = format!("letting the topic send to queue `{}`", queue.name);
    set.map_err(|error| sqs.error(&what, &error))?;
    let what = format!("subscribing to topic `{topic}`");
    let asked = [
        ("Action", "Subscribe"),
        ("TopicArn", topic),
        ("Protocol", "sqs"),
        ("Endpoint", &queue_arn),
        ("ReturnSubscriptionArn", "true"),
        ("Attributes.entry.1.key", "RawMessageDelivery"),
        ("Attributes.entry.1.value", "true"),
    ];
    let answer = match ask(sns, &asked) {
        Ok(answer) => answer,
        Err(error) if error.is(&["NotFound"]) => return Err(no_topic(sns, topic)),
        Err(error) => return Err(sns.error(&what, &error)),
    };
    let place = sns.settings.place();
    let Some(made) = element(&answer, "SubscriptionArn") else {
        return Err(BrokerError::new(format!("{place}: {what}: the answer names none")));
    };
    let made = arn.insert(made.to_owned());
    let until_ns = now_ns() + CONFIRMED_NS_MAX;
    loop {
        let asked = [("Action", "GetSubscriptionAttributes"), ("SubscriptionArn", made)];
        let answer = ask(sns, &asked).map_err(|error| sns.error(&what, &error))?;
        // A map of entries: `<key>PendingConfirmation</key><value>false</value>`.
        let pending = answer.split_once("<key>PendingConfirmation</key>");
        let pending = pending.and_then(|(_, rest)| element(rest, "value"));
        if pending != Some("true") {
            return Ok(());
        }
        if now_ns() > until_ns {
            return Err(BrokerError::new(format!("{place}: {what}: it is never confirmed"))
                .with_hint("is the topic of another account?"));
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
}

/// Creates a topic, or finds it where it is.
pub(crate) fn create(sns: &mut Api, topic: &str) -> Result<(), BrokerError> {
    let name = topic.rsplit(':').next().unwrap_or(topic);
    let mut asked = vec![("Action", "CreateTopic"), ("Name", name)];
    if topic.ends_with(".fifo") {
        asked.extend([
            ("Attributes.entry.1.key", "FifoTopic"),
            ("Attributes.entry.1.value", "true"),
        ]);
    }
    let what = format!("creating topic `{topic}`");
    let answer = ask(sns, &asked).map_err(|error| sns.error(&what, &error))?;
    let made = element(&answer, "TopicArn").unwrap_or_default();
    if made != topic {
        let place = sns.settings.place();
        return Err(BrokerError::new(format!("{place}: {what}: it became `{made}`"))
            .with_hint("name the region and the account that the keys are of"));
    }
    Ok(())
}

/// Errs where a topic is not there. Who may publish need not have the right to ask.
pub(crate) fn find(sns: &mut Api, topic: &str) -> Result<(), BrokerError> {
    match ask(sns, &[("Action", "GetTopicAttributes"), ("TopicArn", topic)]) {
        Err(error) if error.is(&["AuthorizationError", "AccessDenied"]) => Ok(()),
        Err(error) if error.is(&["NotFound"]) => Err(no_topic(sns, topic)),
        Err(error) => Err(sns.error(&format!("topic `{topic}`"), &error)),
        Ok(_) => Ok(()),
    }
}

fn no_topic(sns: &Api, topic: &str) -> BrokerError {
    let place = sns.settings.place();
    BrokerError::new(format!("{place}: there is no topic `{topic}`"))
        .with_hint("create it, or check its name, the region and the account")
}

fn ask(sns: &mut Api, pairs: &[(&str, &str)]) -> Result<String, CallError> {
    let answer = sns.exchange("", form(VERSION, pairs).as_bytes(), TIMEOUT)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// `sojourn-tap-20260102T030405-0a1b2c3d`, in the topic's kind.
fn own_name(topic: &str) -> String {
    let date = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S");
    let id = uuid::Uuid::new_v4().simple().to_string();
    let suffix = if topic.ends_with(".fifo") { ".fifo" } else { "" };
    format!("{OWN_PREFIX}{date}-{}{suffix}", &id[..8])
}

/// Lets this topic, and nobody else, send to the queue.
fn policy(queue_arn: &str, topic: &str) -> String {
    json!({
        "Version": "2012-10-17",
        "Statement": [{
            "Effect": "Allow", "Principal": { "Service": "sns.amazonaws.com" },
            "Action": "sqs:SendMessage", "Resource": queue_arn,
            "Condition": { "ArnEquals": { "aws:SourceArn": topic } },
        }],
    })
    .to_string()
}

/// The body of a request by the Query protocol, in a service's version of it.
pub(crate) fn form<N: AsRef<str>, V: AsRef<str>>(version: &str, pairs: &[(N, V)]) -> String {
    let mut body = format!("Version={version}");
    for (name, value) in pairs {
        let value = utf8_percent_encode(value.as_ref(), SET);
        body.push_str(&format!("&{}={value}", name.as_ref()));
    }
    body
}

/// The text of the first element of this name. SNS's answers are flat and have no attributes where
/// it matters; entities stand in no text that is asked for but messages for people.
pub(crate) fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(text, _)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_keep_no_character_that_could_end_a_value() {
        assert_eq!(
            form(VERSION, &[("Action", "Publish"), ("Message", "a&b=c d+é~")]),
            "Version=2010-03-31&Action=Publish&Message=a%26b%3Dc%20d%2B%C3%A9~"
        );
    }

    #[test]
    fn elements_are_found_in_any_text() {
        let xml = "<R><Error><Code>NotFound</Code><Message>no topic</Message></Error></R>";
        assert_eq!(element(xml, "Code"), Some("NotFound"));
        assert_eq!(element(xml, "Type"), None);
        for end in 0..xml.len() {
            assert!(element(&xml[..end], "Message").is_none_or(|text| text == "no topic"));
        }
    }

    #[test]
    fn own_queues_are_known_by_their_names() {
        let name = own_name("arn:aws:sns:eu-west-1:1:orders.fifo");
        assert!(name.starts_with(OWN_PREFIX) && name.ends_with(".fifo"), "{name}");
        assert!(name.len() <= 80, "the longest that a queue's name may be");
        assert_ne!(own_name("t"), own_name("t"));
    }
}
