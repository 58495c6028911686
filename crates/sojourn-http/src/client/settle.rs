//! Sending on free connections, ending requests, giving connections back.

use super::{Client, SPARE_BUFFERS_MAX, SPARE_BYTES_MAX, is_waiting};
use crate::cause::Cause;
use crate::connection::{Connection, Phase};
use crate::driver::ConnectionId;

impl Client {
    /// Sends a request on a free connection.
    pub(super) fn assign(&mut self, connection_slot: u32, exchange_slot: u32, now_ns: u64) {
        let connection = &mut self.connections[connection_slot as usize];
        connection.exchange = Some(exchange_slot);
        connection.phase = Phase::Sending;
        let id = ConnectionId { slot: connection_slot, generation: connection.generation };
        self.exchanges[exchange_slot as usize].connection = Some(connection_slot);
        self.transmit(id, now_ns);
    }

    /// Sends as much as goes now.
    pub(super) fn transmit(&mut self, id: ConnectionId, now_ns: u64) {
        let connection = &mut self.connections[id.slot as usize];
        let Some(exchange_slot) = connection.exchange else {
            return;
        };
        let exchange = &mut self.exchanges[exchange_slot as usize];
        let Err(errno) = connection.transmit(exchange, &mut self.driver, now_ns) else {
            return;
        };
        // A server may answer and close before it has read the whole request: the answer counts.
        self.receive(id, true);
        if self.is_current(id) {
            self.broken(id, Cause::Os(errno));
        }
    }

    /// The answer on this connection is whole.
    pub(super) fn answered(&mut self, id: ConnectionId, reusable: bool) {
        let connection = &mut self.connections[id.slot as usize];
        let exchange = connection.exchange.take();
        let origin = connection.origin;
        let pool = &self.pools[origin as usize];
        let is_wanted = pool.has_waiting() || pool.idle() < self.config.idle_max;
        if reusable && self.config.keep_alive && is_wanted {
            connection.phase = Phase::Idle;
            connection.reused = true;
            self.pools[origin as usize].put_idle(id.slot);
            self.mark_to_serve(origin);
        } else {
            self.close(id);
        }
        if let Some(exchange) = exchange {
            self.complete(exchange, None);
        }
    }

    /// The connection is of no use any more; its request fails, or is sent once more if the
    /// connection had gone stale.
    pub(super) fn broken(&mut self, id: ConnectionId, cause: Cause) {
        self.end_phase(id);
        let connection = &mut self.connections[id.slot as usize];
        if connection.http2.is_some() {
            return self.lost(id, cause);
        }
        let (origin, was_dialling) = (connection.origin, connection.phase.is_dialling());
        let reused = connection.reused;
        let exchange_slot = connection.exchange.take();
        self.close(id);
        let Some(slot) = exchange_slot else {
            self.counters.idle_closed += 1;
            return;
        };
        let exchange = &mut self.exchanges[slot as usize];
        if reused && cause.is_stale() && exchange.is_unanswered() && exchange.retries == 0 {
            exchange.rewind();
            self.counters.stale_retries += 1;
            self.dial(slot);
        } else {
            if was_dialling {
                self.fail_waiting(origin, &cause);
            }
            self.fail(slot, cause);
        }
    }

    /// Ends a request without an answer.
    pub(super) fn fail(&mut self, slot: u32, cause: Cause) {
        self.complete(slot, Some(cause));
    }

    /// Gives waiting requests the connections that have become free. Iterative, and apart from what
    /// freed them: a queue full of requests that fail at once must not grow the stack.
    pub(super) fn serve(&mut self) {
        while let Some(origin) = self.to_serve.pop() {
            self.pools[origin as usize].to_serve = false;
            loop {
                let pool = &mut self.pools[origin as usize];
                if !pool.has_room(self.config.connections_max) {
                    break;
                }
                let shared = pool.shared();
                let exchanges = &self.exchanges;
                let Some(slot) = pool.next_waiting(|waiting| is_waiting(exchanges, waiting)) else {
                    break;
                };
                self.now_ns = sojourn_clock::now_ns();
                match (pool.take_idle(), shared) {
                    (Some(connection), _) => self.assign(connection, slot, self.now_ns),
                    (None, Some(connection)) => self.open_stream(connection, slot, self.now_ns),
                    (None, None) => self.dial(slot),
                }
            }
        }
    }

    pub(super) fn complete(&mut self, slot: u32, failure: Option<Cause>) {
        let exchange = &mut self.exchanges[slot as usize];
        let label = self.pools.get(exchange.origin as usize).map_or("", |pool| pool.label.as_str());
        let mut buffer = exchange.complete(self.now_ns, failure, label, &mut self.finished);
        self.exchanges.remove(slot as usize);
        if self.spare_buffers.len() < SPARE_BUFFERS_MAX && buffer.capacity() <= SPARE_BYTES_MAX {
            buffer.clear();
            self.spare_buffers.push(buffer);
        }
    }

    pub(super) fn close(&mut self, id: ConnectionId) {
        let connection = self.take_out(id.slot);
        if let Some(dialling) = &connection.dialling {
            self.end_attempts(dialling, id.slot);
        }
        let pool = &mut self.pools[connection.origin as usize];
        pool.open -= 1;
        if connection.phase == Phase::Idle {
            pool.forget_idle(id.slot);
        }
        if connection.phase.is_dialling() {
            pool.dialling -= 1;
        }
        if connection.http2.is_some_and(|http2| http2.is_listed) {
            pool.forget_shared(id.slot);
        }
        self.mark_to_serve(connection.origin);
    }

    /// Takes a connection out of its slot; its socket closes.
    pub(super) fn take_out(&mut self, slot: u32) -> Connection {
        self.close_socket(slot);
        self.connections.remove(slot as usize)
    }

    pub(super) fn close_socket(&mut self, slot: u32) {
        if let Some(socket) = self.connections[slot as usize].socket.take() {
            self.driver.close(socket);
        }
    }

    pub(super) fn mark_to_serve(&mut self, origin: u32) {
        let pool = &mut self.pools[origin as usize];
        if pool.has_waiting() && !pool.to_serve {
            pool.to_serve = true;
            self.to_serve.push(origin);
        }
    }
}
