//! The loop of a fake peer: one thread, one epoll, one timer.
//!
//! The timer is a timerfd on CLOCK_MONOTONIC armed for the earliest step that is due, in absolute
//! nanoseconds, so neither epoll's milliseconds nor the thread's timer slack enter an answer's
//! instant.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io;
use std::mem::MaybeUninit;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};

use crate::connection::{Connection, Incoming, Progress};
use crate::reply::{Reply, response};
use crate::server::{Counters, Responder};

/// More connections than this at a time are closed at once, and counted.
const CONNECTIONS_MAX: usize = 8192;
/// Handshakes that the kernel may complete before the loop accepts them.
const BACKLOG: i32 = 4096;
/// After a failed accept (no descriptors left) the listener rests this long.
const ACCEPT_PAUSE_NS: u64 = 10 * MILLISECOND_NS;

// What an event is about: one of these, or a connection's number.
const LISTENER: u64 = u64::MAX;
const WAKE: u64 = u64::MAX - 1;
const TIMER: u64 = u64::MAX - 2;

pub(crate) struct Reactor<R> {
    epoll: OwnedFd,
    listener: TcpListener,
    timer: OwnedFd,
    wake: Arc<OwnedFd>,
    counters: Arc<Counters>,
    responder: R,
    connections: HashMap<u64, Connection>,
    next_connection: u64,
    /// Who goes on when; an entry whose connection has gone is passed over.
    due: BinaryHeap<Reverse<(u64, u64)>>,
    armed_ns: Option<u64>,
    scratch: Box<[u8]>,
}

impl<R: Responder> Reactor<R> {
    pub(crate) fn new(
        listener: TcpListener,
        wake: Arc<OwnedFd>,
        counters: Arc<Counters>,
        responder: R,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        // Listening again only changes the length of the backlog, which std keeps short.
        rustix::net::listen(&listener, BACKLOG)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        epoll::add(&epoll, &*wake, EventData::new_u64(WAKE), EventFlags::IN)?;
        epoll::add(&epoll, &timer, EventData::new_u64(TIMER), EventFlags::IN)?;
        Ok(Self {
            epoll,
            listener,
            timer,
            wake,
            counters,
            responder,
            connections: HashMap::new(),
            next_connection: 0,
            due: BinaryHeap::new(),
            armed_ns: None,
            scratch: vec![0; 64 * 1024].into_boxed_slice(),
        })
    }

    /// Serves until woken.
    pub(crate) fn run(mut self) {
        let mut buffer = [MaybeUninit::<Event>::uninit(); 256];
        loop {
            self.arm();
            let Ok((events, _)) = epoll::wait(&self.epoll, &mut buffer, None) else {
                continue; // Interrupted by a signal.
            };
            if events.iter().any(|event| event.data.u64() == WAKE) {
                return;
            }
            if let Some(until_ns) = self.responder.frozen_until(now_ns()) {
                // The events are reported again after the thaw: epoll is level-triggered here.
                if self.freeze(until_ns) {
                    return;
                }
                continue;
            }
            for event in events.iter() {
                let flags = event.flags;
                match event.data.u64() {
                    LISTENER => self.accept(),
                    // Due steps are taken below; arming anew clears the timer.
                    TIMER | WAKE => {}
                    id => self.react(id, flags),
                }
            }
            self.serve_due();
        }
    }

    /// Does nothing until `until_ns`; true when woken to stop.
    fn freeze(&self, until_ns: u64) -> bool {
        loop {
            let left_ns = until_ns.saturating_sub(now_ns());
            if left_ns == 0 {
                return false;
            }
            let mut wake = [PollFd::new(&*self.wake, PollFlags::IN)];
            if poll(&mut wake, Some(&timespec(left_ns))) == Ok(1) {
                return true;
            }
        }
    }

