//! Why a demo can't start or did not end well.

use crate::config::ConfigError;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// What went wrong with the demo as a whole.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// A setting that can't run.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The API's address can't be listened on.
    #[error("address {address} can't be listened on: {source}; choose another, or port 0")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// No Kafka answered.
    #[error(
        "kafka at {servers} did not answer within {seconds} s: {source}; \
         check the address, or leave it out to use the embedded one"
    )]
    KafkaUnreachable {
        /// Bootstrap servers.
        servers: String,
        /// How long was waited.
        seconds: u64,
        /// librdkafka's reason.
        source: rdkafka::error::KafkaError,
    },
    /// Kafka refused something.
    #[error("kafka could not {action}: {source}")]
    Kafka {
        /// What was tried.
        action: String,
        /// librdkafka's reason.
        source: rdkafka::error::KafkaError,
    },
    /// A broker did not acknowledge the last events.
    #[error("the broker did not acknowledge the last events within {seconds} s")]
    Unacknowledged {
        /// How long was waited.
        seconds: u64,
    },
    /// The broker that was given refused something.
    #[error("{0}")]
    Broker(#[from] sojourn_broker::BrokerError),
    /// The event store's file can't be used.
    #[error("event store {path}: {source}")]
    Store {
        /// The file.
        path: PathBuf,
        /// SQLite's reason.
        source: rusqlite::Error,
    },
    /// A file can't be created or written.
    #[error("file {path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A thread or its runtime can't be started.
    #[error("thread {name} could not be started: {source}")]
    Thread {
        /// The thread.
        name: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// A thread of the demo panicked: a defect.
    #[error("thread {name} of the demo panicked: please report it")]
    Panicked {
        /// The thread.
        name: &'static str,
    },
}
