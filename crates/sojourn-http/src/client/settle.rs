//! Sending on free connections, ending requests, giving connections back.

use super::{Client, is_waiting};
use crate::FarEnd;
use crate::cause::Cause;
use crate::connection::{Connection, Phase};
use crate::driver::ConnectionId;
use crate::pool::Waiting;
use crate::route::Route;

/// How long connections are opened in a row before answers are looked at again. Opening one takes
/// some tens of microseconds.
const DIAL_NS: u64 = 200_000;

/// When opening one took longer than [`DIAL_NS`] (the kernel searches for a free local port among
/// thousands that are taken), answers have so many times as long before the next is opened, or
/// until none come: they free connections for less.
const DEAR_DIAL_REST: u64 = 3;

impl Client {
    /// Sends a request on a free connection.
    pub(super) fn assign(&mut self, connection_slot: u32, exchange_slot: u32, now_ns: u64) {
        let connection = &mut self.connections[connection_slot as usize];
        connection.exchange = Some(exchange_slot);
        connection.phase = Phase::Sending;
        let id = ConnectionId { slot: connection_slot, generation: connection.generation };
        let peer = connection.peer;
        let exchange = &mut self.exchanges[exchange_slot as usize];
        exchange.connection = Some(connection_slot);
        exchange.peer = peer;
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
            self.now_ns = self.now_ns.max(exchange.sent_ns);
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
            connection.since_ns = self.now_ns;
            self.pools[origin as usize].put_idle(id.slot);
            self.mark_to_serve(origin);
        } else {
            self.close(id);
        }
        if let Some(exchange) = exchange {
            self.note_answer(exchange);
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
        let stale = self.config.resend && reused && cause.is_stale();
        if stale && exchange.is_unanswered() && exchange.retries == 0 {
            exchange.rewind();
            exchange.phase_began_ns = self.now_ns;
            let serial = exchange.serial;
            self.counters.stale_retries += 1;
            self.pools[origin as usize].wait_first(Waiting { slot, serial });
            self.mark_to_serve(origin);
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

    /// Gives waiting requests the connections that have become free, and opens connections for the
    /// others, but not for long: while answers wait, those may free what would else be opened.
    /// Iterative, and apart from what freed them: a queue full of requests that fail at once must
    /// not grow the stack.
    pub(super) fn serve(&mut self) {
        let mut dial_until_ns = None;
        let mut put_off = 0;
        while self.to_serve.len() > put_off {
            let Some(origin) = self.to_serve.pop_front() else { break };
            self.pools[origin as usize].to_serve = false;
            if !self.serve_pool(origin, &mut dial_until_ns) {
                self.mark_to_serve(origin);
                put_off += 1;
            }
        }
        self.is_behind = put_off > 0;
    }

    /// Serves the requests that wait in a pool; false when connections are to be opened and the
    /// time for it, which the first one sets, is up.
    fn serve_pool(&mut self, origin: u32, dial_until_ns: &mut Option<u64>) -> bool {
        let connections_max = self.config.connections_max;
        loop {
            let pool = &mut self.pools[origin as usize];
            if !pool.has_room(connections_max) {
                return true;
            }
            let exchanges = &self.exchanges;
            let Some(slot) = pool.next_waiting(|waiting| is_waiting(exchanges, waiting)) else {
                return true;
            };
            self.now_ns = sojourn_clock::now_ns();
            let may_dial = pool.may_dial(connections_max, pool.waiting() + 1);
            let exchange = &self.exchanges[slot as usize];
            // What is sent again needs a connection that cannot have gone stale with the first one.
            let is_fit = |idle: u32| {
                exchange.retries == 0
                    || !may_dial
                    || self.connections[idle as usize].since_ns >= exchange.phase_began_ns
            };
            if pool.last_idle().is_some_and(is_fit) {
                if let Some(connection) = pool.take_idle() {
                    self.assign(connection, slot, self.now_ns);
                }
            } else if let Some(connection) = pool.shared() {
                self.open_stream(connection, slot, self.now_ns);
            } else if self.now_ns >= self.dial_from_ns
                && self.now_ns <= *dial_until_ns.get_or_insert(self.now_ns + DIAL_NS)
            {
                self.dial(slot);
                let ended_ns = sojourn_clock::now_ns();
                let took_ns = ended_ns - self.now_ns;
                if took_ns > DIAL_NS {
                    self.dial_from_ns = ended_ns + DEAR_DIAL_REST * took_ns;
                }
            } else {
                pool.wait_first(Waiting { slot, serial: exchange.serial });
                return false;
            }
        }
    }

    pub(super) fn complete(&mut self, slot: u32, failure: Option<Cause>) {
        let exchange = &mut self.exchanges[slot as usize];
        let label = self.pools.get(exchange.origin as usize).map_or("", |pool| pool.label.as_str());
        let (origin, peer, first) = (exchange.origin, exchange.peer, self.finished.len());
        exchange.complete(self.now_ns, failure, label, &mut self.finished);
        self.exchanges.end(slot);
        for completion in &mut self.finished[first..] {
            let Err(failure) = &mut completion.outcome else { continue };
            let Some(circumstances) = &mut failure.circumstances else { continue };
            let route = self.pools.get(origin as usize).map(|pool| &pool.route);
            circumstances.is_proxy = route.is_some_and(Route::is_proxy);
            let address = self.peers.get(peer).address;
            circumstances.far_end =
                circumstances.far_end.take().or_else(|| address.map(FarEnd::Tcp));
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
            self.to_serve.push_back(origin);
        }
    }
}
