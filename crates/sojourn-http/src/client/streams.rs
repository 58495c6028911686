//! Requests on connections that carry many at a time.

use super::{Client, is_waiting};
use crate::cause::{Cause, Http2Cause};
use crate::connection::{Ending, FrameStep, Http2State, Phase, RECEIVES_MAX};
use crate::deadlines::{Deadline, Due};
use crate::driver::ConnectionId;

/// How often a request is sent again because a server has not touched it.
const RETRIES_MAX: u8 = 5;

impl Client {
    /// The connection is up and speaks HTTP/2: the request that it was opened for goes out, and
    /// others may.
    pub(super) fn share(&mut self, id: ConnectionId) {
        let connection = &mut self.connections[id.slot as usize];
        connection.phase = Phase::Shared;
        let origin = connection.origin;
        self.pools[origin as usize].dialling -= 1;
        let http2 = Http2State::new(self.config.http2_streams_max.max(1));
        connection.http2 = Some(Box::new(http2));
        if let Some(slot) = connection.exchange.take() {
            self.exchanges[slot as usize].dialling = false;
            self.open_stream(id.slot, slot, self.now_ns);
        }
        self.mark_to_serve(origin);
        self.absorb_early(id);
    }

    /// Begins a request on a connection with room. It goes out when the caller waits next, together
    /// with others that were begun until then.
    pub(super) fn open_stream(&mut self, connection_slot: u32, exchange_slot: u32, now_ns: u64) {
        let connection = &mut self.connections[connection_slot as usize];
        let Some(http2) = &mut connection.http2 else {
            return;
        };
        let exchange = &mut self.exchanges[exchange_slot as usize];
        let is_tls = connection.tls.is_some();
        if let Err(unfit) =
            http2.open(exchange_slot, exchange, &mut self.request_blocks, is_tls, now_ns)
        {
            return self.fail(exchange_slot, Cause::Http2(Http2Cause::Unfit(unfit)));
        }
        exchange.connection = Some(connection_slot);
        exchange.peer = connection.peer;
        if !self.config.keep_alive {
            http2.drain();
        }
        if !http2.is_to_flush {
            http2.is_to_flush = true;
            let generation = connection.generation;
            self.to_flush.push(ConnectionId { slot: connection_slot, generation });
        }
        self.list_room(connection_slot);
    }

    /// Sends what was begun since the last time.
    pub(super) fn flush_begun(&mut self) {
        while let Some(id) = self.to_flush.pop() {
            if !self.is_current(id) {
                continue;
            }
            if let Some(http2) = &mut self.connections[id.slot as usize].http2 {
                http2.is_to_flush = false;
                if !http2.is_blocked {
                    self.flush(id);
                }
            }
        }
    }

    /// There is room to send again.
    pub(super) fn writable(&mut self, id: ConnectionId) {
        let connection = &self.connections[id.slot as usize];
        let origin = connection.origin;
        if connection.http2.as_ref().is_some_and(|http2| http2.is_blocked) {
            self.flush(id);
            if self.is_current(id) {
                self.list_room(id.slot);
                self.mark_to_serve(origin);
            }
        }
    }

    /// Sends as much as goes now.
    pub(super) fn flush(&mut self, id: ConnectionId) {
        let connection = &mut self.connections[id.slot as usize];
        let Err(errno) = connection.flush_frames(&mut self.exchanges, &mut self.driver) else {
            return;
        };
        // A server may have said why, or answered, before it closed.
        self.receive_frames(id, true);
        if self.is_current(id) {
            self.lost(id, Cause::Os(errno));
        }
    }

    /// Receives on a connection and acts on what came.
    pub(super) fn receive_frames(&mut self, id: ConnectionId, hangup: bool) {
        for round in 0..RECEIVES_MAX {
            if round > 0 {
                self.now_ns = sojourn_clock::now_ns();
            }
            let mut ended = std::mem::take(&mut self.ended);
            let step = self.connections[id.slot as usize].receive_frames(
                &mut self.exchanges,
                &mut self.driver,
                self.now_ns,
                hangup,
                &mut ended,
            );
            self.settle_streams(id, ended);
            match step {
                FrameStep::Received => {}
                FrameStep::Blocked => return self.close_if_finished(id),
                FrameStep::Broken(cause) => return self.lost(id, cause),
            }
        }
        self.unfinished.push((id, hangup));
    }

    /// Frames that came together with the end of the TLS handshake.
    pub(super) fn absorb_early(&mut self, id: ConnectionId) {
        let connection = &mut self.connections[id.slot as usize];
        let (Some(http2), Some(tls)) = (&mut connection.http2, &mut connection.tls) else {
            return;
        };
        let early = tls.take_early();
        let mut ended = std::mem::take(&mut self.ended);
        let absorbed = http2.absorb(&early, &mut self.exchanges, self.now_ns, &mut ended);
        self.settle_streams(id, ended);
        if let Err(error) = absorbed {
            self.lost(id, error.into());
        }
    }

    /// Ends what has ended on a connection, and takes note of its room.
    fn settle_streams(&mut self, id: ConnectionId, ended: Vec<(u32, Ending)>) {
        let mut ended = ended;
        let connection = &mut self.connections[id.slot as usize];
        let origin = connection.origin;
        if let Some(http2) = &mut connection.http2 {
            self.pools[origin as usize].learn_streams_max(http2.streams_max());
            if http2.has_to_send() && !http2.is_to_flush {
                http2.is_to_flush = true;
                self.to_flush.push(id);
            }
        }
        self.list_room(id.slot);
        self.mark_to_serve(origin);
        for (slot, ending) in ended.drain(..) {
            if !self.exchanges.contains(slot as usize) {
                continue;
            }
            match ending {
                Ending::Answered => {
                    self.note_answer(slot);
                    self.complete(slot, None);
                }
                Ending::Failed(cause) => self.fail(slot, cause),
                Ending::Untouched(cause) => self.send_elsewhere(slot, cause),
            }
        }
        self.ended = ended;
    }

