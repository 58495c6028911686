//! Streams that an HTTP server keeps open to its clients: taps on WebSockets and on server-sent
//! events.
//!
//! A tap is one more client of the server, with a connection of its own; what that means to the
//! server is the server's affair (a socket that hands work out would hand some of it to the tap).
//! Neither kind keeps what a client misses, so a connection that was lost leaves a gap with
//! messages that may be missing. Both only listen: there is nothing to publish to, no group, no
//! backlog.

#[cfg(feature = "sse")]
#[doc(hidden)]
pub mod foreign;
mod request;
#[cfg(feature = "sse")]
mod sse;
mod tap;
#[cfg(feature = "websocket")]
mod websocket;

use sojourn_broker::{BrokerError, Connect, Tap};
use sojourn_plan::{Channel, Connector};

#[cfg(feature = "sse")]
pub use sse::SseTap;
#[cfg(feature = "websocket")]
pub use websocket::WebSocketTap;

/// The connector of WebSockets, for the registry.
#[cfg(feature = "websocket")]
#[derive(Clone, Copy, Debug)]
pub struct WebSocket;

#[cfg(feature = "websocket")]
impl Connect for WebSocket {
    fn tap(&self, channel: &Channel) -> Result<Box<dyn Tap>, BrokerError> {
        match &channel.connector {
            Connector::WebSocket(settings) => Ok(Box::new(WebSocketTap::new(settings)?)),
            _ => Err(other(channel, "websocket")),
        }
    }
}

/// The connector of server-sent events, for the registry.
#[cfg(feature = "sse")]
#[derive(Clone, Copy, Debug)]
pub struct Sse;

#[cfg(feature = "sse")]
impl Connect for Sse {
    fn tap(&self, channel: &Channel) -> Result<Box<dyn Tap>, BrokerError> {
        match &channel.connector {
            Connector::Sse(settings) => Ok(Box::new(SseTap::new(settings)?)),
            _ => Err(other(channel, "sse")),
        }
    }
}

fn other(channel: &Channel, word: &str) -> BrokerError {
    BrokerError::new(format!("channel `{}` is not of the kind `{word}`", channel.name))
}
