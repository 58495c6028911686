//! A server that can be connected to, and why it could not be.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig, ClientConnection, Error as TlsError};
use socket2::{SockRef, TcpKeepalive};
use sojourn_broker::BrokerError;
use sojourn_clock::now_ns;
use sojourn_plan::Server;

use crate::Socket;
use crate::trust::settings;

/// A machine that has gone without a word is noticed by TCP itself after about this many seconds.
const KEEPALIVE: Duration = Duration::from_secs(1);

/// A server with its trust, files read.
#[derive(Clone, Debug)]
pub struct Endpoint {
    broker: &'static str,
    host: String,
    port: u16,
    address: String,
    tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
}

impl Endpoint {
    /// Reads what `server` names. `broker` is the word for it in messages; `protocols` are offered
    /// by ALPN.
    ///
    /// # Errors
    /// A certificate or key can't be read, or a name can't be one.
    pub fn new(
        broker: &'static str,
        server: &Server,
        protocols: &[&[u8]],
    ) -> Result<Self, BrokerError> {
        let mut endpoint = Self {
            broker,
            host: server.host.clone(),
            port: server.port,
            address: server.address(),
            tls: None,
        };
        if server.tls {
            let trust = &server.trust;
            let config =
                settings(trust, protocols).map_err(|error| endpoint.error(&error.to_string()))?;
            let name = trust.name.as_ref().unwrap_or(&server.host);
            let name = ServerName::try_from(name.clone()).map_err(|_| {
                endpoint.error(&format!("`{name}` is no name that a certificate could carry"))
            })?;
            endpoint.tls = Some((config, name));
        }
        Ok(endpoint)
    }

    /// `host:port`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// An error that names broker and address.
    pub fn error(&self, problem: &str) -> BrokerError {
        BrokerError::new(format!("{} at {}: {problem}", self.broker, self.address))
    }

    /// Connects, and makes the TLS handshake where there is one, waiting until `deadline_ns`
    /// (CLOCK_MONOTONIC) at most; looking the name up takes as long as the system takes.
    ///
    /// # Errors
    /// It can't be reached, or its certificate is not trusted; the hint says what to do.
    pub fn connect(&self, deadline_ns: u64) -> Result<Socket, BrokerError> {
        let unreachable = |error: &io::Error| {
            self.error(&format!("cannot connect: {}", plainly(error)))
                .with_hint("is it running there, and is the port the right one?")
        };
        let stream = self.dial(deadline_ns).map_err(|error| unreachable(&error))?;
        let keepalive =
            TcpKeepalive::new().with_time(KEEPALIVE).with_interval(KEEPALIVE).with_retries(1);
        let socket = stream
            .set_nodelay(true)
            .and_then(|()| SockRef::from(&stream).set_tcp_keepalive(&keepalive))
            .and_then(|()| stream.set_nonblocking(true));
        socket.map_err(|error| unreachable(&error))?;
        let Some((config, name)) = &self.tls else {
            return Ok(Socket::plain(stream));
        };
        let session = ClientConnection::new(Arc::clone(config), name.clone())
            .map_err(|error| self.error(&error.to_string()))?;
        let mut socket = Socket::secured(stream, session);
        socket.finish_handshake(deadline_ns).map_err(|error| self.distrusted(&error, name))?;
        Ok(socket)
    }

    fn dial(&self, deadline_ns: u64) -> io::Result<TcpStream> {
        let addresses: Vec<SocketAddr> =
            (self.host.as_str(), self.port).to_socket_addrs()?.collect();
        let mut last = io::Error::other("the name has no address");
        for address in addresses {
            let left = Duration::from_nanos(deadline_ns.saturating_sub(now_ns()).max(1_000_000));
            match TcpStream::connect_timeout(&address, left) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn distrusted(&self, error: &io::Error, name: &ServerName<'_>) -> BrokerError {
        let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<TlsError>());
        let shown = name.to_str();
        match tls {
            Some(TlsError::InvalidCertificate(problem)) => match problem {
                CertificateError::NotValidForName
                | CertificateError::NotValidForNameContext { .. } => self
                    .error(&format!("its certificate does not carry the name `{shown}`"))
                    .with_hint("give the name that it carries as `name` in `tls`"),
                // Of another authority of the same name, such as one that was made anew, it is the
                // signature that is wrong.
                CertificateError::UnknownIssuer | CertificateError::BadSignature => self
                    .error("its certificate is signed by nobody who is trusted here")
                    .with_hint("give the certificate of its authority as `ca` in `tls`"),
                problem => self.error(&format!("its certificate is refused: {problem}")),
            },
            Some(tls) => self.error(&format!("TLS failed: {tls}")).with_hint(
                "does it speak TLS on this port, and does it ask for a client's certificate?",
            ),
            None => self
                .error(&format!("TLS failed: {}", plainly(error)))
                .with_hint("does it speak TLS on this port?"),
        }
    }
}

/// An error in stable words, without numbers of the system where it has a plain name.
fn plainly(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => "no answer in time".to_owned(),
        io::ErrorKind::UnexpectedEof => "the connection was closed".to_owned(),
        io::ErrorKind::ConnectionReset => "the connection was reset".to_owned(),
        _ => error.to_string(),
    }
}
