//! From a channel's settings to a connection's: address, login, TLS.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use serde_json::{Value, json};
use sojourn_broker::BrokerError;
use sojourn_plan::{NatsChannel, Secret};
use sojourn_socket::client_config;

use crate::nkey::Credentials;

/// What a connection is made with. Its files have been read.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// `host:port`, for messages.
    pub(crate) address: String,
    pub(crate) tls: Option<TlsSettings>,
    pub(crate) login: Login,
    /// What subjects for answers begin with.
    pub(crate) inbox: String,
    /// What subjects of JetStream's requests begin with, without the last dot.
    pub(crate) api: String,
}

#[derive(Clone, Debug)]
pub(crate) struct TlsSettings {
    pub(crate) config: Arc<ClientConfig>,
    pub(crate) name: ServerName<'static>,
    /// TLS before the server's greeting.
    pub(crate) first: bool,
}

/// As whom to come.
#[derive(Clone, Debug)]
pub(crate) enum Login {
    Nobody,
    User { user: String, password: Secret },
    Token(Secret),
    Key(Arc<Credentials>),
}

impl Settings {
    /// Errs when a file that is named cannot be used.
    pub(crate) fn new(nats: &NatsChannel) -> Result<Self, BrokerError> {
        let server = &nats.server;
        let tls = match server.tls {
            true => Some(Self::tls(nats)?),
            false => None,
        };
        let login = match (&nats.credentials, &server.user, &server.password) {
            (Some(file), ..) => {
                let unusable = |problem: &dyn std::fmt::Display| {
                    BrokerError::new(format!("nats credentials in {}: {problem}", file.display()))
                        .with_hint("such files are made by `nsc generate creds`")
                };
                let text = std::fs::read_to_string(file).map_err(|error| unusable(&error))?;
                Login::Key(Arc::new(Credentials::parse(&text).map_err(|error| unusable(&error))?))
            }
            (None, Some(user), Some(password)) => {
                Login::User { user: user.clone(), password: password.clone() }
            }
            // As NATS's own clients read a URL with one word before the `@`.
            (None, Some(token), None) => Login::Token(Secret::new(token)),
            (None, None, _) => Login::Nobody,
        };
        Ok(Self {
            host: server.host.clone(),
            port: server.port,
            address: server.address(),
            tls,
            login,
            inbox: nats.inbox.clone().unwrap_or_else(|| "_INBOX".to_owned()),
            api: match &nats.domain {
                Some(domain) => format!("$JS.{domain}.API"),
                None => "$JS.API".to_owned(),
            },
        })
    }

    fn tls(nats: &NatsChannel) -> Result<TlsSettings, BrokerError> {
        let server = &nats.server;
        let name = server.trust.name.as_deref().unwrap_or(&server.host).to_owned();
        let name = ServerName::try_from(name.clone()).map_err(|_| {
            BrokerError::new(format!("nats at {}: `{name}` is no name for TLS", server.address()))
        })?;
        let config = client_config(&server.trust)
            .map_err(|error| BrokerError::new(format!("nats at {}: {error}", server.address())))?;
        Ok(TlsSettings { config, name, first: nats.tls_first })
    }

    /// What we say of ourselves, in JSON.
    pub(crate) fn introduction(&self, nonce: Option<&str>) -> String {
        let mut words = json!({
            "verbose": false,
            "pedantic": false,
            "tls_required": self.tls.is_some(),
            "name": "sojourn",
            "lang": "rust",
            "version": env!("CARGO_PKG_VERSION"),
            "protocol": 1,
            "echo": true,
            "headers": true,
            "no_responders": true,
        });
        match &self.login {
            Login::Nobody => {}
            Login::User { user, password } => {
                words["user"] = Value::from(user.as_str());
                words["pass"] = Value::from(password.reveal());
            }
            Login::Token(token) => words["auth_token"] = Value::from(token.reveal()),
            Login::Key(key) => {
                match &key.jwt {
                    Some(jwt) => words["jwt"] = Value::from(jwt.as_str()),
                    None => words["nkey"] = Value::from(key.public()),
                }
                words["sig"] = Value::from(key.sign(nonce.unwrap_or_default()));
            }
        }
        words.to_string()
    }
}
