//! Redis: streams, pub/sub and keyspace notifications.
//!
//! [`RedisTap`] reads streams by XREAD from their ends, without a group, or subscribes to channels,
//! patterns and notifications about keys. It writes nothing into the server and takes nothing from
//! the system's own consumers. [`RedisPublisher`] adds entries (XADD) or publishes (PUBLISH) on a
//! pipelined connection; [`RedisConsumer`] is a member of a group that acknowledges what it took;
//! [`RedisBacklog`] asks how much waits for groups.
//!
//! The protocol (`resp`) is spoken here and not by a library: an answer is read in place, without
//! a tree of values for each, so that an entry costs a fraction of the tap's budget
//! (`benches/tap.rs` compares), a message is stamped when its bytes come, and a wait may end
//! anywhere in an answer.
//!
//! Words: an *entry* is a stream's message, its *id* milliseconds and a number; a *target* is a
//! server with its credentials; a failure is *lost* when another try may work, else *fatal*.

mod backlog;
mod config;
mod connection;
mod consume;
mod entry;
mod failure;
#[doc(hidden)]
pub mod foreign;
mod glob;
mod id;
mod info;
mod provision;
mod publish;
mod replay;
mod resp;
mod streams;
mod subscriptions;
mod tap;
mod tls;

use sojourn_broker::{
    Backlog, BrokerError, Connect, Consumer, Publisher, PublisherSettings, Start, Tap,
};
use sojourn_plan::{Channel, Connector, RedisChannel};

pub use backlog::RedisBacklog;
pub use consume::RedisConsumer;
pub use publish::RedisPublisher;
pub use tap::RedisTap;

/// The cargo feature that brings this connector, as the registry knows it.
pub const FEATURE: &str = "redis";

/// The connector, for the registry.
#[derive(Clone, Copy, Debug)]
pub struct Redis;

impl Connect for Redis {
    fn tap(&self, channel: &Channel) -> Result<Box<dyn Tap>, BrokerError> {
        Ok(Box::new(RedisTap::new(settings(channel)?)?))
    }

    fn publisher(
        &self,
        channel: &Channel,
        how: PublisherSettings,
    ) -> Result<Box<dyn Publisher>, BrokerError> {
        Ok(Box::new(RedisPublisher::new(settings(channel)?, how)?))
    }

    fn consumer(
        &self,
        channel: &Channel,
        group: &str,
        start: Start,
    ) -> Result<Box<dyn Consumer>, BrokerError> {
        Ok(Box::new(RedisConsumer::new(settings(channel)?, group)?.starting(start)))
    }

    fn provision(&self, channel: &Channel, group: &str) -> Result<(), BrokerError> {
        provision::provision(settings(channel)?, group)
    }

    fn backlog(&self, channel: &Channel) -> Result<Option<Box<dyn Backlog>>, BrokerError> {
        if channel.backlog.is_empty() {
            return Ok(None);
        }
        Ok(Some(Box::new(RedisBacklog::new(settings(channel)?, &channel.backlog)?)))
    }
}

fn settings(channel: &Channel) -> Result<&RedisChannel, BrokerError> {
    match &channel.connector {
        Connector::Redis(redis) => Ok(redis),
        _ => Err(BrokerError::new(format!("channel `{}` is not a redis channel", channel.name))),
    }
}
