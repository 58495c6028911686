//! Making a proxy's tunnel on a connection.

use rustix::io::Errno;

use super::Client;
use crate::cause::Cause;
use crate::connection::Phase;
use crate::driver::{ConnectionId, Received};

impl Client {
    pub(super) fn begin_tunnel(&mut self, id: ConnectionId) {
        self.connections[id.slot as usize].phase = Phase::Tunnelling;
        self.flush_tunnel(id);
    }

    /// Sends what the proxy is to hear as far as it goes.
    pub(super) fn flush_tunnel(&mut self, id: ConnectionId) {
        let connection = &mut self.connections[id.slot as usize];
        let Some(tunnel) = connection.dialling.as_mut().and_then(|d| d.tunnel.as_mut()) else {
            return;
        };
        let Some(socket) = &connection.socket else { return };
        while !tunnel.unsent().is_empty() {
            match self.driver.send(socket, tunnel.unsent()) {
                Ok(length) => tunnel.sent(length),
                Err(Errno::AGAIN) => return,
                Err(errno) => {
                    let problem = tunnel.failed(&std::io::Error::from(errno).to_string());
                    return self.broken(id, Cause::Proxy(problem));
                }
            }
        }
    }

    /// Receives what the proxy says; true when the tunnel is open and the connection goes on.
    pub(super) fn receive_tunnel(&mut self, id: ConnectionId) -> bool {
        while self.phase(id) == Some(Phase::Tunnelling) {
            let connection = &mut self.connections[id.slot as usize];
            let (Some(dialling), Some(socket)) = (&mut connection.dialling, &connection.socket)
            else {
                return false;
            };
            let Some(tunnel) = &mut dialling.tunnel else { return false };
            let fed = match self.driver.receive(socket) {
                Ok(Received::Nothing) => return false,
                Ok(Received::Bytes { bytes, .. }) => tunnel.feed(bytes),
                Ok(Received::End) => Err(tunnel.failed("it closed the connection")),
                Err(errno) => Err(tunnel.failed(&std::io::Error::from(errno).to_string())),
            };
            match fed {
                Ok(true) => {
                    self.end_phase(id);
                    self.reached(id);
                    return self.is_current(id);
                }
                Ok(false) => self.flush_tunnel(id),
                Err(problem) => self.broken(id, Cause::Proxy(problem)),
            }
        }
        false
    }
}
