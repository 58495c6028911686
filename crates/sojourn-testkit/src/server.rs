//! A fake HTTP/1.1 peer: the mock's server on one thread, with a [`Responder`] that decides every
//! answer.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use sojourn_mock::{Figures, Message, Responder, ServerConfig};

/// A peer at work; dropped, it stops and its thread is joined.
#[derive(Debug)]
pub struct Server(sojourn_mock::Server);

impl Server {
    /// Starts on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// No port, descriptor or thread to be had.
    pub fn start(responder: impl Responder + Send) -> io::Result<Self> {
        Self::start_at(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), responder)
    }

    /// Starts at this address; port 0 takes a free one.
    ///
    /// # Errors
    /// The address is taken or not ours; no descriptor or thread to be had.
    pub fn start_at(address: SocketAddr, responder: impl Responder + Send) -> io::Result<Self> {
        let config = ServerConfig { listen: address, ..ServerConfig::default() };
        sojourn_mock::Server::start(&config, vec![move || responder]).map(Self)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// The URL of a path (which starts with `/`) on this peer.
    pub fn url(&self, path: &str) -> String {
        self.0.url(path)
    }

    /// Connections accepted so far.
    pub fn connections(&self) -> u64 {
        self.figures().accepted
    }

    /// Whole, well-formed requests read so far.
    pub fn requests(&self) -> u64 {
        self.figures().requests
    }

    /// Requests that were not HTTP/1.1 or too long: answered 4xx or 5xx and closed, never shown to
    /// the responder.
    pub fn requests_bad(&self) -> u64 {
        self.figures().requests_bad
    }

    /// All that the server counts.
    pub fn figures(&self) -> Figures {
        self.0.figures()
    }
}

/// A whole HTTP/1.1 response with its length.
pub fn response(status: u16, content_type: &str, body: &[u8]) -> Vec<u8> {
    Message::text(status, content_type, body).to_bytes()
}
