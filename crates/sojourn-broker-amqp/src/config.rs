//! From a channel's settings to what a connection needs.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use sojourn_broker::BrokerError;
use sojourn_plan::{AmqpChannel, Secret, Server};

use crate::tls;

/// Where the broker is, and as whom to come. Its `Debug` shows no secret.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) vhost: String,
    pub(crate) user: String,
    pub(crate) password: Secret,
    /// A client certificate and no user: it says who we are, if the broker takes that.
    pub(crate) by_certificate: bool,
    pub(crate) tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
}

impl Settings {
    /// Errs when a file of certificates can't be read, or the name is none.
    pub(crate) fn new(channel: &AmqpChannel) -> Result<Self, BrokerError> {
        let Server { host, port, user, password, path, trust, .. } = &channel.server;
        let at = format!("amqp at {}", channel.server.address());
        // Every client of AMQP takes these where the URL says none.
        let guest = || Secret::new("guest");
        Ok(Self {
            host: host.clone(),
            port: *port,
            vhost: if path.is_empty() { "/".to_owned() } else { path.clone() },
            user: user.clone().unwrap_or_else(|| "guest".to_owned()),
            password: password.clone().unwrap_or_else(guest),
            by_certificate: user.is_none() && trust.cert.is_some(),
            tls: tls::of(&channel.server).map_err(|error| tls::file_error(&at, &error))?,
        })
    }

    /// How messages name the broker: `amqp at host:port`.
    pub(crate) fn name(&self) -> String {
        match self.host.contains(':') {
            true => format!("amqp at [{}]:{}", self.host, self.port),
            false => format!("amqp at {}:{}", self.host, self.port),
        }
    }
}
