//! From a channel's settings to a session's.

use sojourn_broker::BrokerError;
use sojourn_plan::{MqttChannel, MqttVersion};
use sojourn_socket::Endpoint;
use uuid::Uuid;

use crate::codec::{Connect, reason_name};
use crate::filter;

/// The broker ends a session that says nothing for one and a half times this long. It is pinged far
/// more often.
const KEEP_ALIVE_S: u16 = 30;
/// Digits of randomness in a client id; with its prefix 23 characters, which every broker takes.
const RANDOM_DIGITS: usize = 15;

/// What a session is made with.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) endpoint: Endpoint,
    channel: MqttChannel,
    client_id: String,
}

/// Who wants a session: all of a channel's are different ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Tap,
    Publisher,
    Consumer,
}

impl Settings {
    /// Errs when something about them can't work.
    pub(crate) fn new(channel: &MqttChannel, role: Role) -> Result<Self, BrokerError> {
        let endpoint = Endpoint::new("mqtt", &channel.server, &[])?;
        if channel.version == MqttVersion::V3
            && channel.server.password.is_some()
            && channel.server.user.is_none()
        {
            return Err(endpoint.error("MQTT 3.1.1 has no password without a user"));
        }
        if role != Role::Publisher {
            check_filters(&endpoint, &channel.filters)?;
        }
        let random = Uuid::new_v4().simple().to_string();
        let client_id = match (&channel.client_id, role) {
            (None, _) => format!("sojourn-{}", &random[..RANDOM_DIGITS]),
            (Some(id), Role::Tap) => id.clone(),
            // Under the same id they would end each other's session.
            (Some(id), Role::Publisher) => format!("{id}-p{}", &random[..8]),
            (Some(id), Role::Consumer) => format!("{id}-c{}", &random[..8]),
        };
        Ok(Self { endpoint, channel: channel.clone(), client_id })
    }

    pub(crate) fn version(&self) -> MqttVersion {
        self.channel.version
    }

    pub(crate) fn qos(&self) -> u8 {
        self.channel.qos.min(2)
    }

    pub(crate) fn filters(&self) -> &[String] {
        &self.channel.filters
    }

    pub(crate) fn connect(&self) -> Connect<'_> {
        let server = &self.channel.server;
        Connect {
            version: self.version(),
            client_id: &self.client_id,
            is_clean: true,
            will: None,
            keep_alive_s: KEEP_ALIVE_S,
            user: server.user.as_deref(),
            password: server.password.as_ref().map(sojourn_plan::Secret::reveal),
        }
    }

    /// The broker does not want us.
    pub(crate) fn refused(&self, reason: u8) -> BrokerError {
        let error =
            self.endpoint.error(&format!("the connection is refused: {}", reason_name(reason)));
        let version = match self.version() {
            MqttVersion::V5 => "try `version: \"3.1.1\"`",
            MqttVersion::V3 => "try `version: \"5\"`",
        };
        match reason {
            0x86 | 0x87 if self.channel.server.user.is_none() => {
                error.with_hint("give a user and a password in the URL: mqtt://USER:PASSWORD@HOST")
            }
            0x86 | 0x87 => error.with_hint("are user and password in the URL the right ones?"),
            0x84 => error.with_hint(version),
            0x85 => error.with_hint("give a `client_id` that the broker takes"),
            _ => error,
        }
    }
}

fn check_filters(endpoint: &Endpoint, filters: &[String]) -> Result<(), BrokerError> {
    for (place, topic) in filters.iter().enumerate() {
        if let Some(problem) = filter::problem(topic) {
            return Err(endpoint.error(&format!("topic filter `{topic}`: {problem}")));
        }
        if let Some(other) = filters[..place].iter().find(|other| filter::overlap(other, topic)) {
            return Err(endpoint
                .error(&format!("the topic filters `{other}` and `{topic}` overlap"))
                .with_hint(
                    "a broker may send a message once for each of them: \
                     write filters that share no topic",
                ));
        }
    }
    Ok(())
}
