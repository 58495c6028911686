//! Connecting to one of several addresses: one at a time while they fail, side by side while they
//! hang (RFC 8305). Each attempt has a connection slot, as the driver knows sockets by it; the
//! first one's is that of the connection itself, and the winner's takes over.

use rustix::io::Errno;

use super::Client;
use crate::Peer;
use crate::cause::{Cause, is_local_limit};
use crate::connection::Phase;
use crate::deadlines::{Deadline, Due};
use crate::dialling::{Attempt, Dialling, NEXT_ADDRESS_NS};
use crate::driver::{ConnectionId, OurEnd, Remote};
use crate::route::Target;

impl Client {
    /// Begins to connect to the next address that takes the attempt; fails when there is none left
    /// and nothing under way.
    pub(super) fn try_next_address(&mut self, id: ConnectionId) {
        let own = self.pools[self.connections[id.slot as usize].origin as usize].local;
        while let Some(remote) = self.dialling(id).and_then(|dialling| dialling.untried.pop()) {
            let local = match &remote {
                Remote::Tcp(address) => own.or_else(|| self.local_addresses.next(&address.ip())),
                Remote::Unix(_) => None,
            };
            let connection = &self.connections[id.slot as usize];
            let beside = connection.socket.is_some();
            let attempt_id = if beside { self.new_connection(connection.origin, None) } else { id };
            let attempt = Attempt { slot: attempt_id.slot, remote, local };
            let our_end = OurEnd { local, keep_alive: self.keep_alive };
            match self.driver.open(attempt_id, &attempt.remote, our_end) {
                Ok(socket) => {
                    let connection = &mut self.connections[attempt_id.slot as usize];
                    connection.socket = Some(socket);
                    connection.phase = Phase::Connecting;
                    connection.leader = beside.then_some(id.slot);
                    self.counters.connections_opened += 1;
                    return self.add_attempt(id, attempt);
                }
                Err(errno) => {
                    if beside {
                        self.connections.remove(attempt_id.slot as usize);
                    }
                    self.note_failure(id, attempt, errno);
                }
            }
        }
        let ended = |dialling: &mut Dialling| match dialling.attempts.is_empty() {
            true => dialling.failed.take(),
            false => None,
        };
        if let Some((attempt, errno)) = self.dialling(id).and_then(ended) {
            self.broken(id, Cause::Connect { errno, attempt: Box::new(attempt) });
        }
    }

    /// A connection is still at this instant's attempt when its time is up: try the next too.
    pub(super) fn next_address_due(&mut self, id: ConnectionId, at_ns: u64) {
        if self.phase(id) == Some(Phase::Connecting)
            && self.dialling(id).is_some_and(|dialling| dialling.next_at_ns == at_ns)
        {
            self.try_next_address(id);
        }
    }

    /// An attempt is over, well or not.
    pub(super) fn connecting_ended(&mut self, id: ConnectionId) {
        let connection = &self.connections[id.slot as usize];
        let Some(socket) = &connection.socket else { return };
        let leader = match connection.leader {
            Some(slot) => self.connection_id(slot),
            None => Some(id),
        };
        let ended = self.driver.connected(socket);
        let Some(leader) = leader else { return };
        let Some(attempt) = self.dialling(leader).and_then(|d| d.end_attempt(id.slot)) else {
            return;
        };
        match ended {
            Ok(()) => self.attempt_won(leader, id, &attempt),
            Err(errno) => {
                if leader == id {
                    self.close_socket(id.slot);
                } else {
                    self.take_out(id.slot);
                }
                self.note_failure(leader, attempt, errno);
                self.try_next_address(leader);
            }
        }
    }

    /// Closes the attempts that a connection has in other slots.
    pub(super) fn end_attempts(&mut self, dialling: &Dialling, own_slot: u32) {
        for attempt in dialling.attempts.iter().filter(|attempt| attempt.slot != own_slot) {
            self.take_out(attempt.slot);
        }
    }

    fn attempt_won(&mut self, leader: ConnectionId, id: ConnectionId, attempt: &Attempt) {
        let connection = &mut self.connections[leader.slot as usize];
        let since_ns = connection.since_ns;
        let exchange = connection.exchange;
        let dialling = connection.dialling.take();
        if let Some(dialling) = &dialling {
            self.end_attempts(dialling, leader.slot);
            if let (Target::Tcp { name, .. }, Remote::Tcp(address)) =
                (&dialling.target, &attempt.remote)
            {
                self.names.won(*name, address.ip());
            }
        }
        if leader != id {
            self.take_out(leader.slot);
            if let Some(exchange) = exchange {
                self.exchanges[exchange as usize].connection = Some(id.slot);
            }
        }
        let connection = &mut self.connections[id.slot as usize];
        connection.exchange = exchange;
        connection.since_ns = since_ns;
        connection.leader = None;
        connection.dialling = dialling;
        if let Remote::Tcp(address) = &attempt.remote {
            connection.peer = self.peers.id(Peer { address: Some(*address), tls: None });
        }
        self.connected(id);
    }

    fn add_attempt(&mut self, id: ConnectionId, attempt: Attempt) {
        let at_ns = self.now_ns.saturating_add(NEXT_ADDRESS_NS);
        let Some(dialling) = self.dialling(id) else { return };
        dialling.attempts.push(attempt);
        if dialling.untried.is_empty() {
            return;
        }
        dialling.next_at_ns = at_ns;
        if let Some(slot) = self.connections[id.slot as usize].exchange {
            let serial = self.exchanges[slot as usize].serial;
            self.add_deadline(Deadline { at_ns, serial, slot, what: Due::NextAddress });
        }
    }

    fn note_failure(&mut self, id: ConnectionId, attempt: Attempt, errno: Errno) {
        let Some(dialling) = self.dialling(id) else { return };
        if is_local_limit(errno) {
            // Another address won't help.
            dialling.untried.clear();
        }
        dialling.failed = Some((attempt, errno));
    }

    fn dialling(&mut self, id: ConnectionId) -> Option<&mut Dialling> {
        self.connections.get_mut(id.slot as usize)?.dialling.as_deref_mut()
    }

    /// The connection is not up in time; says how far it came.
    pub(super) fn connect_timeout(&self, id: Option<ConnectionId>) -> Cause {
        let connection = id.and_then(|id| self.connections.get(id.slot as usize));
        let progress = connection.map_or_else(String::new, |connection| {
            let attempts = connection.dialling.iter().flat_map(|dialling| &dialling.attempts);
            let at: Vec<String> = attempts.map(Attempt::to_string).collect();
            match connection.phase {
                Phase::Resolving => "its name is still being looked up".to_owned(),
                Phase::Connecting => format!("no answer from {}", at.join(", ")),
                Phase::Tunnelling => "the proxy has not opened a tunnel".to_owned(),
                _ => "the TLS handshake is not done".to_owned(),
            }
        });
        Cause::ConnectTimeout { timeout_ns: self.config.connect_timeout_ns, progress }
    }
}
