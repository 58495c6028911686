//! Creating queues and topics, for demos and tests.

use serde_json::json;
use sojourn_broker::BrokerError;
use sojourn_plan::SqsChannel;

use crate::api::Api;
use crate::queue::Queue;
use crate::sns::{create, subscribe};

/// Creates the channel's queue, those that it publishes to and the group's, where they are missing.
pub(crate) fn queues(api: &mut Api, channel: &SqsChannel, group: &str) -> Result<(), BrokerError> {
    let mut names = vec![channel.source.name().as_str(), group];
    names.extend(channel.publish.iter().map(String::as_str));
    names.sort_unstable();
    names.dedup();
    for name in names {
        Queue::create(api, name, &json!({}), &json!({}))?;
    }
    Ok(())
}

/// Creates a topic and the group's queue, where they are missing, and subscribes the queue: a topic
/// has no groups but the queues that it sends to.
pub(crate) fn topic(
    sqs: &mut Api,
    sns: &mut Api,
    topic: &str,
    group: &str,
) -> Result<(), BrokerError> {
    create(sns, topic)?;
    let queue = Queue::create(sqs, group, &json!({}), &json!({}))?;
    subscribe(sqs, sns, &queue, topic, &mut None)
}
