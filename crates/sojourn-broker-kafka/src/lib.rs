//! Kafka: a passive tap on assigned partitions, without a consumer group.
//!
//! [`KafkaTap`] assigns itself every partition of its topics at the end that the broker reports
//! while it opens. It joins no group, commits nothing and takes nothing from the system's own
//! consumers. [`KafkaPublisher`] sends messages and returns the broker's acknowledgements by token.
//! [`KafkaConsumer`] is the opposite of a tap: a member of a group that commits what it took. All
//! are librdkafka clients; its logs go nowhere, and no property's value is ever printed.

mod config;
mod consume;
mod headers;
mod publish;
mod replay;
mod tap;
#[cfg(test)]
mod tests;
mod watch;

use sojourn_broker::{Tap, TapError};
use sojourn_plan::{Channel, Connector};

pub use consume::{KafkaConsumer, Start};
pub use publish::KafkaPublisher;
pub use tap::KafkaTap;

/// The cargo feature that brings this connector, as the registry knows it.
pub const FEATURE: &str = "kafka";

/// Makes a channel's tap, for the registry. Errs when the channel is not a Kafka one.
pub fn tap(channel: &Channel) -> Result<Box<dyn Tap>, TapError> {
    match &channel.connector {
        Connector::Kafka(kafka) => Ok(Box::new(KafkaTap::new(kafka.clone()))),
        Connector::Webhook(_) => {
            Err(TapError::new(format!("channel `{}` is not a kafka channel", channel.name)))
        }
    }
}
