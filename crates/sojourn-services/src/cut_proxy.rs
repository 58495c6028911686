//! A TCP proxy that breaks on command: cuts, refuses, stalls, slows down.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::set_socket_linger;
use sojourn_clock::{SECOND_NS, now_ns};

use crate::place::free_port;

/// More connections than this at once are closed as they come, and counted.
const CONNECTIONS_MAX: usize = 256;
/// What a connection holds in either direction, in bytes.
const BUFFER_BYTES: usize = 64 << 10;
/// How soon a thread notices a command.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };
const PAUSE: Duration = Duration::from_millis(5);
const PATIENCE: Duration = Duration::from_secs(10);

/// A proxy on a free port of 127.0.0.1; dropped, it cuts all its connections and is gone.
///
/// Commands have taken effect when they return.
#[derive(Debug)]
pub struct CutProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

/// What it has seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Connections accepted so far.
    pub accepted: u64,
    /// Connections that are up.
    pub connections: usize,
    /// Connections closed as they came, since there were too many or no server to connect them to.
    pub turned_away: u64,
    /// Bytes handed on to the server.
    pub to_server_bytes: u64,
    /// Bytes handed on to clients.
    pub to_client_bytes: u64,
}

#[derive(Debug)]
struct Shared {
    server: SocketAddr,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    figures: Figures,
    /// Connections of an older generation are cut.
    generation: u64,
    older: usize,
    refusing: bool,
    /// What the acceptor does about `refusing`; it says so when it has begun.
    refused: bool,
    failure: Option<String>,
    stalled: bool,
    /// Bytes per second in either direction of each connection.
    rate: Option<u64>,
    ending: bool,
}

impl CutProxy {
    /// Stands before a server, which need not be up yet.
    ///
    /// # Errors
    /// No port or thread to be had.
    pub fn start(server: SocketAddr) -> io::Result<Self> {
        Self::start_at(SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()?)), server)
    }

    /// The same on a port that is given.
    ///
    /// # Errors
    /// The port is taken, or no thread to be had.
    pub fn start_at(address: SocketAddr, server: SocketAddr) -> io::Result<Self> {
        let listener = listen(address)?;
        let (state, changed) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { server, state, changed });
        let own = Arc::clone(&shared);
        let name = "cut-proxy".to_owned();
        let acceptor =
            std::thread::Builder::new().name(name).spawn(move || own.accept(address, listener))?;
        Ok(Self { address, shared, acceptor: Some(acceptor) })
    }

    /// Where clients connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The port of [`CutProxy::address`].
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Resets (RST) all connections, on both sides; new ones are accepted as before. Returns how
    /// many there were.
    pub fn cut(&self) -> usize {
        let mut state = self.shared.lock();
        let count = state.figures.connections;
        state.generation += 1;
        state.older = count;
        drop(self.shared.wait(state, |state| state.older > 0));
        count
    }

    /// Refuses new connections (the port is closed) until [`CutProxy::admit`]; those that are up
    /// stay.
    pub fn refuse(&self) {
        let mut state = self.shared.lock();
        state.refusing = true;
        drop(self.shared.wait(state, |state| !state.refused));
    }

    /// Accepts new connections again.
    ///
    /// # Errors
    /// Somebody else has taken the port meanwhile.
    pub fn admit(&self) -> io::Result<()> {
        let mut state = self.shared.lock();
        state.refusing = false;
        state.failure = None;
        let mut state = self.shared.wait(state, |state| state.refused && state.failure.is_none());
        state.failure.take().map_or(Ok(()), |failure| Err(io::Error::other(failure)))
    }

    /// Hands nothing on any more; connections stay up and new ones are accepted, as if the server
    /// had frozen. What a socket's buffers hold is kept.
    pub fn stall(&self) {
        self.shared.lock().stalled = true;
    }

    /// Hands on again what came during a [`CutProxy::stall`], and what comes.
    pub fn resume(&self) {
        self.shared.lock().stalled = false;
    }

    /// Hands on at most so many bytes per second in either direction of each connection; `None`
    /// lifts the limit, 0 stalls.
    pub fn throttle(&self, bytes_per_second: Option<u64>) {
        self.shared.lock().rate = bytes_per_second;
    }

    /// What it has seen so far.
    pub fn figures(&self) -> Figures {
        self.shared.lock().figures
    }
}

