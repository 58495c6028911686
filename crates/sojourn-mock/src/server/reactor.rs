//! The loop of one thread: one epoll, one wheel, every connection registered once.
//!
//! A request costs one receive, one send and its share of a wait: sockets are edge-triggered and
//! never registered anew, a short read is taken to have drained the socket, and an answer is sent
//! before anybody asks whether there is room. Nothing is allocated for a request that comes in one
//! piece and is answered with a prepared message, held or not.

use std::io;
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with, sockopt};
use rustix::time::Timespec;
use slab::Slab;
use sojourn_clock::{Anchor, MILLISECOND_NS, SECOND_NS, now_ns};

use super::connection::{Alarm, Connection};
use super::counters::Counters;
use super::outgoing::Assembly;
use super::waiting::Waits;
use super::{DRAINING, Responder, SERVING, STOPPED, ServerConfig, Shared, Takeover};
use crate::wheel::Wheel;

/// Most events of one wait.
const EVENTS_MAX: usize = 256;
/// So many events are handled before due answers are looked after.
const EVENTS_PER_TURN: usize = 16;
/// After a failed accept (no descriptors left) the listener rests this long.
const ACCEPT_PAUSE_NS: u64 = 10 * MILLISECOND_NS;
/// The receive buffer, and so the most that one request can bring beyond itself.
pub(super) const RECEIVE_BYTES: usize = 16 * 1024;

// What an event is about: one of these, or a connection's slot and generation.
const LISTENER: u64 = u64::MAX;
const WAKE: u64 = u64::MAX - 1;
/// What a timer is about: the listener, or a connection's slot.
const LISTENER_PAYLOAD: u32 = u32::MAX;

/// What a thread's loop works with, its responder apart.
pub(super) struct Reactor {
    pub(super) epoll: OwnedFd,
    listener: Option<TcpListener>,
    number: usize,
    shared: Arc<Shared>,
    pub(super) others: Option<Arc<dyn Takeover>>,
    connections_max: usize,
    pub(super) request_timeout_ns: u64,
    pub(super) counters: Arc<Counters>,
    pub(super) connections: Slab<Connection>,
    next_connection: u64,
    pub(super) wheel: Wheel,
    due: Vec<u32>,
    /// Connections that could go on at once and wait for their next turn.
    pub(super) again: Vec<usize>,
    pub(super) scratch: Box<[u8]>,
    pub(super) assembly: Assembly,
    pub(super) date: Date,
    pub(super) is_draining: bool,
    waits: Waits,
}

/// The `Date` header's value, made once a second.
pub(super) struct Date {
    anchor: Anchor,
    until_ns: u64,
    text: String,
}

/// What a thread is given to begin with.
pub(super) struct Seat {
    epoll: OwnedFd,
    listener: TcpListener,
    number: usize,
    shared: Arc<Shared>,
    counters: Arc<Counters>,
}

impl Seat {
    pub(super) fn new(
        listener: TcpListener,
        number: usize,
        shared: Arc<Shared>,
        counters: Arc<Counters>,
    ) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        epoll::add(&epoll, &shared.wakes[number], EventData::new_u64(WAKE), EventFlags::IN)?;
        Ok(Self { epoll, listener, number, shared, counters })
    }
}

impl Reactor {
    pub(super) fn new(seat: Seat, config: &ServerConfig) -> Self {
        let Seat { epoll, listener, number, shared, counters } = seat;
        Self {
            epoll,
            listener: Some(listener),
            number,
            shared,
            others: config.others.clone(),
            connections_max: config.connections_max,
            request_timeout_ns: config.request_timeout_ns,
            counters,
            connections: Slab::new(),
            next_connection: 0,
            wheel: Wheel::new(now_ns()),
            due: Vec::new(),
            again: Vec::new(),
            scratch: vec![0; RECEIVE_BYTES].into_boxed_slice(),
            assembly: Assembly::default(),
            date: Date { anchor: Anchor::now(), until_ns: 0, text: String::new() },
            is_draining: false,
            waits: Waits::new(config.waiting),
        }
    }

    /// Serves until told to stop, or to drain and all is answered.
    pub(super) fn run<R: Responder>(mut self, mut responder: R) {
        // Default slack lets the kernel end waits 50 µs late. Where a sandbox forbids to set it,
        // overshoot shows it.
        let _set = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        sojourn_clock::request_short_slice();
        // On the stack and never initialised: it costs nothing.
        let mut buffer = [const { MaybeUninit::<epoll::Event>::uninit() }; EVENTS_MAX];
        while self.shared.stage() != STOPPED && !(self.is_draining && self.connections.is_empty()) {
            let (asked_ns, timeout) = self.timeout(responder.wanted_ns());
            let events = match epoll::wait(&self.epoll, &mut buffer, timeout.as_ref()) {
                Ok((events, _)) => &*events,
                Err(_) => &[], // Interrupted by a signal.
            };
            if events.is_empty()
                && let Some(asked_ns) = asked_ns
            {
                self.waits.slept(asked_ns, now_ns());
            }
            if let Some(until_ns) = responder.frozen_until(now_ns()) {
                // Edge-triggered events come once: these are handled after the thaw.
                self.freeze(until_ns);
            }
            self.serve_due(&mut responder);
            for turn in events.chunks(EVENTS_PER_TURN) {
                for event in turn {
                    let flags = event.flags;
                    match event.data.u64() {
                        LISTENER => self.accept(),
                        WAKE => self.wake(&mut responder),
                        data => self.react(data, flags, &mut responder),
                    }
                }
                self.serve_due(&mut responder);
            }
            self.serve_again(&mut responder);
            self.counters.open.set(self.connections.len() as u64);
            responder.after_batch();
        }
        self.counters.open.set(0);
        responder.after_batch();
    }

