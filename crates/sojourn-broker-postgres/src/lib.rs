//! Postgres: notifications, a table's new rows, and a publication's changes.
//!
//! [`PostgresTap`] listens in one of three ways, on one connection of its own: LISTEN; a *cursor*,
//! a growing number by which a table is asked for what is new, *holes* (numbers left out) included;
//! or a temporary replication slot on a publication. [`PostgresPublisher`] inserts rows and sends
//! notifications, each in a transaction of its own. The backlog is the system's outbox table and
//! the replication slots that the plan names.
//!
//! It creates nothing that outlives its connection ([`Connect::provision`], for demos and tests,
//! makes a table), changes no row, and takes none from the system's relay. Names from a plan are
//! always quoted; the one piece of SQL that a plan may write is `outbox.waiting`. The
//! protocol's bytes are `postgres-protocol`'s business; here is the I/O, which happens on the
//! caller's thread (a publisher's on its own) and nowhere else.

mod backlog;
mod catalog;
mod config;
mod connection;
mod failure;
#[doc(hidden)]
pub mod foreign;
mod headers;
mod holes;
mod identifier;
mod notify;
mod pgoutput;
mod provision;
mod publish;
mod replication;
mod socket;
mod source;
mod statement;
mod table;
mod tap;
mod tls;
mod values;

use sojourn_broker::{
    Backlog, BrokerError, Connect, Consumer, Publisher, PublisherSettings, Start, Tap,
};
use sojourn_plan::Channel;

pub use backlog::PostgresBacklog;
pub use publish::PostgresPublisher;
pub use tap::PostgresTap;

/// The cargo feature that brings this connector, as the registry knows it.
pub const FEATURE: &str = "postgres";

/// The connector, for the registry.
#[derive(Clone, Copy, Debug)]
pub struct Postgres;

impl Connect for Postgres {
    fn tap(&self, channel: &Channel) -> Result<Box<dyn Tap>, BrokerError> {
        Ok(Box::new(PostgresTap::new(config::settings(channel)?)?))
    }

    fn publisher(
        &self,
        channel: &Channel,
        how: PublisherSettings,
    ) -> Result<Box<dyn Publisher>, BrokerError> {
        Ok(Box::new(PostgresPublisher::new(config::settings(channel)?, how)?))
    }

    fn consumer(
        &self,
        channel: &Channel,
        _group: &str,
        _start: Start,
    ) -> Result<Box<dyn Consumer>, BrokerError> {
        let name = &channel.name;
        let what = format!("channel `{name}`: Postgres has no consumer groups to be a member of");
        Err(BrokerError::new(what).with_hint(
            "a relay marks or deletes the rows it took in its own way; listen with a tap instead",
        ))
    }

    fn provision(&self, channel: &Channel, _group: &str) -> Result<(), BrokerError> {
        provision::provision(config::settings(channel)?)
    }

    fn backlog(&self, channel: &Channel) -> Result<Option<Box<dyn Backlog>>, BrokerError> {
        let postgres = config::settings(channel)?;
        if postgres.outbox.is_none() && channel.backlog.is_empty() {
            return Ok(None);
        }
        Ok(Some(Box::new(PostgresBacklog::new(postgres, &channel.backlog)?)))
    }
}
