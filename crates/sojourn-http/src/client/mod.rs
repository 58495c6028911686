//! The client: connections and requests in tables, and the public way in.
//!
//! `events` waits and dispatches; `dial` opens connections with `attempts` and `tunnel`; `settle`
//! ends requests and gives connections back, `streams` does so where connections carry many;
//! `reach` only tries the way.

mod attempts;
mod config;
mod dial;
mod events;
mod gathering;
mod reach;
mod settle;
mod streams;
mod tunnel;

pub use config::{AddressRule, ClientConfig, ClientCounters, Ends, Http2};
pub use reach::Greeting;

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use crate::cause::Cause;
use crate::codec::KnownHeads;
use crate::codec::h2::RequestBlocks;
use crate::connection::{Connection, Ending, Phase};
use crate::deadlines::{Deadline, Deadlines, Due};
use crate::driver::{ConnectionId, Driver, Punctual, Ready, Remote};
use crate::local_addresses::LocalAddresses;
use crate::peer::Peers;
use crate::pipeline::Pipeline;
use crate::pool::{Pool, Waiting};
use crate::requests::Requests;
use crate::resolver::Names;
use crate::route::Route;
use crate::table::Table;
use crate::tls::{TlsConfigs, TlsFiles};
use crate::{Completion, Exchange, Io, Origin, OriginId, Peer, PeerId, Waker};

/// A client; see the crate's page. Not `Sync`: one thread's own. It can be made on one thread and
/// used on another, but once used it stays there (on a ring every later call fails elsewhere).
pub struct Client {
    config: ClientConfig,
    driver: Driver,
    punctual: Punctual,
    pools: Vec<Pool>,
    connections: Table<Connection>,
    exchanges: Requests,
    deadlines: Deadlines,
    /// Completions to hand out at the next wait.
    finished: Vec<Completion>,
    /// Connections that have more to receive than one turn allows, and whether they hang up.
    unfinished: Vec<(ConnectionId, bool)>,
    /// Connections with frames to send.
    to_flush: Vec<ConnectionId>,
    /// What the last answer took from the first byte of its request.
    answer_took_ns: u64,
    /// Used again by each receive.
    ended: Vec<(u32, Ending)>,
    request_blocks: RequestBlocks,
    known_heads: KnownHeads,
    /// Pools with both waiting requests and, perhaps, room.
    to_serve: VecDeque<u32>,
    /// See [`Self::is_behind`].
    is_behind: bool,
    /// While answers come, no connection is opened before this instant: see `settle`.
    dial_from_ns: u64,
    /// What the last wait has brought, and how much of it has been looked at.
    ready: Vec<Ready>,
    looked_at: usize,
    names: Names,
    local_addresses: LocalAddresses,
    unix_socket: Option<Remote>,
    /// After how long a silence the kernel asks after a peer.
    keep_alive: Option<Duration>,
    tls_files: TlsFiles,
    tls: TlsConfigs,
    peers: Peers,
    /// Until when the certificate is valid that the last origin greeted has shown.
    certificate_ends: Option<String>,
    counters: ClientCounters,
    next_serial: u64,
    next_generation: u32,
    /// The instant of the present batch.
    now_ns: u64,
}

impl Client {
    /// A client with its own event loop. Fails when the kernel gives no descriptors or refuses what
    /// [`ClientConfig::io`] asks for, or when something in `config` can't be: a file or key of no
    /// use, a local address of another machine, a header that can't be sent.
    pub fn new(config: ClientConfig) -> io::Result<Self> {
        let tls_files = TlsFiles::read(&config.tls)?;
        check_headers(&config)?;
        let connections_max = match config.connections_max {
            0 => usize::MAX,
            bounded => bounded,
        };
        let driver = Driver::new(config.io)?;
        Ok(Self {
            pools: Vec::new(),
            connections: Table::default(),
            exchanges: Requests::default(),
            deadlines: Deadlines::default(),
            finished: Vec::new(),
            unfinished: Vec::new(),
            to_flush: Vec::new(),
            answer_took_ns: 0,
            ended: Vec::new(),
            request_blocks: RequestBlocks::default(),
            known_heads: KnownHeads::default(),
            to_serve: VecDeque::new(),
            is_behind: false,
            dial_from_ns: 0,
            ready: Vec::new(),
            looked_at: 0,
            names: Names::new(&config.dns, driver.waker()),
            local_addresses: LocalAddresses::new(&config.local_addresses)?,
            unix_socket: unix_socket(&config)?,
            keep_alive: whole_seconds(config.tcp_keep_alive_ns),
            tls_files,
            tls: TlsConfigs::default(),
            peers: Peers::new(),
            config: ClientConfig { connections_max, ..config },
            driver,
            punctual: Punctual::default(),
            certificate_ends: None,
            counters: ClientCounters::default(),
            next_serial: 0,
            next_generation: 0,
            now_ns: 0,
        })
    }

