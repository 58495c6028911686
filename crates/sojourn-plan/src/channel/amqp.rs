//! An exchange of an AMQP 0.9.1 broker.

use super::Server;

/// An exchange, listened to by an own exclusive queue that the broker deletes with the connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AmqpChannel {
    /// Where: `amqp://` or `amqps://`; the path is the virtual host, `/` where there is none.
    pub server: Server,
    /// Exchange. It must exist; empty is the default exchange, to which can only be published.
    pub exchange: String,
    /// Keys that the own queue is bound with.
    pub routing: Vec<String>,
    /// The management API, `http://user:password@host:15672`, from which unacknowledged messages
    /// are read; without it only what is ready can be told.
    pub management: Option<Server>,
    /// Whether a message that no queue takes is refused.
    pub mandatory: bool,
}
