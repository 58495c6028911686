//! SQS and SNS: a tap on a queue of the test's own, publishing in batches, consuming.
//!
//! Whoever reads a queue of SQS takes from it: nobody can listen to the system's own queue. So
//! a tap has a queue for itself, either one that the user made for the test, or, of a topic of
//! SNS, one that it makes, subscribes and deletes. It refuses a queue that looks like
//! somebody's. What it reads it deletes once handed over; what comes twice is dropped by its
//! id.
//!
//! Words: a *receiver* is a request for messages that waits at the service; messages that were
//! given to somebody are *hidden* until they are deleted or their visibility timeout has
//! passed; a *lane* keeps the order of messages that are published.
//!
//! The client is our own: AWS's JSON protocol for SQS and its Query protocol for SNS and
//! CloudWatch, signed by Signature Version 4, over `sojourn-http`. AWS's SDK takes four CPU minutes
//! to compile without its HTTP client, and its answers are decoded before they could be stamped.
//! Keys are never printed.

mod age;
mod api;
mod backlog;
mod batch;
mod config;
mod consume;
mod lanes;
mod listening;
mod message;
mod open;
mod outage;
mod provision;
mod publish;
mod queue;
mod received;
mod seen;
mod sending;
mod sns;
mod tap;

use sojourn_aws::environment;
use sojourn_broker::{
    Backlog, BrokerError, Connect, Consumer, Publisher, PublisherSettings, Start, Tap,
};
use sojourn_plan::{Channel, Connector, SqsChannel, SqsSource};

use crate::api::Api;
use crate::config::{Service, Settings};

pub use consume::SqsConsumer;
pub use publish::SqsPublisher;
pub use tap::SqsTap;

/// The cargo feature that brings this connector, as the registry knows it.
pub const FEATURE: &str = "sqs";

/// The connector, for the registry.
#[derive(Clone, Copy, Debug)]
pub struct Sqs;

impl Connect for Sqs {
    fn tap(&self, channel: &Channel) -> Result<Box<dyn Tap>, BrokerError> {
        Ok(Box::new(SqsTap::new(settings(channel)?)?))
    }

    fn publisher(
        &self,
        channel: &Channel,
        how: PublisherSettings,
    ) -> Result<Box<dyn Publisher>, BrokerError> {
        let sqs = settings(channel)?;
        let usual = sqs.publish.first().unwrap_or_else(|| sqs.source.name());
        let service = if usual.starts_with("arn:") { Service::Sns } else { Service::Sqs };
        Ok(Box::new(SqsPublisher::new(api(sqs, service)?, sqs, how)?))
    }

    /// A group is a queue: its name or URL.
    fn consumer(
        &self,
        channel: &Channel,
        group: &str,
        _start: Start,
    ) -> Result<Box<dyn Consumer>, BrokerError> {
        let api = api(settings(channel)?, Service::Sqs)?;
        Ok(Box::new(SqsConsumer::new(api, group)))
    }

    fn provision(&self, channel: &Channel, group: &str) -> Result<(), BrokerError> {
        let sqs = settings(channel)?;
        let mut queues = api(sqs, Service::Sqs)?;
        match &sqs.source {
            SqsSource::Queue(_) => provision::queues(&mut queues, sqs, group),
            SqsSource::Topic(topic) => {
                provision::topic(&mut queues, &mut api(sqs, Service::Sns)?, topic, group)
            }
        }
    }

    fn backlog(&self, channel: &Channel) -> Result<Option<Box<dyn Backlog>>, BrokerError> {
        if channel.backlog.is_empty() {
            return Ok(None);
        }
        let backlog = backlog::SqsBacklog::new(settings(channel)?, &channel.backlog)?;
        Ok(Some(Box::new(backlog)))
    }
}

fn api(sqs: &SqsChannel, service: Service) -> Result<Api, BrokerError> {
    Api::new(Settings::new(sqs, service, &environment)?)
}

fn settings(channel: &Channel) -> Result<&SqsChannel, BrokerError> {
    let Connector::Sqs(sqs) = &channel.connector else {
        return Err(BrokerError::new(format!("channel `{}` is not an sqs channel", channel.name)));
    };
    if let SqsSource::Topic(topic) = &sqs.source
        && !topic.starts_with("arn:")
    {
        let message = format!("channel `{}`: topic `{topic}` is not an ARN", channel.name);
        return Err(BrokerError::new(message)
            .with_hint("write it as `arn:aws:sns:eu-west-1:123456789012:orders`"));
    }
    Ok(sqs)
}
