//! Kafka: a passive tap on assigned partitions, without a consumer group.
//!
//! [`KafkaTap`] assigns itself every partition of its topics at the end that the broker reports
//! while it opens. It joins no group, commits nothing and takes nothing from the system's own
//! consumers. [`KafkaPublisher`] sends messages and returns the broker's acknowledgements by token.
//! [`KafkaConsumer`] is the opposite of a tap: a member of a group that commits what it took.
//! [`client`] is what scripts drive. All are librdkafka clients; its logs go nowhere,
//! and no property's value is ever printed.

mod backlog;
pub mod client;
mod config;
mod connection;
mod consume;
mod final_errors;
mod judge;
mod links;
mod open;
mod outage;
mod provision;
mod publish;
mod ready;
mod received;
mod replay;
mod statistics;
mod subscription;
mod tap;
#[cfg(test)]
mod tests;
mod transactions;
mod watch;

use sojourn_broker::{
    Backlog, BrokerError, Connect, Consumer, Publisher, PublisherSettings, Start, Tap,
};
use sojourn_plan::{Channel, Connector, KafkaChannel};

pub use backlog::KafkaBacklog;
pub use consume::KafkaConsumer;
pub use publish::KafkaPublisher;
pub use tap::KafkaTap;

/// The cargo feature that brings this connector, as the registry knows it.
pub const FEATURE: &str = "kafka";

/// The connector, for the registry.
#[derive(Clone, Copy, Debug)]
pub struct Kafka;

impl Connect for Kafka {
    fn tap(&self, channel: &Channel) -> Result<Box<dyn Tap>, BrokerError> {
        Ok(Box::new(KafkaTap::new(settings(channel)?.clone())))
    }

    fn publisher(
        &self,
        channel: &Channel,
        how: PublisherSettings,
    ) -> Result<Box<dyn Publisher>, BrokerError> {
        Ok(Box::new(KafkaPublisher::new(settings(channel)?, how)?))
    }

    fn provision(&self, channel: &Channel, _group: &str) -> Result<(), BrokerError> {
        provision::provision(settings(channel)?)
    }

    fn consumer(
        &self,
        channel: &Channel,
        group: &str,
        start: Start,
    ) -> Result<Box<dyn Consumer>, BrokerError> {
        Ok(Box::new(KafkaConsumer::new(settings(channel)?, group, start)?))
    }

    fn backlog(&self, channel: &Channel) -> Result<Option<Box<dyn Backlog>>, BrokerError> {
        let kafka = settings(channel)?;
        match channel.backlog.is_empty() {
            true => Ok(None),
            false => Ok(Some(Box::new(KafkaBacklog::new(kafka, &channel.backlog)?))),
        }
    }
}

fn settings(channel: &Channel) -> Result<&KafkaChannel, BrokerError> {
    match &channel.connector {
        Connector::Kafka(kafka) => Ok(kafka),
        _ => Err(BrokerError::new(format!("channel `{}` is not a kafka channel", channel.name))),
    }
}
