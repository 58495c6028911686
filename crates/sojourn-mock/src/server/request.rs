//! A request as a responder sees it.

pub use httparse::Header;

/// A request that has wholly arrived.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// `GET`, `POST` …
    pub method: &'a str,
    /// The target as sent: path and query.
    pub path: &'a str,
    /// Headers in order, as sent.
    pub headers: &'a [Header<'a>],
    /// The decoded body, as far as [`body_max`](crate::Responder::body_max) asked for it.
    pub body: &'a [u8],
    /// When its last byte was read, `sojourn_clock` nanoseconds; on one thread it never decreases
    /// from one request to the next. A pipelined request arrives when its predecessor is answered.
    pub arrival_ns: u64,
    /// The connection, by a number of its own.
    pub connection: u64,
    /// HTTP version in tenths: 10, 11 or 20.
    pub version: u8,
    /// What is known of the TLS beneath.
    pub tls: Option<&'a TlsFacts>,
}

/// A TLS session, as far as an answer may tell of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFacts {
    /// `TLSv1.3`.
    pub version: String,
    /// The name the client asked for.
    pub server_name: Option<String>,
    /// The client's certificate (DER), where it showed one. It is not verified.
    pub client_certificate: Option<Vec<u8>>,
}

impl<'a> Request<'a> {
    /// The path without its query.
    pub fn route(&self) -> &'a str {
        self.path.split_once('?').map_or(self.path, |(path, _)| path)
    }

    /// The query, without its question mark; empty for none.
    pub fn query(&self) -> &'a str {
        self.path.split_once('?').map_or("", |(_, query)| query)
    }

    /// The first header of this name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&'a [u8]> {
        let header = self.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        header.map(|header| header.value)
    }
}
