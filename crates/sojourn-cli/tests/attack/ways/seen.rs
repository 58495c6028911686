//! A server that echoes requests and remembers between which addresses they came.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener},
    sync::{Arc, Mutex},
};

use sojourn_clock::now_ns;

use crate::attack::echo;

/// A request, as the server saw it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) from: SocketAddr,
    pub(super) to: IpAddr,
    pub(super) at_ns: u64,
}

/// The server; it runs until the test's process ends.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// On all of this machine's IPv4 addresses.
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let log = Arc::clone(&seen);
        let address = echo::serve_on(listener, move |request, stream| {
            let (from, to) = (stream.peer_addr()?, stream.local_addr()?.ip());
            log.lock().unwrap().push(Seen { from, to, at_ns: now_ns() });
            echo::echo(request, stream)
        });
        Self { address, seen }
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Its requests since the last time.
    pub(super) fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }

    /// At which of its addresses it was reached since the last time.
    pub(super) fn reached(&self) -> Vec<String> {
        self.take().iter().map(|seen| seen.to.to_string()).collect()
    }
}
