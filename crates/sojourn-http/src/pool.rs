//! An origin's connections and the requests that wait for one.

use std::collections::VecDeque;

use rustls::pki_types::ServerName;

use crate::route::Route;
use crate::{HostPort, Origin};

/// Most requests waiting for a connection of one origin; more are refused and counted.
const WAITING_MAX: usize = 100_000;

/// One origin's connections.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) origin: Origin,
    /// Host, port and the way there, for messages.
    pub(crate) label: String,
    /// Where its connections go.
    pub(crate) route: Route,
    /// Connections open or being opened.
    pub(crate) open: usize,
    /// It stands in the client's list of pools to serve.
    pub(crate) to_serve: bool,
    /// Free connections; the last used is used next, so that surplus ones age at the other end.
    idle: Vec<u32>,
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
    pub(crate) fn new(origin: &Origin, route: Route) -> Self {
        let address = HostPort { host: origin.host.clone(), port: origin.port };
        Self {
            origin: origin.clone(),
            label: format!("{address}{}", route.via),
            route,
            open: 0,
            to_serve: false,
            idle: Vec::new(),
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

    pub(crate) fn idle(&self) -> usize {
        self.idle.len()
    }

    /// Drops a connection from the idle ones. Servers close those idle for longest, which stand
    /// first, so the search is short.
    pub(crate) fn forget_idle(&mut self, connection: u32) {
        if let Some(place) = self.idle.iter().position(|idle| *idle == connection) {
            self.idle.remove(place);
        }
    }

    /// Whether a waiting request could be served.
    pub(crate) fn has_room(&self, connections_max: usize) -> bool {
        !self.idle.is_empty() || self.open < connections_max
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
    use crate::driver::Waker;
    use crate::resolver::Names;
    use crate::{ClientConfig, DnsOptions};

    fn pool() -> Pool {
        let origin = Origin { tls: false, host: "::1".to_owned(), port: 80 };
        let mut names = Names::new(&DnsOptions::default(), Waker::new().expect("a descriptor"));
        let route = Route::new(&ClientConfig::default(), None, &origin, &mut names);
        Pool::new(&origin, route)
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