    /// Sends a request again that a server has not touched.
    fn send_elsewhere(&mut self, slot: u32, cause: Cause) {
        let exchange = &mut self.exchanges[slot as usize];
        if exchange.retries >= RETRIES_MAX {
            return self.fail(slot, cause);
        }
        exchange.rewind();
        self.counters.untouched_retries += 1;
        self.place(slot, self.now_ns);
    }

    /// Gives up one request of a connection; the others go on.
    pub(super) fn give_up_stream(&mut self, id: ConnectionId, slot: u32, cause: Cause) {
        let connection = &mut self.connections[id.slot as usize];
        if let Some(http2) = &mut connection.http2 {
            http2.give_up(&self.exchanges[slot as usize]);
        }
        let ended = vec![(slot, Ending::Failed(cause))];
        self.settle_streams(id, ended);
        self.close_if_finished(id);
    }

    /// The connection is of no use any more. Requests that the server cannot have begun, since it
    /// has said nothing after they were sent, are sent once more; the others fail.
    pub(super) fn lost(&mut self, id: ConnectionId, cause: Cause) {
        let Some(http2) = &mut self.connections[id.slot as usize].http2 else {
            return;
        };
        let last_read_ns = http2.last_read_ns;
        let carried = http2.exchanges();
        let cause = match (http2.going_away(), cause) {
            (Some(code), Cause::Closed | Cause::Os(_)) => Cause::Http2(Http2Cause::GoneAway(code)),
            (_, cause) => cause,
        };
        self.close(id);
        if carried.is_empty() {
            self.counters.idle_closed += 1;
        }
        for slot in carried {
            let exchange = &mut self.exchanges[slot as usize];
            let is_stale = last_read_ns != 0
                && cause.is_stale()
                && exchange.first_sent_ns > last_read_ns
                && exchange.retries == 0;
            if is_stale {
                exchange.rewind();
                self.counters.stale_retries += 1;
                self.place(slot, self.now_ns);
            } else {
                self.fail(slot, cause.clone());
            }
        }
    }

    /// A request that was to open a connection has run out of time, others wait for the same
    /// connection: the next one takes it over. False when nobody waits.
    pub(super) fn hand_over(&mut self, id: ConnectionId) -> bool {
        let connection = &mut self.connections[id.slot as usize];
        let pool = &mut self.pools[connection.origin as usize];
        if !pool.expects_http2 || !connection.phase.is_dialling() {
            return false;
        }
        let exchanges = &self.exchanges;
        let Some(slot) = pool.next_waiting(|waiting| is_waiting(exchanges, waiting)) else {
            return false;
        };
        connection.exchange = Some(slot);
        let dial_ends_ns = connection.since_ns.saturating_add(self.config.connect_timeout_ns);
        let exchange = &mut self.exchanges[slot as usize];
        exchange.connection = Some(id.slot);
        exchange.dialling = true;
        exchange.phase_began_ns = self.now_ns;
        let serial = exchange.serial;
        let next_at_ns = connection.dialling.as_ref().map(|dialling| dialling.next_at_ns);
        if dial_ends_ns < exchange.deadline_ns() {
            let what = Due::Connection;
            self.add_deadline(Deadline { at_ns: dial_ends_ns, serial, slot, what });
        }
        if let Some(at_ns) = next_at_ns.filter(|at_ns| *at_ns > self.now_ns) {
            self.add_deadline(Deadline { at_ns, serial, slot, what: Due::NextAddress });
        }
        true
    }

    /// No connection came up: whoever waited for one fails as it did.
    pub(super) fn fail_waiting(&mut self, origin: u32, cause: &Cause) {
        let pool = &self.pools[origin as usize];
        if !pool.expects_http2 || pool.open > 0 {
            return;
        }
        loop {
            let exchanges = &self.exchanges;
            let next =
                self.pools[origin as usize].next_waiting(|waiting| is_waiting(exchanges, waiting));
            let Some(slot) = next else { return };
            self.fail(slot, cause.clone());
        }
    }

    /// Puts a connection on its pool's list of those with room, or takes it off.
    fn list_room(&mut self, slot: u32) {
        let connection = &mut self.connections[slot as usize];
        let pool = &mut self.pools[connection.origin as usize];
        let Some(http2) = &mut connection.http2 else {
            return;
        };
        let has_room = http2.room() > 0;
        if has_room != http2.is_listed {
            http2.is_listed = has_room;
            if has_room {
                pool.put_shared(slot);
            } else {
                pool.forget_shared(slot);
            }
        }
    }

    /// The connection, which is on no list any more, takes no further request.
    pub(super) fn drain(&mut self, slot: u32) {
        let Some(id) = self.connection_id(slot) else { return };
        if let Some(http2) = &mut self.connections[slot as usize].http2 {
            http2.is_listed = false;
            http2.drain();
        }
        self.close_if_finished(id);
    }

    /// Closes a connection that carries nothing and will carry nothing more.
    fn close_if_finished(&mut self, id: ConnectionId) {
        let connection = &mut self.connections[id.slot as usize];
        if connection.phase == Phase::Shared
            && connection.http2.as_ref().is_some_and(|http2| http2.is_finished())
        {
            // Whatever the server is still to be told; that it may fail does not matter any more.
            connection.flush_frames(&mut self.exchanges, &mut self.driver).ok();
            self.close(id);
        }
    }
}
