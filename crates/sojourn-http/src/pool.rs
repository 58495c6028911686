//! An origin's connections and the requests that wait for one.

use std::collections::VecDeque;
use std::net::IpAddr;

use rustls::pki_types::ServerName;

use crate::route::Route;
use crate::tls::TlsSession;
use crate::{ClientConfig, HostPort, Http2, Origin};

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
    /// Where its connections come from, if that is its own.
    pub(crate) local: Option<IpAddr>,
    /// Connections open or being opened.
    pub(crate) open: usize,
    /// Of which being opened.
    pub(crate) dialling: usize,
    /// When to speak HTTP/2.
    http2: Http2,
    /// Connections are expected to speak HTTP/2: by the configuration, then as the last one did.
    pub(crate) expects_http2: bool,
    /// How many requests such a connection carries at a time, as the last one did.
    streams_max: usize,
    /// The same, by the configuration.
    streams_allowed: usize,
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
    pub(crate) fn new(
        origin: &Origin,
        route: Route,
        config: &ClientConfig,
        local: Option<IpAddr>,
    ) -> Self {
        let address = HostPort { host: origin.host.clone(), port: origin.port };
        let is_forwarded =
            route.amendment.as_ref().is_some_and(|amendment| amendment.absolute.is_some());
        let http2 = if is_forwarded { Http2::Off } else { config.http2 };
        let streams_max = if config.keep_alive { config.http2_streams_max.max(1) } else { 1 };
        Self {
            origin: origin.clone(),
            label: format!("{address}{}", route.via),
            route,
            local,
            open: 0,
            dialling: 0,
            http2,
            expects_http2: match http2 {
                Http2::Alpn => origin.tls,
                Http2::Off => false,
                Http2::PriorKnowledge => true,
            },
            streams_max: streams_max as usize,
            streams_allowed: streams_max as usize,
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

    /// The one that [`Self::take_idle`] would take.
    pub(crate) fn last_idle(&self) -> Option<u32> {
        self.idle.last().copied()
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

    /// Whether a connection that has just come up speaks HTTP/2; so will the next one.
    pub(crate) fn speaks_http2(&mut self, tls: Option<&TlsSession>) -> Result<bool, String> {
        let speaks = match tls {
            Some(tls) => tls.speaks_http2(),
            None => self.http2 == Http2::PriorKnowledge,
        };
        if self.http2 == Http2::PriorKnowledge && !speaks {
            return Err("the server does not agree to speak HTTP/2 (no h2 by ALPN)".to_owned());
        }
        self.expects_http2 = speaks;
        Ok(speaks)
    }

    /// A server has said how many requests it takes at a time.
    pub(crate) fn learn_streams_max(&mut self, streams_max: usize) {
        self.streams_max = streams_max.clamp(1, self.streams_allowed);
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

    /// Puts a request first that has been in the queue or on a connection: there are no more of
    /// those than there were places.
    pub(crate) fn wait_first(&mut self, request: Waiting) {
        self.waiting.push_front(request);
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
    use crate::DnsOptions;
    use crate::driver::Waker;
    use crate::resolver::Names;

    fn pool() -> Pool {
        let origin = Origin { tls: false, host: "::1".to_owned(), port: 80 };
        let mut names = Names::new(&DnsOptions::default(), Waker::new().expect("a descriptor"));
        let config = ClientConfig::default();
        let route = Route::new(&config, None, &origin, None, &mut names);
        Pool::new(&origin, route, &config, None)
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
