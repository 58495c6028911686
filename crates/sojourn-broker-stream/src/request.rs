//! What both requests have in common: where they go, and headers without line ends in them.

use std::io;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sojourn_broker::BrokerError;
use sojourn_plan::{Secret, Server};
use sojourn_socket::Endpoint;

use crate::tap::Lost;

/// A GET to be made again and again.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) endpoint: Endpoint,
    /// `host:port`, or the host alone with the scheme's own port.
    pub(crate) host: String,
    /// With its first slash, and the query.
    pub(crate) path: String,
    /// The plan's own, and `Authorization` if the URL has a user.
    pub(crate) headers: Vec<(String, Secret)>,
    /// For messages: without user, password and query.
    pub(crate) shown: String,
}

impl Request {
    /// `word` is the connector's, `schemes` its plain and its secure one. Errs when a header can't
    /// be one.
    pub(crate) fn new(
        word: &'static str,
        schemes: [&str; 2],
        server: &Server,
        headers: &[(String, Secret)],
    ) -> Result<Self, BrokerError> {
        let endpoint = Endpoint::new(word, server, &[b"http/1.1"])?;
        let mut headers = headers.to_vec();
        for (name, value) in &headers {
            let is_name = !name.is_empty() && name.bytes().all(is_token);
            if !is_name || value.reveal().bytes().any(|byte| byte < b' ' && byte != b'\t') {
                return Err(endpoint.error(&format!("`{name}` can't be a header")));
            }
        }
        let is_given =
            |wanted: &str| headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
        if let Some(user) = &server.user
            && !is_given("authorization")
        {
            let password = server.password.as_ref().map_or("", Secret::reveal);
            let encoded = BASE64_STANDARD.encode(format!("{user}:{password}"));
            headers.push(("Authorization".to_owned(), Secret::new(format!("Basic {encoded}"))));
        }
        let usual_port = if server.tls { 443 } else { 80 };
        let host = match server.address().strip_suffix(&format!(":{usual_port}")) {
            Some(host) if server.port == usual_port => host.to_owned(),
            _ => server.address(),
        };
        let path = format!("/{}", server.path);
        let shown_path = path.split('?').next().unwrap_or_default();
        let shown = format!("{}://{host}{shown_path}", schemes[usize::from(server.tls)]);
        Ok(Self { endpoint, host, path, headers, shown })
    }

    /// An answer that is not what was asked for.
    pub(crate) fn refused(&self, status: u16, location: Option<&str>) -> BrokerError {
        let error = self.endpoint.error(&format!("{} answers {status}", self.shown));
        match (status, location) {
            (300..=399, Some(location)) => {
                // Where it points may hold secrets in its query.
                let shown = location.split('?').next().unwrap_or_default();
                error.with_hint(format!("it redirects: write the URL it points to, {shown}"))
            }
            (401 | 403, _) => error.with_hint("give what it asks for in `headers`"),
            (404, _) => error.with_hint("is the path of the URL the right one?"),
            (500.., _) => error.with_hint("the server's own log, or that of a proxy, says why"),
            _ => error.with_hint("is the URL that of the stream, with its path?"),
        }
    }

    /// The connection broke before there was an answer.
    pub(crate) fn broken(&self, error: &io::Error, when: &str) -> BrokerError {
        let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        // Since TLS 1.3 a server judges its client when the handshake is over for the client.
        if let Some(rustls::Error::AlertReceived(alert)) = tls {
            return self
                .endpoint
                .error(&format!("TLS failed: the server says {alert:?}"))
                .with_hint(
                    "does it ask for a client's certificate? Give one that it takes as `cert` and \
                 `key` in `tls`",
                );
        }
        let Lost(why) = Lost::from(io::Error::from(error.kind()));
        self.unanswered(&format!("{why}{when}"))
    }

    /// There was no answer that could be read.
    pub(crate) fn unanswered(&self, why: &str) -> BrokerError {
        let scheme = self.shown.split("://").next().unwrap_or_default();
        self.endpoint.error(&format!("{}: {why}", self.shown)).with_hint(format!(
            "is what listens there the stream's own server, and does it speak `{scheme}://`?"
        ))
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
