//! A server that answers at once, except while it is frozen: the stalls that a load tool must not
//! hide.

use std::io;
use std::net::SocketAddr;

use sojourn_clock::now_ns;
use sojourn_mock::{Reply, Request, Responder};

use crate::server::{Server, response};

/// A freeze, in nanoseconds after the server's start: from `from_ns` until just before `to_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first frozen nanosecond.
    pub from_ns: u64,
    /// The first nanosecond awake again.
    pub to_ns: u64,
}

/// Answers 200 with `{"request":n}` where n counts from 1; while frozen it accepts, reads and sends
/// nothing.
#[derive(Debug)]
pub struct FreezingServer {
    server: Server,
    start_ns: u64,
}

impl FreezingServer {
    /// Starts on a free port of 127.0.0.1; the windows count from now.
    ///
    /// # Errors
    /// No port, descriptor or thread to be had.
    pub fn start(windows: &[Window]) -> io::Result<Self> {
        let start_ns = now_ns();
        let server = Server::start(Freezing { start_ns, windows: windows.to_vec(), requests: 0 })?;
        Ok(Self { server, start_ns })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// The URL of a path (which starts with `/`).
    pub fn url(&self, path: &str) -> String {
        self.server.url(path)
    }

    /// The counters of the connections and requests beneath.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// The instant that the windows count from, `sojourn_clock` nanoseconds.
    pub fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// Requests read so far, each exactly once.
    pub fn requests(&self) -> u64 {
        self.server.requests()
    }
}

struct Freezing {
    start_ns: u64,
    windows: Vec<Window>,
    requests: u64,
}

impl Responder for Freezing {
    fn respond(&mut self, _request: &Request<'_>) -> Reply {
        self.requests += 1;
        let body = format!("{{\"request\":{}}}\n", self.requests);
        Reply::now(response(200, "application/json", body.as_bytes()))
    }

    fn frozen_until(&self, now_ns: u64) -> Option<u64> {
        let elapsed_ns = now_ns.saturating_sub(self.start_ns);
        self.windows
            .iter()
            .find(|window| window.from_ns <= elapsed_ns && elapsed_ns < window.to_ns)
            .map(|window| self.start_ns + window.to_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_includes_its_start_and_not_its_end() {
        let windows = vec![Window { from_ns: 10, to_ns: 20 }, Window { from_ns: 20, to_ns: 25 }];
        let freezing = Freezing { start_ns: 1000, windows, requests: 0 };
        let thaws = [1009, 1010, 1019, 1020, 1024, 1025].map(|at| freezing.frozen_until(at));
        let expected = [None, Some(1020), Some(1020), Some(1025), Some(1025), None];
        assert_eq!(thaws, expected);
    }
}
