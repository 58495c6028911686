//! Making sure that a queue is the test's own, and finding where the tap begins in it.

use std::time::Duration;

use serde_json::{Value, json};
use sojourn_broker::BrokerError;
use sojourn_clock::{SECOND_NS, now_ns};

use crate::api::Api;
use crate::listening::{HIDDEN, PROBE, WAIT_S, delete_request, receive_request};
use crate::outage::unix_ms;
use crate::queue::{Queue, TIMEOUT, figure};
use crate::received::{Received, decode};

/// More than this is not thrown away message by message.
const DISCARDED_MAX: u64 = 10_000;
/// How long what an earlier tap left in flight may take to come back.
const IN_FLIGHT_NS_MAX: u64 = 15 * SECOND_NS;
/// How long the tap's own probe may take.
const PROBE_NS_MAX: u64 = 30 * SECOND_NS;
/// Messages older than this were not sent while the tap opened.
const OLD_MS: u64 = 60_000;

const OWN: &str = "the tap takes what it reads: make a queue for the test, subscribed to what the \
                   system's queue is subscribed to, and name that one";

/// Refuses a queue that is somebody's, throws away what it holds if that may be, and returns the
/// instant of its clock from which on messages count.
pub(crate) fn take_over(api: &mut Api, queue: &Queue, discard: bool) -> Result<u64, BrokerError> {
    guard(api, queue, discard)?;
    // What was sent before has an earlier time than the probe, whose milliseconds are whole.
    std::thread::sleep(Duration::from_millis(2));
    let probe = uuid::Uuid::new_v4().to_string();
    send_probe(api, queue, &probe)?;
    find_probe(api, queue, &probe, discard)
}

fn guard(api: &mut Api, queue: &Queue, discard: bool) -> Result<(), BrokerError> {
    let attributes = queue.attributes(api, TIMEOUT)?;
    let refuse = |api: &Api, why: &str, hint: &str| {
        let place = api.settings.place();
        Err(BrokerError::new(format!("{place}: queue `{}` {why}", queue.name)).with_hint(hint))
    };
    if attributes.get("RedrivePolicy").is_some() {
        return refuse(api, "has a redrive policy: it is a queue with consumers of its own", OWN);
    }
    if is_dead_letter_queue(api, queue) {
        return refuse(api, "is the dead letter queue of another one", OWN);
    }
    let waiting = figure(&attributes, "ApproximateNumberOfMessages").unwrap_or(0);
    if waiting > 0 && !discard {
        let why = format!("holds {waiting} messages, which the tap would take away");
        let hint = "if it was made for the test, set `discard: true` in the channel";
        return refuse(api, &why, hint);
    }
    if waiting > DISCARDED_MAX {
        let why = format!("holds {waiting} messages, too many to be thrown away one by one");
        return refuse(api, &why, "purge it first: `aws sqs purge-queue`");
    }
    let until_ns = now_ns() + IN_FLIGHT_NS_MAX;
    let mut in_flight = attributes;
    loop {
        match figure(&in_flight, "ApproximateNumberOfMessagesNotVisible").unwrap_or(0) {
            0 => return Ok(()),
            count if now_ns() >= until_ns => {
                let why = format!("has {count} messages in flight: somebody else reads it");
                return refuse(api, &why, OWN);
            }
            _ => std::thread::sleep(Duration::from_millis(250)),
        }
        in_flight = queue.attributes(api, TIMEOUT)?;
    }
}

/// Whether another queue gives its failures to this one. Not every login may ask, nor does every
/// server know.
fn is_dead_letter_queue(api: &mut Api, queue: &Queue) -> bool {
    let asked = json!({ "QueueUrl": queue.url });
    let answer = api.call("ListDeadLetterSourceQueues", &asked, TIMEOUT).unwrap_or_default();
    answer.get("queueUrls").and_then(Value::as_array).is_some_and(|urls| !urls.is_empty())
}

fn send_probe(api: &mut Api, queue: &Queue, probe: &str) -> Result<(), BrokerError> {
    let mut message = json!({
        "QueueUrl": queue.url, "MessageBody": "sojourn",
        "MessageAttributes": { PROBE: { "DataType": "String", "StringValue": probe } },
    });
    if queue.fifo {
        message["MessageGroupId"] = PROBE.into();
        message["MessageDeduplicationId"] = probe.into();
    }
    match api.call("SendMessage", &message, TIMEOUT) {
        Ok(_) => Ok(()),
        Err(error) => Err(api.error(&format!("sending a probe to queue `{}`", queue.name), &error)),
    }
}

/// Takes messages until the probe comes; when it was sent, by the service's clock.
fn find_probe(
    api: &mut Api,
    queue: &Queue,
    probe: &str,
    discard: bool,
) -> Result<u64, BrokerError> {
    let receive = receive_request(queue, WAIT_S, Some(HIDDEN));
    let until_ns = now_ns() + PROBE_NS_MAX;
    let what = format!("queue `{}`", queue.name);
    while now_ns() < until_ns {
        let answer = api.exchange("ReceiveMessage", &receive, TIMEOUT);
        let answer = answer.map_err(|error| api.error(&what, &error))?;
        let messages = decode(&answer).map_err(|error| {
            let place = api.settings.place();
            BrokerError::new(format!("{place}: {what}: this is no answer of SQS: {error}"))
        })?;
        if messages.is_empty() {
            continue;
        }
        let now_unix_ms = unix_ms();
        let is_old = |message: &Received| {
            message.header(PROBE).is_none()
                && message.sent_unix_ms.is_some_and(|sent| sent + OLD_MS < now_unix_ms)
        };
        if !discard && messages.iter().any(is_old) {
            let place = api.settings.place();
            return Err(BrokerError::new(format!("{place}: {what} holds messages of old"))
                .with_hint("if it was made for the test, set `discard: true` in the channel"));
        }
        let receipts = messages.iter().map(|message| message.receipt.as_str());
        let deleted = api.exchange("DeleteMessageBatch", &delete_request(queue, receipts), TIMEOUT);
        deleted.map_err(|error| api.error(&format!("{what}: deleting"), &error))?;
        let found = messages.iter().find(|message| message.header(PROBE) == Some(probe.as_bytes()));
        if let Some(found) = found {
            return Ok(found.sent_unix_ms.unwrap_or(0));
        }
    }
    let place = api.settings.place();
    let message = format!("{place}: {what}: the tap's own probe never came: somebody else took it");
    Err(BrokerError::new(message).with_hint(OWN))
}
