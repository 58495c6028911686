//! Getting a connection up: name, TCP, TLS.

use super::{Client, ClientConfig, Http2};
use crate::cause::{Cause, is_local_limit};
use crate::connection::{Connection, Phase};
use crate::deadlines::Deadline;
use crate::driver::ConnectionId;
use crate::resolver::{Answer, Resolver};
use crate::tls::{TlsSession, tls_config};

use std::net::SocketAddr;

impl Client {
    /// Opens a connection for a request.
    pub(super) fn dial(&mut self, exchange_slot: u32) {
        let now_ns = self.now_ns;
        let exchange = &mut self.exchanges[exchange_slot as usize];
        let origin = exchange.origin;
        let generation = self.next_generation;
        self.next_generation = self.next_generation.wrapping_add(1);
        let connection = Connection::new(generation, origin, exchange_slot, now_ns);
        let slot = self.connections.insert(connection) as u32;
        exchange.connection = Some(slot);
        exchange.dialling = true;
        exchange.phase_began_ns = now_ns;
        let deadline = Deadline {
            at_ns: now_ns.saturating_add(self.config.connect_timeout_ns),
            serial: exchange.serial,
            slot: exchange_slot,
            connecting: true,
        };
        if deadline.at_ns < exchange.deadline_ns() {
            self.add_deadline(deadline);
        }
        self.pools[origin as usize].open += 1;
        self.pools[origin as usize].dialling += 1;
        let id = ConnectionId { slot, generation };
        if self.pools[origin as usize].addresses.is_empty() {
            if let Err(error) = self.ask_addresses(origin) {
                self.broken(id, Cause::Dns(error));
            }
        } else {
            self.connect(id);
        }
    }

    fn ask_addresses(&mut self, origin: u32) -> Result<(), String> {
        let resolver = match &mut self.resolver {
            Some(resolver) => resolver,
            None => {
                let resolver = Resolver::start(self.driver.waker())
                    .map_err(|error| format!("no thread to resolve it: {error}"))?;
                self.resolver.insert(resolver)
            }
        };
        resolver.ask(&self.pools[origin as usize].origin.host)
    }

    /// Takes the resolver's answers and lets the connections that waited for them go on.
    pub(super) fn take_addresses(&mut self) {
        while let Some(answer) = self.resolver.as_mut().and_then(Resolver::answer) {
            let Answer { host, addresses } = answer;
            if let Ok(addresses) = &addresses {
                for pool in self.pools.iter_mut().filter(|p| p.origin.host == host) {
                    pool.addresses.clone_from(addresses);
                }
            }
            let pools = &self.pools;
            let waiting: Vec<ConnectionId> = self
                .connections
                .iter()
                .filter(|(_, connection)| {
                    connection.phase == Phase::Resolving
                        && pools[connection.origin as usize].origin.host == host
                })
                .map(|(slot, connection)| ConnectionId {
                    slot: slot as u32,
                    generation: connection.generation,
                })
                .collect();
            for id in waiting {
                self.end_phase(id);
                match &addresses {
                    Ok(_) => self.connect(id),
                    Err(error) => self.broken(id, Cause::Dns(error.clone())),
                }
            }
        }
    }

    /// Begins to connect to the next address that takes the attempt.
    fn connect(&mut self, id: ConnectionId) {
        loop {
            let connection = &mut self.connections[id.slot as usize];
            let pool = &self.pools[connection.origin as usize];
            let place = (pool.preferred + usize::from(connection.attempt)) % pool.addresses.len();
            let address = SocketAddr::new(pool.addresses[place], pool.origin.port);
            connection.phase = Phase::Connecting;
            match self.driver.open(id, address) {
                Ok(socket) => {
                    connection.socket = Some(socket);
                    self.counters.connections_opened += 1;
                    return;
                }
                Err(errno) if is_local_limit(errno) => {
                    return self.broken(id, Cause::Connect(errno));
                }
                Err(errno) => {
                    if !self.next_address(id) {
                        return self.broken(id, Cause::Connect(errno));
                    }
                }
            }
        }
    }

    /// Moves on to the next address, if there is one that was not tried.
    fn next_address(&mut self, id: ConnectionId) -> bool {
        let connection = &mut self.connections[id.slot as usize];
        let count = self.pools[connection.origin as usize].addresses.len();
        connection.socket = None;
        connection.attempt += 1;
        usize::from(connection.attempt) < count
    }

    /// The TCP handshake is over, well or not.
    pub(super) fn connecting_ended(&mut self, id: ConnectionId) {
        let connection = &mut self.connections[id.slot as usize];
        let Some(socket) = &connection.socket else {
            return;
        };
        if let Err(errno) = self.driver.connected(socket) {
            if !is_local_limit(errno) && self.next_address(id) {
                return self.connect(id);
            }
            return self.broken(id, Cause::Connect(errno));
        }
        let pool = &mut self.pools[connection.origin as usize];
        pool.preferred = (pool.preferred + usize::from(connection.attempt)) % pool.addresses.len();
        let is_tls = pool.origin.tls;
        self.end_phase(id);
        if is_tls {
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
            Err(error) => self.broken(id, Cause::Tls(error)),
        }
    }

    fn new_session(&mut self, origin: u32) -> Result<TlsSession, String> {
        let name = self.pools[origin as usize].server_name()?;
        let config = match &self.tls {
            Some(config) => config,
            None => {
                let ClientConfig { insecure, http2, .. } = self.config;
                let config = tls_config(&self.extra_roots, insecure, http2)
                    .map_err(|error| error.to_string())?;
                self.tls.insert(config)
            }
        };
        TlsSession::new(config.clone(), name).map_err(|error| error.to_string())
    }

    /// Sends the handshake's messages as far as they go.
    pub(super) fn flush_handshake(&mut self, id: ConnectionId) {
        let connection = &mut self.connections[id.slot as usize];
        if let (Some(tls), Some(socket)) = (&mut connection.tls, &connection.socket)
            && let Err(errno) = tls.flush(&self.driver, socket)
        {
            self.broken(id, Cause::Os(errno));
        }
    }

    /// The TLS handshake is done.
    pub(super) fn established(&mut self, id: ConnectionId) {
        self.end_phase(id);
        self.ready_to_send(id);
    }

    /// The connection is up: its request goes out.
    fn ready_to_send(&mut self, id: ConnectionId) {
        let connection = &mut self.connections[id.slot as usize];
        let pool = &mut self.pools[connection.origin as usize];
        pool.expects_http2 = match (&connection.tls, self.config.http2) {
            (Some(tls), _) => tls.speaks_http2(),
            (None, http2) => http2 == Http2::PriorKnowledge,
        };
        if self.config.http2 == Http2::PriorKnowledge && !pool.expects_http2 {
            pool.expects_http2 = true;
            let refusal = "the server does not agree to speak HTTP/2 (no h2 by ALPN)";
            return self.broken(id, Cause::Tls(refusal.to_owned()));
        }
        pool.dialling -= 1;
        if pool.expects_http2 {
            return self.share(id);
        }
        connection.phase = Phase::Sending;
        let origin = connection.origin;
        if let Some(slot) = connection.exchange {
            self.exchanges[slot as usize].dialling = false;
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
            Phase::Connecting => &mut exchange.dialled.connect_ns,
            Phase::Handshaking => &mut exchange.dialled.tls_ns,
            Phase::Idle | Phase::Sending | Phase::Waiting | Phase::Receiving | Phase::Shared => {
                return;
            }
        };
        *booked_ns += took_ns;
        exchange.phase_began_ns = self.now_ns;
    }
}
