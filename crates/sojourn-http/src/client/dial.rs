//! Getting a connection up: name, TCP, proxy, TLS.

use std::net::SocketAddr;

use super::{Client, ClientConfig};
use crate::Peer;
use crate::cause::Cause;
use crate::connection::{Connection, Phase};
use crate::deadlines::{Deadline, Due};
use crate::dialling::Dialling;
use crate::driver::{ConnectionId, Remote};
use crate::resolver::{Found, NoAddress};
use crate::route::Target;
use crate::table::Table;
use crate::tls::TlsSession;

impl Client {
    /// Opens a connection for a request.
    pub(super) fn dial(&mut self, exchange_slot: u32) {
        let now_ns = self.now_ns;
        let exchange = &mut self.exchanges[exchange_slot as usize];
        let (origin, serial) = (exchange.origin, exchange.serial);
        exchange.dialling = true;
        exchange.phase_began_ns = now_ns;
        let deadline = Deadline {
            at_ns: now_ns.saturating_add(self.config.connect_timeout_ns),
            serial,
            slot: exchange_slot,
            what: Due::Connection,
        };
        if deadline.at_ns < exchange.deadline_ns() {
            self.add_deadline(deadline);
        }
        let id = self.new_connection(origin, Some(exchange_slot));
        self.exchanges[exchange_slot as usize].connection = Some(id.slot);
        let pool = &mut self.pools[origin as usize];
        pool.open += 1;
        pool.dialling += 1;
        let mut dialling = Dialling::new(pool.route.next_target());
        let tunnel = pool.route.tunnel().transpose();
        let mut problem = None;
        match tunnel {
            Ok(tunnel) => dialling.tunnel = tunnel,
            Err(error) => problem = Some(error),
        }
        self.connections[id.slot as usize].dialling = Some(Box::new(dialling));
        match problem {
            Some(problem) => self.broken(id, Cause::Proxy(problem)),
            None => self.find_addresses(id),
        }
    }

    /// A slot for a new connection.
    pub(super) fn new_connection(&mut self, origin: u32, exchange: Option<u32>) -> ConnectionId {
        let generation = self.next_generation;
        self.next_generation = self.next_generation.wrapping_add(1);
        let connection = Connection::new(generation, origin, exchange, self.now_ns);
        let slot = self.connections.insert(connection) as u32;
        ConnectionId { slot, generation }
    }

    fn find_addresses(&mut self, id: ConnectionId) {
        let connection = &mut self.connections[id.slot as usize];
        let Some(dialling) = &mut connection.dialling else { return };
        match &dialling.target {
            Target::Tcp { name, .. } if self.names.must_ask(*name) => {
                let name = *name;
                let connections = &self.connections;
                let asked = self.names.ask(name, id, |id| is_resolving(connections, *id));
                if let Err(error) = asked {
                    let host = self.names.host(name).to_owned();
                    self.broken(id, Cause::Dns { host, error });
                }
            }
            Target::Tcp { .. } => self.connect(id),
            Target::Unix(remote) => {
                dialling.untried.push(remote.clone());
                connection.phase = Phase::Connecting;
                self.try_next_address(id);
            }
        }
    }

    /// Takes the resolver's answers and lets the connections that waited for them go on.
    pub(super) fn take_addresses(&mut self) {
        while let Some(found) = self.names.found(self.now_ns) {
            let Found { name, waiting, outcome } = found;
            self.counters.look_ups += 1;
            self.counters.look_ups_failed += u64::from(outcome.is_err());
            for id in waiting {
                if !is_resolving(&self.connections, id) {
                    continue;
                }
                self.end_phase(id);
                match &outcome {
                    Ok(()) => self.connect(id),
                    Err(error) => {
                        let host = self.names.host(name).to_owned();
                        self.broken(id, Cause::Dns { host, error: error.clone() });
                    }
                }
            }
        }
    }

    /// Begins to connect to the addresses of the name.
    fn connect(&mut self, id: ConnectionId) {
        let connection = &mut self.connections[id.slot as usize];
        connection.phase = Phase::Connecting;
        let Some(dialling) = &mut connection.dialling else { return };
        let Target::Tcp { name, port } = dialling.target else { return };
        let own = self.pools[connection.origin as usize].local;
        let local = &self.local_addresses;
        let order = self.names.order(name);
        if order.is_empty() {
            let host = self.names.host(name).to_owned();
            let error = NoAddress::known("it has no address of the families that are allowed");
            return self.broken(id, Cause::Dns { host, error });
        }
        let mut refusal = None;
        let reached = order.iter().rev().filter(|address| {
            if let Some(rule) = &self.config.refuse
                && let Some(why) = (rule.0)(**address)
            {
                refusal = Some(why);
                return false;
            }
            match own {
                Some(own) => own.is_ipv4() == address.is_ipv4(),
                None => local.reach(address),
            }
        });
        dialling
            .untried
            .extend(reached.map(|address| Remote::Tcp(SocketAddr::new(*address, port))));
        if dialling.untried.is_empty() {
            let cause = refusal.map_or(Cause::NoLocalAddress, Cause::Refused);
            return self.broken(id, cause);
        }
        self.try_next_address(id);
    }