    /// Registers an origin; the same origin gets the same number.
    pub fn origin(&mut self, origin: &Origin) -> OriginId {
        let known = self.pools.iter().position(|pool| pool.origin == *origin);
        known.map_or_else(|| self.own_origin(origin), |place| OriginId(place as u32))
    }

    /// Registers an origin under a number of its own: its connections are nobody else's.
    pub fn own_origin(&mut self, origin: &Origin) -> OriginId {
        self.own_origin_by(origin, Ends::default())
    }

    /// The same, with ends of its connections that are not the usual ones.
    pub fn own_origin_by(&mut self, origin: &Origin, ends: Ends) -> OriginId {
        if origin.tls {
            // Reading the system's certificates takes milliseconds: now, not at the first request.
            // A failure is met again, and said, when a connection is made.
            let ClientConfig { tls, http2, .. } = &self.config;
            self.tls.of(tls, &self.tls_files, *http2, &origin.host).ok();
        }
        let unix_socket = self.unix_socket.as_ref();
        let route = Route::new(&self.config, unix_socket, origin, ends.to, &mut self.names);
        self.pools.push(Pool::new(origin, route, &self.config, ends.local));
        OriginId((self.pools.len() - 1) as u32)
    }

    /// Takes a request up at `now_ns` (its t1): writes it at once on a free connection (on a ring
    /// at the latest with the next wait), else queues it. Never blocks. Its completion comes out of
    /// [`Self::wait_until`], which first looks at answers: a connection that one of them has freed
    /// serves it, else one is opened for it, if there may be another. Over HTTP/2 it is written by
    /// the next [`Self::wait_until`], with others begun until then.
    ///
    /// A request that opens a connection stays with it. `now_ns` is taken for the instant of the
    /// first byte when there is a free connection: the error is the time since it was read.
    pub fn send(&mut self, now_ns: u64, exchange: Exchange<'_>) {
        self.send_pipelined(now_ns, exchange, 1);
    }

    /// Like [`Self::send`], of a message that is so many HTTP/1.1 requests one after the other
    /// (zero counts as one). Each has a completion of its own under the same token; they are handed
    /// out together, in order, once the last answer is whole or the connection fails, and the
    /// connection carries nothing else until then. The bytes sent stand with the last answered one.
    pub fn send_pipelined(&mut self, now_ns: u64, exchange: Exchange<'_>, requests: u32) {
        let serial = self.next_serial;
        self.next_serial += 1;
        let slot = self.exchanges.begin(now_ns, &exchange, serial);
        let request = &mut self.exchanges[slot as usize];
        if requests > 1 {
            request.pipeline = Some(Box::new(Pipeline::new(requests)));
        }
        let origin = exchange.origin.0;
        let at_ns = request.deadline_ns();
        self.now_ns = now_ns;
        if origin as usize >= self.pools.len() {
            self.fail(slot, Cause::NoOrigin);
            return;
        }
        self.watch(slot, at_ns);
        if let Some(amendment) = &self.pools[origin as usize].route.amendment {
            amendment.apply(&mut self.exchanges[slot as usize].bytes);
        }
        self.place(slot, now_ns);
    }

    /// Whether opening connections takes longer than leaves time for answers: some requests still
    /// wait for theirs to be opened. Whoever takes up more before the next [`Self::wait_until`]
    /// only makes it worse.
    pub fn is_behind(&self) -> bool {
        self.is_behind
    }

    /// Sends a request on a connection that can take it, or queues it.
    fn place(&mut self, slot: u32, now_ns: u64) {
        let exchange = &self.exchanges[slot as usize];
        let (origin, serial) = (exchange.origin, exchange.serial);
        let pool = &mut self.pools[origin as usize];
        if let Some(connection) = pool.take_idle() {
            self.assign(connection, slot, now_ns);
        } else if let Some(connection) = pool.shared() {
            self.open_stream(connection, slot, now_ns);
        } else {
            let exchanges = &self.exchanges;
            let waits =
                pool.wait(Waiting { slot, serial }, |waiting| is_waiting(exchanges, waiting));
            let may_dial = pool.may_dial(self.config.connections_max, pool.waiting());
            if !waits {
                self.counters.refused += 1;
                self.fail(slot, Cause::WaitingFull);
            } else if may_dial {
                self.mark_to_serve(origin);
            }
        }
    }

    /// The clock as this client has last read it or was told, nanoseconds: after a
    /// [`Self::send`] that was a system call, the instant just behind it.
    #[inline]
    pub fn last_ns(&self) -> u64 {
        self.now_ns
    }

    /// A handle that wakes this client from other threads.
    pub fn waker(&self) -> Waker {
        self.driver.waker()
    }

    /// What it waits and moves its bytes with: [`Io::Epoll`] or [`Io::Ring`].
    pub fn io(&self) -> Io {
        self.driver.io()
    }

    /// Who was at the other end of a completed request's connection.
    pub fn peer(&self, id: PeerId) -> Peer {
        self.peers.get(id)
    }

