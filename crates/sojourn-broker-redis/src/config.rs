//! From a channel's settings to what a connection needs.

use std::fmt;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use sojourn_broker::BrokerError;
use sojourn_plan::{RedisChannel, Server};
use sojourn_socket::client_config;

use crate::tls::server_name;

/// A server, and how to log in.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) server: Server,
    pub(crate) database: u32,
    pub(crate) tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
}

impl Target {
    /// Errs when the database is no number, or a file of TLS can't be used.
    pub(crate) fn new(redis: &RedisChannel) -> Result<Self, BrokerError> {
        let server = redis.server.clone();
        let database = match server.path.as_str() {
            "" => 0,
            path => path.parse().map_err(|_| {
                BrokerError::new(format!("redis at {}: no database `{path}`", server.address()))
                    .with_hint("the URL's path is a database's number, such as `/0`")
            })?,
        };
        let tls = match server.tls {
            true => {
                let config = client_config(&server.trust).map_err(|error| {
                    BrokerError::new(format!("redis at {}: {error}", server.address()))
                })?;
                Some((config, server_name(&server.host, &server.trust)?))
            }
            false => None,
        };
        Ok(Self { server, database, tls })
    }

    /// `redis at host:port`, for messages.
    pub(crate) fn name(&self) -> String {
        format!("redis at {}", self.server.address())
    }

    /// An error about this server.
    pub(crate) fn error(&self, what: impl fmt::Display) -> BrokerError {
        BrokerError::new(format!("{}: {what}", self.name()))
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").field("server", &self.server).finish_non_exhaustive()
    }
}
