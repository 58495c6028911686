//! From a channel's settings to where and as whom to connect, and errors that say what to do.

use std::sync::Arc;

use rustls::ClientConfig;
use sojourn_broker::BrokerError;
use sojourn_plan::{Channel, Connector, PostgresChannel, Server};
use sojourn_socket::client_config;

use crate::failure::Failure;

/// A server to connect to.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) server: Server,
    pub(crate) user: String,
    pub(crate) database: String,
    pub(crate) tls: Option<Arc<ClientConfig>>,
}

impl Target {
    /// Reads the files that TLS needs; connects to nothing.
    pub(crate) fn new(server: &Server) -> Result<Self, BrokerError> {
        let tls = server.tls.then(|| client_config(&server.trust)).transpose();
        let tls = tls.map_err(|error| {
            BrokerError::new(format!("postgres at {}: {error}", server.address()))
        })?;
        let user = server.user.clone().unwrap_or_else(|| "postgres".to_owned());
        let database = match server.path.as_str() {
            "" => user.clone(),
            path => path.to_owned(),
        };
        // They are sent as texts that end at the first zero.
        if [&user, &database].iter().any(|text| text.contains('\0')) {
            return Err(BrokerError::new("postgres: a zero byte in the URL"));
        }
        Ok(Self { server: server.clone(), user, database, tls })
    }

    /// The server and its database, for messages.
    pub(crate) fn name(&self) -> String {
        format!("postgres at {}/{}", self.server.address(), self.database)
    }

    /// An error about this server.
    pub(crate) fn error(&self, what: impl std::fmt::Display) -> BrokerError {
        BrokerError::new(format!("{}: {what}", self.name()))
    }

    /// A failure in words, with what to do where that is known.
    pub(crate) fn explain(&self, failure: &Failure) -> BrokerError {
        let address = self.server.address();
        if let Some(hint) = failure.about_certificate() {
            let message = format!("postgres at {address}: TLS: {failure}");
            return BrokerError::new(message).with_hint(hint);
        }
        let Some(code) = failure.code() else {
            return BrokerError::new(format!("cannot reach postgres at {address}: {failure}"))
                .with_hint("is the server running, and is this its address?");
        };
        let error = self.error(failure);
        let user = &self.user;
        match code {
            "28P01" => BrokerError::new(format!(
                "postgres at {address} does not let user `{user}` in: wrong password"
            ))
            .with_hint("the URL has both: postgres://USER:PASSWORD@HOST/DATABASE"),
            "28000" => error.with_hint(
                "pg_hba.conf decides who may come from where, and whether TLS is a must \
                 (`postgres+tls://`)",
            ),
            "3D000" => error.with_hint("the path of the URL is the name of the database"),
            "42501"
                if failure.to_string().contains("walsender")
                    || failure.to_string().contains("replication") =>
            {
                error.with_hint(format!("ALTER ROLE \"{user}\" REPLICATION"))
            }
            "42501" => error.with_hint(format!("GRANT it to \"{user}\"")),
            "53300" => error.with_hint("a tap needs one connection of its own"),
            "53400" => error.with_hint("raise max_replication_slots, or drop a slot"),
            _ => error,
        }
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Target").field(&self.name()).finish()
    }
}

/// The channel's settings.
pub(crate) fn settings(channel: &Channel) -> Result<&PostgresChannel, BrokerError> {
    match &channel.connector {
        Connector::Postgres(postgres) => Ok(postgres),
        _ => {
            let message = format!("channel `{}` is not a postgres channel", channel.name);
            Err(BrokerError::new(message))
        }
    }
}

/// Up to five names to offer instead of a missing one, the most similar first.
pub(crate) fn similar(wanted: &str, known: &[String]) -> String {
    let mut scored: Vec<_> =
        known.iter().map(|name| (strsim::jaro_winkler(wanted, name), name)).collect();
    scored.sort_by(|left, right| right.0.total_cmp(&left.0));
    let offered: Vec<_> = scored.iter().take(5).map(|(_, name)| format!("`{name}`")).collect();
    offered.join(", ")
}