impl Drop for CutProxy {
    fn drop(&mut self) {
        self.shared.lock().ending = true;
        self.cut();
        if let Some(acceptor) = self.acceptor.take() {
            drop(acceptor.join());
        }
        drop(self.shared.wait(self.shared.lock(), |state| state.figures.connections > 0));
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(
        &self,
        state: MutexGuard<'a, State>,
        condition: impl Fn(&mut State) -> bool,
    ) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_timeout_while(state, PATIENCE, condition);
        waited.map_or_else(|poisoned| poisoned.into_inner().0, |(state, _)| state)
    }

    /// Accepts until the end, listening or not as it is told.
    fn accept(self: Arc<Self>, address: SocketAddr, listener: TcpListener) {
        let mut listener = Some(listener);
        loop {
            let (ending, refusing) = {
                let state = self.lock();
                (state.ending, state.refusing)
            };
            if ending {
                return;
            }
            if refusing == listener.is_some() {
                self.turn(address, refusing, &mut listener);
            }
            match &listener {
                Some(listener) => self.accept_one(listener),
                None => std::thread::sleep(PAUSE),
            }
        }
    }

    fn turn(&self, address: SocketAddr, refusing: bool, listener: &mut Option<TcpListener>) {
        let outcome = if refusing { Ok(None) } else { listen(address).map(Some) };
        let mut state = self.lock();
        match outcome {
            Ok(next) => *listener = next,
            Err(error) => state.failure = Some(format!("{address}: {error}")),
        }
        state.refused = listener.is_none();
        self.changed.notify_all();
    }

    fn accept_one(self: &Arc<Self>, listener: &TcpListener) {
        let mut descriptors = [PollFd::new(listener, PollFlags::IN)];
        if !matches!(poll(&mut descriptors, Some(&TICK)), Ok(1)) {
            return;
        }
        let Ok((client, _)) = listener.accept() else { return };
        let generation = {
            let mut state = self.lock();
            state.figures.accepted += 1;
            if state.figures.connections >= CONNECTIONS_MAX {
                state.figures.turned_away += 1;
                return;
            }
            state.figures.connections += 1;
            state.generation
        };
        let own = Arc::clone(self);
        let thread = std::thread::Builder::new().name("cut-proxy-link".to_owned());
        if thread.spawn(move || own.link(client, generation)).is_err() {
            self.leave(generation, true);
        }
    }

    fn link(&self, client: TcpStream, generation: u64) {
        match TcpStream::connect_timeout(&self.server, PATIENCE) {
            Ok(server) => {
                let outcome = self.forward(&client, &server, generation);
                // An orderly end has been handed on already; anything else is a reset.
                if outcome.is_err() || self.is_cut(generation) {
                    reset(&client);
                    reset(&server);
                }
                drop((client, server));
                self.leave(generation, false);
            }
            Err(_) => {
                reset(&client);
                drop(client);
                self.leave(generation, true);
            }
        }
    }

    fn is_cut(&self, generation: u64) -> bool {
        let state = self.lock();
        state.generation != generation || state.ending
    }

    fn leave(&self, generation: u64, turned_away: bool) {
        let mut state = self.lock();
        state.figures.connections -= 1;
        state.figures.turned_away += u64::from(turned_away);
        if state.generation != generation {
            state.older = state.older.saturating_sub(1);
        }
        self.changed.notify_all();
    }