    /// How long to wait for events; and the instant that the wait is to end, if it is slept for.
    fn timeout(&self, wanted_ns: Option<u64>) -> (Option<u64>, Option<Timespec>) {
        if !self.again.is_empty() {
            return (None, Some(timespec(0)));
        }
        let due_ns = match (self.wheel.next_due_ns(), wanted_ns) {
            (Some(due_ns), Some(wanted_ns)) => Some(due_ns.min(wanted_ns)),
            (due_ns, wanted_ns) => due_ns.or(wanted_ns),
        };
        let now = now_ns();
        let Some(until_ns) = self.waits.sleep_until(now, due_ns) else {
            return (None, None);
        };
        let left_ns = until_ns.saturating_sub(now);
        ((left_ns > 0).then_some(until_ns), Some(timespec(left_ns)))
    }

    /// Does nothing until `until_ns`, or until it is told something.
    fn freeze(&self, until_ns: u64) {
        loop {
            let left_ns = until_ns.saturating_sub(now_ns());
            if left_ns == 0 {
                return;
            }
            let mut wake = [PollFd::new(&self.shared.wakes[self.number], PollFlags::IN)];
            if poll(&mut wake, Some(&timespec(left_ns))) == Ok(1) {
                return;
            }
        }
    }

    fn wake<R: Responder>(&mut self, responder: &mut R) {
        let mut count = [0; 8];
        // Nothing to read means that it has been read.
        let _read = rustix::io::read(&self.shared.wakes[self.number], &mut count);
        if self.shared.stage() == SERVING || self.is_draining {
            return;
        }
        debug_assert!(self.shared.stage() >= DRAINING);
        // Whoever has connected is still served; then nobody can.
        self.accept();
        self.is_draining = true;
        self.listener = None;
        let slots: Vec<usize> = self.connections.iter().map(|(slot, _)| slot).collect();
        for slot in slots {
            let Some(connection) = self.connections.get_mut(slot) else {
                continue;
            };
            if connection.is_silent {
                self.close(slot, responder);
            } else if connection.reply.is_none() {
                // A request may have come that nobody has looked at.
                connection.is_readable = true;
                self.drive(slot, responder);
            }
        }
    }