    /// Closes the connections of an origin that carry no request; those that do close when they
    /// have carried it, where they speak HTTP/2.
    pub fn close_idle(&mut self, origin: OriginId) {
        let place = origin.0 as usize;
        while let Some(slot) = self.pools.get_mut(place).and_then(Pool::take_idle) {
            if let Some(id) = self.connection_id(slot) {
                self.close(id);
            }
        }
        while let Some(slot) = self.pools.get(place).and_then(Pool::shared) {
            self.pools[place].forget_shared(slot);
            self.drain(slot);
        }
    }

    /// Requests taken up and not completed.
    pub fn in_flight(&self) -> usize {
        self.exchanges.len()
    }

    /// Connections open or being opened now.
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    /// What has been counted so far.
    pub fn counters(&self) -> ClientCounters {
        self.counters
    }

    fn add_deadline(&mut self, deadline: Deadline) {
        let exchanges = &self.exchanges;
        self.deadlines
            .push(deadline, exchanges.places(), |deadline| is_watched(exchanges, deadline));
    }

    /// Sees to it that the request in this slot is looked at when it is to be given up, or before.
    #[inline]
    fn watch(&mut self, slot: u32, at_ns: u64) {
        let exchange = &mut self.exchanges[slot as usize];
        if exchange.watched_ns == 0 || exchange.watched_ns > at_ns {
            exchange.watched_ns = at_ns;
            let serial = exchange.serial;
            self.add_deadline(Deadline { at_ns, serial, slot, what: Due::Answer });
        }
    }

    /// The instant of an answer's deadline has come: true when the request that is now in its slot
    /// is to be given up, else that one's own is waited for.
    fn watch_on(&mut self, deadline: &Deadline) -> bool {
        if !is_watched(&self.exchanges, deadline) {
            return false;
        }
        self.exchanges.unwatch(deadline.slot);
        let Some(exchange) = self.exchanges.get(deadline.slot as usize) else {
            return false;
        };
        let at_ns = exchange.deadline_ns();
        if at_ns > deadline.at_ns {
            self.watch(deadline.slot, at_ns);
        }
        at_ns <= deadline.at_ns
    }

    fn connection_id(&self, slot: u32) -> Option<ConnectionId> {
        let connection = self.connections.get(slot as usize)?;
        Some(ConnectionId { slot, generation: connection.generation })
    }

    /// Whether the connection still exists, as an event's or an earlier look's.
    fn is_current(&self, id: ConnectionId) -> bool {
        self.connection_id(id.slot) == Some(id)
    }

    fn phase(&self, id: ConnectionId) -> Option<Phase> {
        let connection = self.connections.get(id.slot as usize)?;
        (connection.generation == id.generation).then_some(connection.phase)
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Client")
            .field("config", &self.config)
            .field("in_flight", &self.in_flight())
            .field("connections", &self.connections())
            .field("counters", &self.counters)
            .finish_non_exhaustive()
    }
}

/// Whether a queued request still waits.
fn is_waiting(exchanges: &Requests, waiting: &Waiting) -> bool {
    exchanges.get(waiting.slot as usize).is_some_and(|exchange| exchange.serial == waiting.serial)
}

/// Whether a deadline, whose instant has come, concerns a request.
fn is_due(exchanges: &Requests, deadline: &Deadline) -> bool {
    let is_answer = deadline.what == Due::Answer;
    exchanges.get(deadline.slot as usize).is_some_and(|exchange| {
        is_answer || exchange.serial == deadline.serial && exchange.dialling
    })
}

/// Whether a deadline is to be waited for.
fn is_watched(exchanges: &Requests, deadline: &Deadline) -> bool {
    match deadline.what {
        Due::Answer => exchanges.watched_ns(deadline.slot) == deadline.at_ns,
        Due::Connection | Due::NextAddress => is_due(exchanges, deadline),
    }
}

/// As the kernel counts it: at least one; `None` for none at all.
fn whole_seconds(ns: u64) -> Option<Duration> {
    (ns > 0).then(|| Duration::from_secs((ns / sojourn_clock::SECOND_NS).clamp(1, 32_767)))
}

fn unix_socket(config: &ClientConfig) -> io::Result<Option<Remote>> {
    let Some(path) = &config.unix_socket else { return Ok(None) };
    let remote = Remote::unix(path).map_err(|_| {
        let problem = "its path must be of 1 to 107 bytes without NUL";
        io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("unix socket {}: {problem}", path.display()),
        )
    })?;
    Ok(Some(remote))
}

/// Whether the headers for proxies can be sent.
fn check_headers(config: &ClientConfig) -> io::Result<()> {
    let mut out = Vec::new();
    for (name, value) in &config.proxies.connect_headers {
        crate::render::write_header_checked(name, value.as_bytes(), &mut out).map_err(|error| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("proxy header: {error}"))
        })?;
    }
    Ok(())
}
