//! A tap on server-sent events (HTML standard, section 9.2).

mod body;
mod connection;
pub(crate) mod parser;

use sojourn_broker::BrokerError;
use sojourn_plan::SseChannel;

use crate::request::Request;
use crate::tap::{StreamTap, tap_by_stream};
use connection::{Connection, Settings};

/// A passive client of a server that sends events.
#[derive(Debug)]
pub struct SseTap(StreamTap<Connection>);

impl SseTap {
    /// A tap that does not listen yet.
    ///
    /// # Errors
    /// A header or a TLS file is of no use.
    pub fn new(channel: &SseChannel) -> Result<Self, BrokerError> {
        let request = Request::new("sse", ["http", "https"], &channel.server, &channel.headers)?;
        Ok(Self(StreamTap::new(Settings {
            request,
            events: channel.events.clone(),
            silence_ns: channel.silence_ns,
        })))
    }
}

tap_by_stream!(SseTap);