    fn accept(&mut self) {
        while let Some(listener) = &self.listener {
            match accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok(_) if self.connections.len() >= self.connections_max => {
                    self.counters.connections_refused.add(1);
                }
                Ok(socket) => {
                    if self.welcome(socket).is_err() {
                        self.counters.connections_refused.add(1);
                    }
                }
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(_) => {
                    self.counters.connections_refused.add(1);
                    self.listen(EventFlags::empty());
                    self.wheel.insert(now_ns() + ACCEPT_PAUSE_NS, LISTENER_PAYLOAD);
                    return;
                }
            }
        }
    }

    fn listen(&self, flags: EventFlags) {
        if let Some(listener) = &self.listener {
            // Fails only for descriptors that are not registered; ours stay so.
            let data = EventData::new_u64(LISTENER);
            let _modified = epoll::modify(&self.epoll, listener, data, flags);
        }
    }

    fn welcome(&mut self, socket: OwnedFd) -> Result<(), Errno> {
        sockopt::set_tcp_nodelay(&socket, true)?;
        let id = self.next_connection;
        self.next_connection += 1;
        let entry = self.connections.vacant_entry();
        let data = (id << 32) | entry.key() as u64;
        epoll::add(
            &self.epoll,
            socket.as_fd(),
            EventData::new_u64(data),
            EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET,
        )?;
        entry.insert(Connection::new(socket, id));
        self.counters.accepted.add(1);
        Ok(())
    }

    /// Something happened on a connection.
    fn react<R: Responder>(&mut self, data: u64, flags: EventFlags, responder: &mut R) {
        let slot = data as u32 as usize;
        let Some(connection) = self.connections.get_mut(slot) else {
            return; // Closed earlier in this batch.
        };
        if connection.id as u32 != (data >> 32) as u32 {
            return; // That was its predecessor in the slot.
        }
        if flags.intersects(EventFlags::ERR | EventFlags::HUP) {
            self.close(slot, responder);
            return;
        }
        connection.is_readable |= flags.intersects(EventFlags::IN | EventFlags::RDHUP);
        connection.peer_closed |= flags.contains(EventFlags::RDHUP);
        if connection.is_silent && connection.peer_closed {
            self.close(slot, responder);
            return;
        }
        // Pipelined bytes wait in the kernel until this answer is given.
        if connection.outgoing.is_some() || !connection.is_held() {
            self.drive(slot, responder);
        }
    }

    fn serve_due<R: Responder>(&mut self, responder: &mut R) {
        let Some(next_ns) = self.wheel.next_due_ns() else {
            return;
        };
        let now = now_ns();
        if next_ns > now {
            return;
        }
        let mut due = std::mem::take(&mut self.due);
        self.wheel.advance(now, &mut due);
        for payload in due.drain(..) {
            if payload == LISTENER_PAYLOAD {
                self.listen(EventFlags::IN);
                continue;
            }
            let slot = payload as usize;
            // Its timer is gone from the wheel; whoever closes it takes the timer out.
            let alarm = self.connections.get_mut(slot).and_then(|it| it.timer.take());
            match alarm {
                Some((_, Alarm::Answer)) => {
                    self.counters.held.add(u64::MAX);
                    self.drive(slot, responder);
                }
                Some((_, Alarm::Linger)) => self.close(slot, responder),
                Some((_, Alarm::Request)) => self.overdue(slot, responder),
                None => {}
            }
        }
        self.due = due;
    }

    /// Gives a connection another turn, once however often it is asked for.
    pub(super) fn queue(&mut self, slot: usize) {
        let Some(connection) = self.connections.get_mut(slot) else {
            return;
        };
        if !std::mem::replace(&mut connection.is_queued, true) {
            self.again.push(slot);
        }
    }

    /// Gives those another turn who had more to do than one.
    fn serve_again<R: Responder>(&mut self, responder: &mut R) {
        for slot in std::mem::take(&mut self.again) {
            // Its slot may be another's by now, for whom a turn too many does no harm.
            let Some(connection) = self.connections.get_mut(slot) else {
                continue;
            };
            connection.is_queued = false;
            if !connection.is_held() {
                self.drive(slot, responder);
                self.serve_due(responder);
            }
        }
    }

    /// Lets a connection go.
    pub(super) fn close<R: Responder>(&mut self, slot: usize, responder: &mut R) {
        let Some(connection) = self.connections.try_remove(slot) else {
            return;
        };
        if let Some((timer, alarm)) = connection.timer {
            self.wheel.cancel(timer);
            if alarm == Alarm::Answer {
                self.counters.held.add(u64::MAX);
            }
        }
        // What is assembled was for this one.
        self.assembly.bytes.clear();
        let unsent = connection.outgoing.map(|outgoing| outgoing.tags).unwrap_or_default();
        for tag in unsent.into_iter().chain(self.assembly.tags.drain(..)) {
            responder.abandoned(tag);
        }
        if let Some(reply) = connection.reply {
            self.counters.abandoned.add(1);
            responder.abandoned(reply.tag);
        }
    }
}

impl Date {
    /// The present second's.
    #[inline]
    pub(super) fn at(&mut self, now_ns: u64) -> &[u8] {
        if now_ns >= self.until_ns {
            let unix_ns = self.anchor.unix_ns_at(now_ns);
            let second = std::time::Duration::from_secs(unix_ns / SECOND_NS);
            self.text = httpdate::fmt_http_date(std::time::UNIX_EPOCH + second);
            self.until_ns = now_ns + SECOND_NS - unix_ns % SECOND_NS;
        }
        self.text.as_bytes()
    }
}

fn timespec(ns: u64) -> Timespec {
    // A year is for ever, and never overflows.
    let seconds = (ns / SECOND_NS).min(31_536_000);
    Timespec { tv_sec: seconds as i64, tv_nsec: (ns % SECOND_NS) as i64 }
}

#[cfg(test)]
mod tests {
    use rustix::event::{EventfdFlags, eventfd};
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    use super::*;

    /// Else a client that always has more to do would have ever more turns.
    #[test]
    fn who_asks_twice_for_a_turn_has_one() {
        let wakes = vec![eventfd(0, EventfdFlags::CLOEXEC).unwrap()];
        let shared = Arc::new(Shared { stage: Default::default(), wakes });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let seat = Seat::new(listener, 0, shared, Arc::default()).unwrap();
        let mut reactor = Reactor::new(seat, &ServerConfig::default());
        let flags = SocketFlags::CLOEXEC;
        let (ours, _theirs) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
        let slot = reactor.connections.insert(Connection::new(ours, 0));
        for _ in 0..3 {
            reactor.queue(slot);
        }
        reactor.queue(slot + 1);
        assert_eq!(reactor.again, [slot]);
    }
}
