//! Clients that do not begin with HTTP/1: TLS, and HTTP/2 with prior knowledge (h2c).
//!
//! Off the hot path: one thread with hyper takes over what the server's threads hand it, and
//! decides at a desk of its own, by the same book. Holds are kept to the millisecond here; faults
//! beneath HTTP become an end of the connection (HTTP/1.1) or a reset of the stream (HTTP/2).

mod client_certificates;
mod identity;
mod outflow;
mod rewind;
mod serve;

use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::task::LocalSet;
use tokio_rustls::TlsAcceptor;

pub use identity::{IdentityError, TlsIdentity};

use crate::desk::{Desk, Office};
use crate::server::{Counters, Takeover, TlsFacts};
use rewind::Rewind;
use serve::Host;

/// Connections that wait to be taken over; beyond, they are refused.
const WAITING_MAX: usize = 4096;
/// A TLS handshake takes no longer, or the connection is closed.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(30);
/// The first byte of every TLS record that opens a connection.
const TLS_HANDSHAKE: u8 = 0x16;

/// The thread that serves them.
pub(crate) struct Others {
    door: Arc<Door>,
    stage: watch::Sender<Stage>,
    thread: Option<JoinHandle<()>>,
}

/// How far the thread shall go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Serving,
    /// Nothing new; what is held is answered.
    Draining,
    Stopped,
}

/// Where the server's threads hand connections in.
pub(crate) struct Door {
    handed: mpsc::Sender<(OwnedFd, Vec<u8>)>,
    has_tls: bool,
}

impl Takeover for Door {
    fn speaks(&self, first: &[u8]) -> bool {
        self.has_tls || first.first() != Some(&TLS_HANDSHAKE)
    }

    fn take(&self, socket: OwnedFd, first: Vec<u8>) -> bool {
        self.handed.try_send((socket, first)).is_ok()
    }
}

impl Others {
    /// Starts the thread.
    ///
    /// # Errors
    /// The identity cannot be used; no descriptor or thread to be had.
    pub(crate) fn start(
        office: Arc<Office>,
        counters: Arc<Counters>,
        identity: Option<&TlsIdentity>,
        connections_max: usize,
    ) -> io::Result<Self> {
        let acceptor = match identity {
            Some(identity) => {
                let config = identity.server_config().map_err(io::Error::other)?;
                Some(TlsAcceptor::from(config))
            }
            None => None,
        };
        let (handed, received) = mpsc::channel(WAITING_MAX);
        let (stage, stages) = watch::channel(Stage::Serving);
        let door = Arc::new(Door { handed, has_tls: acceptor.is_some() });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread =
            std::thread::Builder::new().name("mock-others".to_owned()).spawn(move || {
                let desk = Rc::new(RefCell::new(Desk::new(office, None, None)));
                let host = Rc::new(Host {
                    desk,
                    counters,
                    connections: Cell::new(0),
                    connections_max,
                    stages: stages.clone(),
                });
                let local = LocalSet::new();
                local.block_on(&runtime, welcome(received, stages, acceptor, host));
            })?;
        Ok(Self { door, stage, thread: Some(thread) })
    }

    pub(crate) fn door(&self) -> Arc<Door> {
        self.door.clone()
    }

    /// Answers what is held, and takes nothing new.
    pub(crate) fn drain(&self) {
        self.tell(Stage::Draining);
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    fn tell(&self, stage: Stage) {
        // Fails only when the thread has ended.
        let _sent = self.stage.send(stage);
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        self.tell(Stage::Stopped);
        if let Some(thread) = self.thread.take() {
            let _joined = thread.join();
        }
    }
}

/// Takes connections in until told to stop, or to drain and all have ended.
async fn welcome(
    mut received: mpsc::Receiver<(OwnedFd, Vec<u8>)>,
    mut stages: watch::Receiver<Stage>,
    acceptor: Option<TlsAcceptor>,
    host: Rc<Host>,
) {
    let mut guests = tokio::task::JoinSet::new();
    loop {
        let stage = *stages.borrow_and_update();
        if stage == Stage::Stopped || (stage == Stage::Draining && guests.is_empty()) {
            return;
        }
        tokio::select! {
            Some((socket, first)) = received.recv(), if stage == Stage::Serving => {
                if guests.len() >= host.connections_max {
                    host.counters.connections_refused.add(1);
                    continue;
                }
                let guest = attend(socket, first, acceptor.clone(), host.clone(), stages.clone());
                guests.spawn_local(guest);
            }
            Some(_ended) = guests.join_next() => {}
            changed = stages.changed() => if changed.is_err() { return },
        }
        host.counters.open.set(guests.len() as u64);
    }
}

/// Serves one connection to its end.
async fn attend(
    socket: OwnedFd,
    first: Vec<u8>,
    acceptor: Option<TlsAcceptor>,
    host: Rc<Host>,
    stages: watch::Receiver<Stage>,
) {
    let is_tls = first.first() == Some(&TLS_HANDSHAKE);
    let socket = std::net::TcpStream::from(socket);
    // It is non-blocking already.
    let Ok(stream) = TcpStream::from_std(socket) else {
        return;
    };
    let stream = Rewind::new(first, stream);
    match acceptor {
        Some(acceptor) if is_tls => {
            let accepted = tokio::time::timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream)).await;
            let Ok(Ok(stream)) = accepted else {
                host.counters.requests_bad.add(1);
                return;
            };
            let (_, session) = stream.get_ref();
            let is_http2 = session.alpn_protocol() == Some(b"h2");
            let facts = Rc::new(TlsFacts {
                version: session.protocol_version().map(spelled).unwrap_or_default(),
                server_name: session.server_name().map(str::to_owned),
                client_certificate: session
                    .peer_certificates()
                    .and_then(|chain| chain.first())
                    .map(|certificate| certificate.to_vec()),
            });
            host.serve(stream, is_http2, Some(facts), stages).await;
        }
        _ => host.serve(stream, true, None, stages).await,
    }
}

/// `TLSv1.3`, as everybody writes it.
fn spelled(version: rustls::ProtocolVersion) -> String {
    format!("{version:?}").replace('_', ".")
}
