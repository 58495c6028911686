//! Creating queues, for demos and tests.

use serde_json::json;
use sojourn_broker::BrokerError;
use sojourn_plan::{SqsChannel, SqsSource};

use crate::api::Api;
use crate::queue::Queue;

/// Creates the channel's queue, those that it publishes to and the group's, where they are missing.
pub(crate) fn provision(
    api: &mut Api,
    channel: &SqsChannel,
    group: &str,
) -> Result<(), BrokerError> {
    if let SqsSource::Topic(topic) = &channel.source {
        return Err(BrokerError::new(format!("topic `{topic}` is not created here"))
            .with_hint("create it by `aws sns create-topic`, or name a queue"));
    }
    let mut names = vec![channel.source.name().as_str(), group];
    names.extend(channel.publish.iter().map(String::as_str));
    names.sort_unstable();
    names.dedup();
    for name in names {
        Queue::create(api, name, &json!({}), &json!({}))?;
    }
    Ok(())
}
