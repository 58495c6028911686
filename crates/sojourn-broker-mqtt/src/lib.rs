//! MQTT 3.1.1 and 5, on a codec of its own.
//!
//! [`MqttTap`] subscribes with a clean session under a client id that nobody else has: the broker
//! sends it copies, and forgets it when it goes. It never joins a shared subscription and never
//! takes over another's session. [`MqttPublisher`] sends at the channel's quality of service and
//! returns the broker's acknowledgements by token. [`MqttConsumer`] is the opposite of a tap: a
//! member of a shared subscription, which takes messages from the group's other members.
//!
//! MQTT has no message keys: the key is what MQTT 5 calls correlation data, headers are its user
//! properties, content type and response topic. 3.1.1 carries neither. MQTT tells nobody how much
//! waits, so there is no backlog.
//!
//! [`session`] is the codec for clients that have a loop of their own: scripts' clients, of which a
//! thread serves thousands.

mod codec;
mod config;
mod connection;
mod consume;
mod filter;
#[doc(hidden)]
pub mod foreign;
mod inbound;
mod publish;
mod reader;
mod sender;
pub mod session;
mod subscription;
mod tap;

use sojourn_broker::{BrokerError, Connect, Consumer, Publisher, PublisherSettings, Start, Tap};
use sojourn_plan::{Channel, Connector, MqttChannel};

pub use consume::MqttConsumer;
pub use publish::MqttPublisher;
pub use tap::MqttTap;

/// The cargo feature that brings this connector, as the registry knows it.
pub const FEATURE: &str = "mqtt";

/// The connector, for the registry.
#[derive(Clone, Copy, Debug)]
pub struct Mqtt;

impl Connect for Mqtt {
    fn tap(&self, channel: &Channel) -> Result<Box<dyn Tap>, BrokerError> {
        Ok(Box::new(MqttTap::new(settings(channel)?)?))
    }

    fn publisher(
        &self,
        channel: &Channel,
        how: PublisherSettings,
    ) -> Result<Box<dyn Publisher>, BrokerError> {
        Ok(Box::new(MqttPublisher::new(settings(channel)?, how)?))
    }

    fn consumer(
        &self,
        channel: &Channel,
        group: &str,
        start: Start,
    ) -> Result<Box<dyn Consumer>, BrokerError> {
        let consumer = MqttConsumer::new(settings(channel)?, group)?;
        match start {
            Start::Latest => Ok(Box::new(consumer)),
            Start::Earliest => Err(BrokerError::new(format!(
                "channel `{}`: mqtt keeps nothing for a group that has no member",
                channel.name
            ))
            .with_hint("there is nothing older to begin with: leave the start out")),
        }
    }
}

fn settings(channel: &Channel) -> Result<&MqttChannel, BrokerError> {
    match &channel.connector {
        Connector::Mqtt(mqtt) => Ok(mqtt),
        _ => Err(BrokerError::new(format!("channel `{}` is not an mqtt channel", channel.name))),
    }
}
