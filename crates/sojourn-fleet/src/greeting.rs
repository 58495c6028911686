//! Who is let in: the first frame of a connection, within seconds.

use std::net::TcpStream;
use std::sync::Arc;

use rustls::{Connection, ServerConfig, ServerConnection};
use sojourn_clock::{SECOND_NS, machine_ns};

use crate::channel::Channel;
use crate::frame::{Hello, PROTOCOL};
use crate::{FleetError, Frame, JoinKey};

/// From a connection's beginning to its proof of the key.
pub(crate) const GREETING_NS: u64 = 5 * SECOND_NS;

/// What is asked of whoever dials.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) tls: Arc<ServerConfig>,
    pub(crate) key: JoinKey,
    pub(crate) version: String,
}

impl Door {
    /// Hears who dials. Whoever has not the key hears so, and nothing else.
    pub(crate) fn greet(&self, tcp: TcpStream) -> Result<(Channel, Hello), FleetError> {
        let until_ns = machine_ns() + GREETING_NS;
        let tls = ServerConnection::new(Arc::clone(&self.tls))
            .map_err(|error| FleetError::Tls(error.to_string()))?;
        let mut channel = Channel::new(tcp, Connection::Server(tls))?;
        let Frame::Hello(hello) = channel.frame_until(until_ns)? else {
            return Err(FleetError::Protocol("no greeting".to_owned()));
        };
        if !self.key.proves(&hello.token) {
            return refuse(channel, "its key is not this run's".to_owned());
        }
        if hello.protocol != PROTOCOL || hello.version != self.version {
            let theirs = &hello.version;
            let why = format!(
                "it is sojourn {theirs}, and the coordinator {}: use the same program on all \
                 machines",
                self.version
            );
            return refuse(channel, why);
        }
        Ok((channel, *hello))
    }
}

/// Says why not.
pub(crate) fn refuse<T>(mut channel: Channel, why: String) -> Result<T, FleetError> {
    channel.send(&Frame::Refused(why.clone()));
    // Whoever does not listen need not know.
    let _ignored = channel.flush_until(machine_ns() + SECOND_NS);
    Err(FleetError::Refused(why))
}
