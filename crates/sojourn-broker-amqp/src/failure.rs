//! What goes wrong with a connection, in words for errors and for outcomes.

use std::io::{self, ErrorKind};

use sojourn_broker::BrokerError;

use crate::config::Settings;
use crate::tls;
use crate::wire::Malformed;

/// Why a connection is not, or no longer, of use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Nobody answers.
    Unreachable(String),
    /// TLS could not be agreed on: what, and what to do.
    Tls(String, &'static str),
    /// Cut off at the greeting, without a word.
    CutOffAtGreeting,
    /// The connection ended in the TLS handshake.
    CutOffInHandshake,
    /// Cut off while logging in, without a word.
    CutOffAtLogin,
    /// The connection was cut off.
    Lost,
    /// The broker has been silent for too long.
    Silent,
    /// No answer in time to this.
    Late(&'static str),
    /// The broker closed the connection.
    Closed { code: u16, text: String },
    /// The broker closed our channel.
    ChannelClosed { code: u16, text: String },
    /// The broker ended the subscription.
    Cancelled,
    /// Not AMQP 0.9.1.
    Malformed(&'static str),
    /// The broker takes no messages: its memory or disk is full.
    Blocked,
}

impl From<Malformed> for Failure {
    fn from(Malformed(what): Malformed) -> Self {
        Self::Malformed(what)
    }
}

impl Failure {
    /// A socket's error.
    pub(crate) fn of_socket(error: &io::Error) -> Self {
        match tls::explain(error) {
            Some((words, hint)) => Self::Tls(words, hint),
            None => Self::Lost,
        }
    }

    /// An error of connecting.
    pub(crate) fn of_connecting(error: &io::Error) -> Self {
        Self::Unreachable(match error.kind() {
            ErrorKind::ConnectionRefused => "connection refused".to_owned(),
            ErrorKind::TimedOut => "no answer".to_owned(),
            _ => error.to_string(),
        })
    }

    /// Stable words for a message's outcome, without names and numbers.
    pub(crate) fn outcome(&self) -> String {
        match self {
            Self::Unreachable(_) | Self::CutOffAtGreeting | Self::CutOffInHandshake => {
                "no connection to the broker"
            }
            Self::Tls(..) => "TLS failed",
            Self::CutOffAtLogin => "login refused",
            Self::Lost => "connection lost before the acknowledgement",
            Self::Silent => "connection silent, lost before the acknowledgement",
            Self::Late(_) => "no acknowledgement in time",
            Self::Blocked => "the broker takes no messages: its memory or disk is full",
            Self::Cancelled => "subscription ended by the broker",
            Self::Malformed(_) => "the broker does not speak AMQP 0.9.1 as agreed",
            Self::Closed { code, .. } | Self::ChannelClosed { code, .. } => match code {
                311 => "message too large for the broker",
                320 => "the broker is shutting down or closed the connection",
                403 => "access refused",
                404 => "no such exchange",
                405 => "the queue is exclusive to another connection",
                406 => "precondition failed",
                530 => "the virtual host does not exist or is forbidden",
                _ => return format!("closed by the broker with code {code}"),
            },
        }
        .to_owned()
    }

    /// An error that names the broker and says what to do.
    pub(crate) fn error(&self, settings: &Settings) -> BrokerError {
        let at = settings.name();
        let (user, vhost) = (&settings.user, &settings.vhost);
        let (what, hint) = match self {
            Self::Unreachable(why) => (
                format!("cannot be reached: {why}"),
                "is the broker running, and is this its AMQP port (usually 5672, 5671 with TLS)?",
            ),
            Self::Tls(words, hint) => (words.clone(), *hint),
            Self::CutOffAtGreeting => (
                "closed the connection at AMQP's greeting".to_owned(),
                "is this its AMQP port? usually 5672, or 5671 with TLS (`amqps://`)",
            ),
            Self::CutOffInHandshake => (
                "closed the connection in the TLS handshake: perhaps it does not speak TLS"
                    .to_owned(),
                "is it the port for TLS, usually 5671?",
            ),
            Self::CutOffAtLogin => (
                format!("ended the connection when user `{user}` logged in"),
                "check user and password; does the port want TLS (`amqps://`)?",
            ),
            Self::Lost => ("the connection was lost".to_owned(), "see the broker's log"),
            Self::Silent => (
                "the connection has been silent for too long".to_owned(),
                "is the broker halted, or the network cut?",
            ),
            Self::Late(what) => {
                (format!("no answer in time to: {what}"), "is the broker overloaded or halted?")
            }
            Self::Closed { code: 403, text } if text.contains("ACCESS_REFUSED - Login") => (
                format!("refused user `{user}`"),
                "check user and password; `guest` may log in from the broker's own machine only",
            ),
            Self::Closed { code: 530, text } => (
                format!("virtual host `{vhost}`: {text}"),
                "the URL's path is the virtual host, `%2F` its slash; give the user permissions",
            ),
            Self::Closed { text, .. } => {
                (format!("closed the connection: {text}"), "see the broker's log")
            }
            Self::ChannelClosed { code: 403, text } => (
                format!("access refused: {text}"),
                "give the user permissions: docs/brokers/amqp.md lists them",
            ),
            Self::ChannelClosed { text, .. } => {
                (format!("refused: {text}"), "see docs/brokers/amqp.md")
            }
            Self::Cancelled => {
                ("ended the subscription".to_owned(), "was the queue deleted, or did its node end?")
            }
            Self::Malformed(what) => {
                ((*what).to_owned(), "AMQP 0.9.1 is spoken here, not 1.0, and not HTTP")
            }
            Self::Blocked => {
                ("takes no messages".to_owned(), "its memory or disk is full: see its alarms")
            }
        };
        BrokerError::new(format!("{at}: {what}")).with_hint(hint)
    }
}