    /// Until both sides have ended, one breaks, or the connection is cut.
    fn forward(&self, client: &TcpStream, server: &TcpStream, generation: u64) -> io::Result<()> {
        for side in [client, server] {
            side.set_nonblocking(true)?;
            side.set_nodelay(true)?;
        }
        let (mut up, mut down) = (Flow::default(), Flow::default());
        loop {
            // Nothing here blocks, so the lock is held: a stall is one from the moment it returns.
            let mut state = self.lock();
            if state.generation != generation || state.ending || (up.over && down.over) {
                return Ok(());
            }
            if !state.stalled {
                let rate = state.rate;
                state.figures.to_server_bytes += up.step(client, server, rate)?;
                state.figures.to_client_bytes += down.step(server, client, rate)?;
            }
            let stalled = state.stalled;
            drop(state);
            let events = |reading: &Flow, writing: &Flow| match stalled {
                true => PollFlags::empty(),
                false => reading.input_events() | writing.output_events(),
            };
            let mut descriptors =
                [PollFd::new(client, events(&up, &down)), PollFd::new(server, events(&down, &up))];
            poll(&mut descriptors, Some(&TICK))?;
            let broken = |side: &PollFd<'_>| side.revents().contains(PollFlags::ERR);
            if !stalled && descriptors.iter().any(broken) {
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            if stalled {
                // A side that has hung up would end the poll at once, again and again.
                std::thread::sleep(PAUSE);
            }
        }
    }
}

/// One direction of a connection.
#[derive(Debug)]
struct Flow {
    held: Vec<u8>,
    /// Nothing more comes in.
    ended: bool,
    /// The other side has been told so.
    over: bool,
    /// What may still be handed on, in bytes; none without a limit.
    budget: Option<u64>,
    refilled_ns: u64,
}

impl Default for Flow {
    fn default() -> Self {
        let held = Vec::with_capacity(BUFFER_BYTES);
        Self { held, ended: false, over: false, budget: None, refilled_ns: now_ns() }
    }
}

impl Flow {
    /// Hands on what can be without waiting; returns how many bytes.
    fn step(
        &mut self,
        mut from: &TcpStream,
        mut to: &TcpStream,
        rate: Option<u64>,
    ) -> io::Result<u64> {
        self.refill(rate);
        if self.held.is_empty() && !self.ended {
            let mut buffer = [0; BUFFER_BYTES];
            match from.read(&mut buffer) {
                Ok(0) => self.ended = true,
                Ok(count) => self.held.extend_from_slice(buffer.get(..count).unwrap_or_default()),
                Err(error) if is_too_soon(&error) => {}
                Err(error) => return Err(error),
            }
        }
        let allowed = self.budget.and_then(|budget| budget.try_into().ok()).unwrap_or(usize::MAX);
        let part = self.held.get(..allowed.min(self.held.len())).unwrap_or_default();
        let mut count = 0;
        if !part.is_empty() {
            match to.write(part) {
                Ok(written) => count = written,
                Err(error) if is_too_soon(&error) => {}
                Err(error) => return Err(error),
            }
        }
        self.held.drain(..count);
        // A `usize` always fits.
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        self.budget = self.budget.map(|budget| budget.saturating_sub(count));
        if self.ended && self.held.is_empty() && !self.over {
            // The other side may be gone already.
            drop(to.shutdown(Shutdown::Write));
            self.over = true;
        }
        Ok(count)
    }

    /// Adds what time has brought, at most a tenth of a second's worth.
    fn refill(&mut self, rate: Option<u64>) {
        let now = now_ns();
        let Some(rate) = rate else {
            (self.budget, self.refilled_ns) = (None, now);
            return;
        };
        let elapsed_ns = u128::from(now.saturating_sub(self.refilled_ns));
        let earned = u128::from(rate) * elapsed_ns / u128::from(SECOND_NS);
        // Too little time for a byte stays to be counted.
        if earned > 0 || self.budget.is_none() {
            self.refilled_ns = now;
        }
        let most = (rate / 10).max(u64::from(rate > 0));
        let earned = u64::try_from(earned).unwrap_or(u64::MAX);
        self.budget = Some(self.budget.unwrap_or(0).saturating_add(earned).min(most));
    }

    fn input_events(&self) -> PollFlags {
        let wanted = self.held.is_empty() && !self.ended;
        if wanted { PollFlags::IN } else { PollFlags::empty() }
    }

    fn output_events(&self) -> PollFlags {
        let wanted = !self.held.is_empty() && self.budget != Some(0);
        if wanted { PollFlags::OUT } else { PollFlags::empty() }
    }
}

fn is_too_soon(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Closed, it will send RST instead of FIN.
fn reset(stream: &TcpStream) {
    // It fails only for a descriptor that is no socket.
    set_socket_linger(stream.as_fd(), Some(Duration::ZERO)).unwrap_or_default();
}