    /// Sets the timer to the earliest due instant.
    fn arm(&mut self) {
        let earliest_ns = self.due.peek().map(|Reverse((at_ns, _))| *at_ns);
        if earliest_ns == self.armed_ns {
            return;
        }
        let setting = Itimerspec {
            it_interval: timespec(0),
            // Zero disarms, so an instant of zero becomes one nanosecond.
            it_value: timespec(earliest_ns.map_or(0, |at_ns| at_ns.max(1))),
        };
        if timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &setting).is_ok() {
            self.armed_ns = earliest_ns;
        }
    }

    fn accept(&mut self) {
        loop {
            match self.listener.accept() {
                Ok(_) if self.connections.len() >= CONNECTIONS_MAX => {
                    self.counters.connections_refused.fetch_add(1, Ordering::Relaxed);
                }
                Ok((socket, _)) => {
                    if self.welcome(socket).is_err() {
                        self.counters.connections_refused.fetch_add(1, Ordering::Relaxed);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(_) => {
                    self.counters.connections_refused.fetch_add(1, Ordering::Relaxed);
                    self.listen(EventFlags::empty());
                    self.due.push(Reverse((now_ns() + ACCEPT_PAUSE_NS, LISTENER)));
                    return;
                }
            }
        }
    }

    fn listen(&self, flags: EventFlags) {
        let data = EventData::new_u64(LISTENER);
        // Fails only for descriptors that are not registered; ours stay so.
        let _modified = epoll::modify(&self.epoll, &self.listener, data, flags);
    }

    fn welcome(&mut self, socket: TcpStream) -> io::Result<()> {
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        let id = self.next_connection;
        let interest = EventFlags::IN | EventFlags::RDHUP;
        epoll::add(&self.epoll, &socket, EventData::new_u64(id), interest)?;
        self.next_connection += 1;
        self.connections.insert(id, Connection::new(id, socket, interest));
        self.counters.accepted.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Something happened on a connection.
    fn react(&mut self, id: u64, flags: EventFlags) {
        let Some(connection) = self.connections.get_mut(&id) else {
            return; // Closed earlier in this batch.
        };
        if flags.intersects(EventFlags::ERR | EventFlags::HUP) {
            self.connections.remove(&id);
            return;
        }
        if connection.is_idle() || flags.contains(EventFlags::OUT) {
            self.drive(id);
            return;
        }
        if flags.contains(EventFlags::RDHUP) {
            if connection.is_silent() {
                self.connections.remove(&id);
                return;
            }
            connection.peer_closed = true;
        }
        // Pipelined bytes wait in the kernel until this answer is given.
        let interest = match connection.peer_closed {
            true => connection.interest & EventFlags::OUT,
            false => (connection.interest & EventFlags::OUT) | EventFlags::RDHUP,
        };
        attend(self.epoll.as_fd(), connection, interest);
    }

    fn serve_due(&mut self) {
        let now = now_ns();
        while let Some(&Reverse((at_ns, id))) = self.due.peek() {
            if at_ns > now {
                return;
            }
            self.due.pop();
            match id {
                LISTENER => self.listen(EventFlags::IN),
                id => self.drive(id),
            }
        }
    }

    /// Lets a connection do all it can do now: answer, read the next request, answer that.
    fn drive(&mut self, id: u64) {
        let Some(connection) = self.connections.get_mut(&id) else {
            return;
        };
        let epoll = self.epoll.as_fd();
        loop {
            let now = now_ns();
            match connection.perform(now) {
                Progress::Blocked => {
                    attend(epoll, connection, connection.interest | EventFlags::OUT);
                    return;
                }
                Progress::Close => break,
                Progress::Done { tag, close } => {
                    self.responder.sent(tag, now_ns());
                    if close {
                        break;
                    }
                }
                Progress::Idle => match connection.next_request(&mut self.scratch) {
                    Incoming::Bad(status) => {
                        self.counters.requests_bad.fetch_add(1, Ordering::Relaxed);
                        let refusal = response(status, "text/plain", b"not understood\n");
                        // Best effort to a client that broke the rules.
                        let _sent = io::Write::write(&mut connection.socket, &refusal);
                        break;
                    }
                    Incoming::Gone => break,
                    Incoming::Partial => {
                        attend(epoll, connection, EventFlags::IN | EventFlags::RDHUP);
                        return;
                    }
                    Incoming::Whole(mut request) => {
                        request.arrival_ns = now_ns();
                        request.connection = connection.id;
                        self.counters.requests.fetch_add(1, Ordering::Relaxed);
                        let answer: Reply = self.responder.respond(&request);
                        connection.begin(answer, request.close);
                    }
                },
                Progress::Reset => {
                    // Closing with a linger of zero sends RST instead of FIN.
                    let _set = rustix::net::sockopt::set_socket_linger(
                        &connection.socket,
                        Some(Duration::ZERO),
                    );
                    break;
                }
                Progress::Silent => return,
                Progress::Until(at_ns) => {
                    self.due.push(Reverse((at_ns, id)));
                    return;
                }
            }
        }
        self.connections.remove(&id);
    }
}

/// Asks epoll for other events of a connection, if they differ.
fn attend(epoll: std::os::fd::BorrowedFd<'_>, connection: &mut Connection, interest: EventFlags) {
    if connection.interest == interest {
        return;
    }
    let data = EventData::new_u64(connection.id);
    if epoll::modify(epoll, &connection.socket, data, interest).is_ok() {
        connection.interest = interest;
    }
}

fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / SECOND_NS) as i64, tv_nsec: (ns % SECOND_NS) as i64 }
}
