//! An origin's connections and the requests that wait for one.

use std::collections::VecDeque;
use std::net::IpAddr;

use rustls::pki_types::ServerName;

use crate::Origin;

/// Most requests waiting for a connection of one origin; more are refused and counted.
const WAITING_MAX: usize = 100_000;

/// One origin's connections.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) origin: Origin,
    /// Host and port, for messages.
    pub(crate) label: String,
    /// Empty until the name is resolved.
    pub(crate) addresses: Vec<IpAddr>,
    /// The address that worked last: the first one tried.
    pub(crate) preferred: usize,
    /// Connections open or being opened.
    pub(crate) open: usize,
    /// Of which being opened.
    pub(crate) dialling: usize,
    /// Connections are expected to speak HTTP/2: by the configuration, then as the last one did.
    pub(crate) expects_http2: bool,
    /// How many requests such a connection carries at a time, as the last one did.
    pub(crate) streams_max: usize,
    /// It stands in the client's list of pools to serve.
    pub(crate) to_serve: bool,
    /// Free connections; the last used is used next, so that surplus ones age at the other end.
    idle: Vec<u32>,
    /// Connections that speak HTTP/2 and have room; the last is used until it is full.
    shared: Vec<u32>,
    /// Requests in order; those given up in the meantime are recognised by slot and serial.
    waiting: VecDeque<Waiting>,
}

/// A waiting request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) slot: u32,
    pub(crate) serial: u64,
}

impl Pool {
    pub(crate) fn new(origin: &Origin) -> Self {
        let host = &origin.host;
        let label = if host.contains(':') {
            format!("[{host}]:{}", origin.port)
        } else {
            format!("{host}:{}", origin.port)
        };
        Self {
            origin: origin.clone(),
            label,
            addresses: host.parse().into_iter().collect(),
            preferred: 0,
            open: 0,
            dialling: 0,
            expects_http2: false,
            streams_max: 1,
            to_serve: false,
            idle: Vec::new(),
            shared: Vec::new(),
            waiting: VecDeque::new(),
        }
    }

    /// The name that its certificate must bear.
    pub(crate) fn server_name(&self) -> Result<ServerName<'static>, String> {
        ServerName::try_from(self.origin.host.clone())
            .map_err(|_| "the host is not a name that a certificate can bear".to_owned())
    }

    pub(crate) fn take_idle(&mut self) -> Option<u32> {
        self.idle.pop()
    }

    pub(crate) fn put_idle(&mut self, connection: u32) {
        self.idle.push(connection);
    }

    /// Drops a connection from the idle ones. Servers close those idle for longest, which stand
    /// first, so the search is short.
    pub(crate) fn forget_idle(&mut self, connection: u32) {
        if let Some(place) = self.idle.iter().position(|idle| *idle == connection) {
            self.idle.remove(place);
        }
    }

    /// A connection that has room for another request; it stays on the list.
    pub(crate) fn shared(&self) -> Option<u32> {
        self.shared.last().copied()
    }

    pub(crate) fn put_shared(&mut self, connection: u32) {
        self.shared.push(connection);
    }

    /// Takes a connection off the list: mostly the last one, which has become full.
    pub(crate) fn forget_shared(&mut self, connection: u32) {
        if let Some(place) = self.shared.iter().rposition(|shared| *shared == connection) {
            self.shared.remove(place);
        }
    }

    /// Whether a waiting request could be served.
    pub(crate) fn has_room(&self, connections_max: usize) -> bool {
        !self.idle.is_empty()
            || !self.shared.is_empty()
            || self.may_dial(connections_max, self.waiting.len())
    }

    /// Whether to open another connection when so many requests wait: not if those being opened
    /// will have room for them all.
    pub(crate) fn may_dial(&self, connections_max: usize, waiting: usize) -> bool {
        let promised = if self.expects_http2 { self.dialling * (self.streams_max - 1) } else { 0 };
        self.open < connections_max && waiting > promised
    }

    /// Requests in the queue, those given up in the meantime included.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Queues a request; false when the queue is full of live ones.
    pub(crate) fn wait(&mut self, request: Waiting, is_live: impl Fn(&Waiting) -> bool) -> bool {
        if self.waiting.len() >= WAITING_MAX {
            self.waiting.retain(|waiting| is_live(waiting));
        }
        let fits = self.waiting.len() < WAITING_MAX;
        if fits {
            self.waiting.push_back(request);
        }
        fits
    }

    pub(crate) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The request that has waited longest.
    pub(crate) fn next_waiting(&mut self, is_live: impl Fn(&Waiting) -> bool) -> Option<u32> {
        loop {
            let first = self.waiting.pop_front()?;
            if is_live(&first) {
                return Some(first.slot);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool() -> Pool {
        Pool::new(&Origin { tls: false, host: "::1".to_owned(), port: 80 })
    }

    #[test]
    fn the_last_used_connection_is_used_next() {
        let mut pool = pool();
        assert_eq!(pool.label, "[::1]:80");
        for connection in [1, 2, 3] {
            pool.put_idle(connection);
        }
        pool.forget_idle(2);
        assert_eq!(pool.take_idle(), Some(3));
        assert_eq!(pool.take_idle(), Some(1));
        assert_eq!(pool.take_idle(), None);
    }

    #[test]
    fn the_queue_is_bounded_and_in_order() {
        let mut pool = pool();
        let waiting = |slot| Waiting { slot, serial: 7 };
        for slot in 0..WAITING_MAX as u32 {
            assert!(pool.wait(waiting(slot), |_| true));
        }
        assert!(!pool.wait(waiting(9), |_| true));
        // Room comes back when some have been given up.
        assert!(pool.wait(waiting(1_000_000), |waiting| waiting.slot >= 10));
        assert_eq!(pool.next_waiting(|waiting| waiting.slot != 10), Some(11));
    }
}
