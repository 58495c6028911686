//! Finding queues, and what is known of them.

use std::time::Duration;

use serde_json::{Value, json};
use sojourn_broker::BrokerError;

use crate::api::Api;

/// How long the service has for a request that is not a wait for messages.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);

/// A queue that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Queue {
    pub(crate) name: String,
    /// What the service knows it by.
    pub(crate) url: String,
    /// Whether it keeps order within groups.
    pub(crate) fifo: bool,
}

impl Queue {
    /// Finds a queue by name or URL. Errs when there is none, naming similar ones.
    pub(crate) fn find(api: &mut Api, name_or_url: &str) -> Result<Self, BrokerError> {
        let name = name_of(name_or_url).to_owned();
        let fifo = name.ends_with(".fifo");
        if name != name_or_url {
            return Ok(Self { name, url: name_or_url.to_owned(), fifo });
        }
        match api.call("GetQueueUrl", &json!({ "QueueName": name }), TIMEOUT) {
            Ok(answer) => Ok(Self { url: text(&answer, "QueueUrl"), name, fifo }),
            Err(error) if error.is_missing() => Err(missing(api, &name)),
            Err(error) => Err(api.error(&format!("queue `{name}`"), &error)),
        }
    }

    /// All its attributes.
    pub(crate) fn attributes(
        &self,
        api: &mut Api,
        timeout: Duration,
    ) -> Result<Value, BrokerError> {
        let asked = json!({ "QueueUrl": self.url, "AttributeNames": ["All"] });
        match api.call("GetQueueAttributes", &asked, timeout) {
            Ok(answer) => Ok(answer.get("Attributes").cloned().unwrap_or_default()),
            Err(error) if error.is_missing() => Err(missing(api, &self.name)),
            Err(error) => Err(api.error(&format!("queue `{}`", self.name), &error)),
        }
    }

    /// Creates a queue, or finds it where it is.
    pub(crate) fn create(
        api: &mut Api,
        name_or_url: &str,
        attributes: &Value,
        tags: &Value,
    ) -> Result<Self, BrokerError> {
        let name = name_of(name_or_url).to_owned();
        let fifo = name.ends_with(".fifo");
        let mut attributes = attributes.clone();
        if fifo {
            attributes["FifoQueue"] = "true".into();
        }
        let mut asked = json!({ "QueueName": name, "Attributes": attributes });
        if tags.as_object().is_some_and(|tags| !tags.is_empty()) {
            asked["tags"] = tags.clone();
        }
        match api.call("CreateQueue", &asked, TIMEOUT) {
            Ok(answer) => Ok(Self { url: text(&answer, "QueueUrl"), name, fifo }),
            // With other attributes than ours, which are its owner's choice.
            Err(error) if error.is(&["QueueNameExists", "QueueAlreadyExists"]) => {
                Self::find(api, &name)
            }
            Err(error) => Err(api.error(&format!("creating queue `{name}`"), &error)),
        }
    }
}

/// When a queue was created, by its own clock: by this one is known that was made anew under its
/// name.
pub(crate) fn created(attributes: &Value) -> Option<u64> {
    figure(attributes, "CreatedTimestamp")
}

/// A figure among a queue's attributes, which are all texts.
pub(crate) fn figure(attributes: &Value, name: &str) -> Option<u64> {
    attributes.get(name)?.as_str()?.parse().ok()
}

pub(crate) fn text(answer: &Value, name: &str) -> String {
    answer.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The last part of a queue's URL, or the name as it is.
pub(crate) fn name_of(name_or_url: &str) -> &str {
    match name_or_url.contains("://") {
        true => name_or_url.trim_end_matches('/').rsplit('/').next().unwrap_or(name_or_url),
        false => name_or_url,
    }
}

fn missing(api: &mut Api, name: &str) -> BrokerError {
    let place = api.settings.place();
    let region = &api.settings.region;
    let error = BrokerError::new(format!("{place}: there is no queue `{name}` in {region}"));
    let listed = api.call("ListQueues", &json!({ "MaxResults": 1000 }), TIMEOUT);
    let urls = listed.ok().and_then(|answer| answer.get("QueueUrls").cloned());
    let urls = urls.and_then(|urls| urls.as_array().cloned()).unwrap_or_default();
    let similar = urls
        .iter()
        .filter_map(Value::as_str)
        .map(|url| (strsim::jaro_winkler(name, name_of(url)), name_of(url)))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|one, other| one.0.total_cmp(&other.0));
    match similar {
        Some((_, similar)) => error.with_hint(format!("is `{similar}` meant?")),
        None => error.with_hint("create it, or check its name, the region and the account"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_named_by_its_name_or_its_url() {
        assert_eq!(name_of("orders"), "orders");
        assert_eq!(name_of("https://sqs.eu-west-1.amazonaws.com/1/orders.fifo"), "orders.fifo");
        assert_eq!(name_of("http://127.0.0.1:9324/000000000000/q/"), "q");
        assert_eq!(figure(&json!({ "a": "7", "b": 7 }), "a"), Some(7));
        assert_eq!(figure(&json!({ "a": "x" }), "a"), None);
    }
}
