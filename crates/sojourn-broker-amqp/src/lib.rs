//! AMQP 0.9.1, as RabbitMQ speaks it: a passive tap on an exchange.
//!
//! [`AmqpTap`] makes a queue of its own (exclusive, named by the broker, gone with the connection),
//! binds it to an exchange that exists and reads it, so that it gets a copy of what the system's
//! queues get. [`AmqpPublisher`] publishes with confirms and returns them by token.
//! [`AmqpConsumer`] is the opposite of a tap: it takes messages from one of the system's queues.
//! [`AmqpBacklog`] asks how much such queues hold.
//!
//! Words: a *routing key* is the topic of a message; the *management* is RabbitMQ's HTTP API.
//!
//! It speaks the protocol itself (`wire` without sockets, `connection` with one): a socket that
//! never blocks, read by whoever polls the tap, so that no message passes from thread to thread.
//! Only [`Connect::provision`], for demos and tests, declares an exchange or a queue of the system;
//! it never touches the system's queues but to ask for their lengths, and never shows a password.

mod backlog;
mod config;
mod confirms;
mod connection;
mod consume;
mod exchange;
mod failure;
#[doc(hidden)]
pub mod foreign;
mod management;
mod provision;
mod publish;
mod sender;
mod stream;
mod tap;
mod tls;
mod wire;

use sojourn_broker::{
    Backlog, BrokerError, Connect, Consumer, Publisher, PublisherSettings, Start, Tap,
};
use sojourn_plan::{AmqpChannel, Channel, Connector};

pub use backlog::AmqpBacklog;
pub use consume::AmqpConsumer;
pub use publish::AmqpPublisher;
pub use tap::AmqpTap;

/// The cargo feature that brings this connector, as the registry knows it.
pub const FEATURE: &str = "amqp";

/// The connector, for the registry.
#[derive(Clone, Copy, Debug)]
pub struct Amqp;

impl Connect for Amqp {
    fn tap(&self, channel: &Channel) -> Result<Box<dyn Tap>, BrokerError> {
        Ok(Box::new(AmqpTap::new(settings(channel)?)?))
    }

    fn publisher(
        &self,
        channel: &Channel,
        how: PublisherSettings,
    ) -> Result<Box<dyn Publisher>, BrokerError> {
        Ok(Box::new(AmqpPublisher::new(settings(channel)?, how)?))
    }

    fn consumer(
        &self,
        channel: &Channel,
        group: &str,
        _start: Start,
    ) -> Result<Box<dyn Consumer>, BrokerError> {
        Ok(Box::new(AmqpConsumer::new(settings(channel)?, group)?))
    }

    fn provision(&self, channel: &Channel, group: &str) -> Result<(), BrokerError> {
        provision::provision(settings(channel)?, group)
    }

    fn backlog(&self, channel: &Channel) -> Result<Option<Box<dyn Backlog>>, BrokerError> {
        if channel.backlog.is_empty() {
            return Ok(None);
        }
        Ok(Some(Box::new(AmqpBacklog::new(settings(channel)?, &channel.backlog)?)))
    }
}

fn settings(channel: &Channel) -> Result<&AmqpChannel, BrokerError> {
    match &channel.connector {
        Connector::Amqp(amqp) => Ok(amqp),
        _ => Err(BrokerError::new(format!("channel `{}` is not an amqp channel", channel.name))),
    }
}
