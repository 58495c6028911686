//! NATS: subscriptions of core NATS, and ordered consumers of JetStream.
//!
//! - [`NatsTap`] subscribes to subjects like any other subscriber, or reads a stream by an
//!   ephemeral consumer that acknowledges nothing.
//! - [`NatsPublisher`] sends messages; they are acknowledged by the pong behind them or, where the
//!   channel names a stream, by the stream.
//! - [`NatsConsumer`] is the opposite of a tap: a member of a durable consumer or a queue group.
//! - [`NatsBacklog`] asks how much waits for durable consumers.
//!
//! Words: a *subject* is NATS's word for topic, a *stream* keeps the messages of some subjects, a
//! *consumer* is a stream's own record of who has read how far.
//!
//! The client protocol is spoken here directly: it is a few lines of text, and the library for it
//! does not tell when a subscription or a message has reached the server (the pong), reconnects
//! without saying so, and drops messages of a reader that is slow. Never here: streams made,
//! messages resent, addresses connected to that the plan does not name.

mod backlog;
mod config;
mod connection;
mod consume;
mod dial;
#[doc(hidden)]
pub mod foreign;
mod headers;
mod jetstream;
mod lost;
mod message;
mod nkey;
mod ordered;
mod protocol;
mod provision;
mod publish;
mod replay;
mod subject;
mod tap;
mod tls;
mod wire;
mod worker;

use sojourn_broker::{
    Backlog, BrokerError, Connect, Consumer, Publisher, PublisherSettings, Start, Tap,
};
use sojourn_plan::{Channel, Connector, NatsChannel};

pub use backlog::NatsBacklog;
pub use consume::NatsConsumer;
pub use publish::NatsPublisher;
pub use tap::NatsTap;

/// The cargo feature that brings this connector, as the registry knows it.
pub const FEATURE: &str = "nats";

/// The connector, for the registry.
#[derive(Clone, Copy, Debug)]
pub struct Nats;

impl Connect for Nats {
    fn tap(&self, channel: &Channel) -> Result<Box<dyn Tap>, BrokerError> {
        Ok(Box::new(NatsTap::new(settings(channel)?)?))
    }

    fn publisher(
        &self,
        channel: &Channel,
        how: PublisherSettings,
    ) -> Result<Box<dyn Publisher>, BrokerError> {
        Ok(Box::new(NatsPublisher::new(settings(channel)?, how)?))
    }

    fn consumer(
        &self,
        channel: &Channel,
        group: &str,
        start: Start,
    ) -> Result<Box<dyn Consumer>, BrokerError> {
        Ok(Box::new(NatsConsumer::new(settings(channel)?, group)?.starting(start)))
    }

    fn provision(&self, channel: &Channel, _group: &str) -> Result<(), BrokerError> {
        provision::provision(settings(channel)?)
    }

    fn backlog(&self, channel: &Channel) -> Result<Option<Box<dyn Backlog>>, BrokerError> {
        match channel.backlog.as_slice() {
            [] => Ok(None),
            consumers => Ok(Some(Box::new(NatsBacklog::new(settings(channel)?, consumers)?))),
        }
    }
}

fn settings(channel: &Channel) -> Result<&NatsChannel, BrokerError> {
    match &channel.connector {
        Connector::Nats(nats) => Ok(nats),
        _ => Err(BrokerError::new(format!("channel `{}` is not a nats channel", channel.name))),
    }
}
