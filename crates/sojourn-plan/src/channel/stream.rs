//! Streams that a server keeps open to its clients: WebSocket and server-sent events.

use super::{Secret, Server};

/// Messages of a WebSocket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebSocketChannel {
    /// Where: `ws://` or `wss://`; its path is the URL's, query and all.
    pub server: Server,
    /// Headers of the handshake.
    pub headers: Vec<(String, Secret)>,
    /// Texts sent once the connection stands, such as a subscription.
    pub send: Vec<String>,
    /// Subprotocols offered.
    pub protocols: Vec<String>,
}

/// Server-sent events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseChannel {
    /// Where: `http://` or `https://`; its path is the URL's, query and all.
    pub server: Server,
    /// Headers of the request.
    pub headers: Vec<(String, Secret)>,
    /// Names of events taken; empty: all. An event's name is its topic and its type.
    pub events: Vec<String>,
    /// Longest time in which nothing comes, not even a comment, before the connection counts as
    /// lost, nanoseconds; `None`: as long as it takes.
    pub silence_ns: Option<u64>,
}