    /// TCP is up: through the proxy and on to TLS, as far as there are any.
    pub(super) fn connected(&mut self, id: ConnectionId) {
        self.end_phase(id);
        let connection = &self.connections[id.slot as usize];
        let is_tunnelled = connection.dialling.as_ref().is_some_and(|d| d.tunnel.is_some());
        if is_tunnelled {
            self.begin_tunnel(id);
        } else {
            self.reached(id);
        }
    }

    /// The origin, or the proxy that stands for it, is at the other end.
    pub(super) fn reached(&mut self, id: ConnectionId) {
        let connection = &mut self.connections[id.slot as usize];
        connection.dialling = None;
        let has_tls = self.pools[connection.origin as usize].origin.tls;
        if let Some(slot) = connection.exchange {
            let exchange = &self.exchanges[slot as usize];
            if exchange.is_probe && !(has_tls && exchange.probes_tls) {
                return self.probed(id, slot);
            }
        }
        if has_tls {
            self.begin_handshake(id);
        } else {
            self.ready_to_send(id);
        }
    }

    fn begin_handshake(&mut self, id: ConnectionId) {
        match self.new_session(self.connections[id.slot as usize].origin) {
            Ok(session) => {
                let connection = &mut self.connections[id.slot as usize];
                connection.tls = Some(Box::new(session));
                connection.phase = Phase::Handshaking;
                self.flush_handshake(id);
            }
            Err(cause) => self.broken(id, cause),
        }
    }

    fn new_session(&mut self, origin: u32) -> Result<TlsSession, Cause> {
        let pool = &self.pools[origin as usize];
        let name = pool.server_name().map_err(Cause::tls)?;
        let ClientConfig { tls, http2, .. } = &self.config;
        let config = self.tls.of(tls, &self.tls_files, *http2, &pool.origin.host);
        let session = config.and_then(|config| TlsSession::new(config, name));
        session.map_err(Cause::from)
    }

    /// Sends the handshake's messages as far as they go.
    pub(super) fn flush_handshake(&mut self, id: ConnectionId) {
        let connection = &mut self.connections[id.slot as usize];
        if let (Some(tls), Some(socket)) = (&mut connection.tls, &connection.socket)
            && let Err(errno) = tls.flush(&mut self.driver, socket)
        {
            self.broken(id, Cause::Os(errno));
        }
    }

    /// The TLS handshake is done.
    pub(super) fn established(&mut self, id: ConnectionId) {
        self.end_phase(id);
        match self.connections[id.slot as usize].exchange {
            Some(slot) if self.exchanges[slot as usize].is_probe => self.probed(id, slot),
            _ => self.ready_to_send(id),
        }
    }

    /// The connection is up: its request goes out.
    fn ready_to_send(&mut self, id: ConnectionId) {
        let connection = &mut self.connections[id.slot as usize];
        let pool = &mut self.pools[connection.origin as usize];
        if let Some(agreed) = connection.tls.as_deref().and_then(TlsSession::agreed) {
            let address = self.peers.get(connection.peer).address;
            connection.peer = self.peers.id(Peer { address, tls: Some(agreed) });
        }
        match pool.speaks_http2(connection.tls.as_deref()) {
            Ok(true) => return self.share(id),
            Ok(false) => {}
            Err(refusal) => return self.broken(id, Cause::tls(refusal)),
        }
        let peer = connection.peer;
        pool.dialling -= 1;
        connection.phase = Phase::Sending;
        let origin = connection.origin;
        if let Some(slot) = connection.exchange {
            let exchange = &mut self.exchanges[slot as usize];
            exchange.dialling = false;
            exchange.peer = peer;
        }
        self.mark_to_serve(origin);
        self.transmit(id, self.now_ns);
    }

    /// Books the time since the last phase of dialling began under the connection's present phase.
    pub(super) fn end_phase(&mut self, id: ConnectionId) {
        let connection = &self.connections[id.slot as usize];
        let Some(slot) = connection.exchange else {
            return;
        };
        let exchange = &mut self.exchanges[slot as usize];
        let took_ns = self.now_ns.saturating_sub(exchange.phase_began_ns);
        let booked_ns = match connection.phase {
            Phase::Resolving => &mut exchange.dialled.dns_ns,
            Phase::Connecting | Phase::Tunnelling => &mut exchange.dialled.connect_ns,
            Phase::Handshaking => &mut exchange.dialled.tls_ns,
            Phase::Idle | Phase::Sending | Phase::Waiting | Phase::Receiving | Phase::Shared => {
                return;
            }
        };
        *booked_ns += took_ns;
        exchange.phase_began_ns = self.now_ns;
    }
}

fn is_resolving(connections: &Table<Connection>, id: ConnectionId) -> bool {
    connections.get(id.slot as usize).is_some_and(|connection| {
        connection.generation == id.generation && connection.phase == Phase::Resolving
    })
}
