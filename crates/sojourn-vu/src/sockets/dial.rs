//! Connecting: a name looked up, TCP, TLS; bytes counted.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use sojourn_http::{HostPort, Origin, Proxies, Proxy};
use sojourn_k6::options::{Network, Options};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::modules::http::places;

/// Bytes of a user's sockets, as TCP carries them.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    sent: AtomicU64,
    received: AtomicU64,
}

impl Traffic {
    /// Sent and received since this was last asked.
    pub(super) fn take(&self) -> (u64, u64) {
        (self.sent.swap(0, Ordering::AcqRel), self.received.swap(0, Ordering::AcqRel))
    }
}

/// A host under the test's options.
#[derive(Clone, Debug)]
struct Place {
    /// Name or address, without brackets.
    host: String,
    port: u16,
    /// Another address that the options name for this host.
    override_to: Option<SocketAddr>,
    /// Why the options let nothing go to this name, if they do not.
    blocked: Option<String>,
    /// Networks that the options let nothing go to.
    blacklist: Vec<Network>,
}

/// Where to connect, and how.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    place: Place,
    pub(crate) tls: Option<Arc<ClientConfig>>,
    /// The name that the certificate must have, where it is not the host.
    pub(crate) tls_name: Option<String>,
    /// The proxy that a tunnel is made through.
    proxied: Option<Arc<Proxied>>,
}

/// See [`Endpoint::through`].
#[derive(Clone, Debug)]
struct Proxied {
    proxies: Proxies,
    proxy: Proxy,
    /// Where the proxy is.
    at: Place,
}

impl Place {
    fn new(options: &Options, host: &str, port: u16) -> Self {
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let override_to = places::address(options, &host, port);
        let is_name = host.parse::<IpAddr>().is_err();
        let blocked = is_name.then(|| places::blocked_name(options, &host)).flatten();
        let blacklist = options.blacklist_ips.as_ref().map_or_else(Vec::new, |ips| ips.0.clone());
        Self { host, port, override_to, blocked, blacklist }
    }
}

impl Endpoint {
    /// A host under the test's options.
    pub(crate) fn new(options: &Options, host: &str, port: u16) -> Self {
        let place = Place::new(options, host, port);
        Self { place, tls: None, tls_name: None, proxied: None }
    }

    /// Host and port, as messages name them.
    pub(crate) fn address(&self) -> String {
        format!("{}:{}", self.place.host, self.place.port)
    }

    /// By a tunnel through the proxy that is meant for a host of this name, if one is.
    pub(crate) fn through(mut self, options: &Options, proxies: &Proxies, is_tls: bool) -> Self {
        let Place { host, port, .. } = &self.place;
        let origin = Origin { tls: is_tls, host: host.clone(), port: *port };
        self.proxied = proxies.of(&origin).map(|proxy| {
            let HostPort { host, port } = &proxy.address;
            let at = Place::new(options, host, *port);
            Arc::new(Proxied { proxies: proxies.clone(), proxy: proxy.clone(), at })
        });
        self
    }
}

/// Bytes both ways, whatever carries them.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DialError {
    /// As `dial tcp 127.0.0.1:1: connect: connection refused`.
    #[error("{0}")]
    Tcp(String),
    #[error("{0}")]
    Tls(String),
}

impl Endpoint {
    pub(crate) async fn dial(&self, traffic: Arc<Traffic>) -> Result<Box<dyn Stream>, DialError> {
        let Place { host, port, blocked, .. } = &self.place;
        if let Some(why) = blocked {
            return Err(DialError::Tcp(why.clone()));
        }
        let at = self.proxied.as_ref().map_or(&self.place, |proxied| &proxied.at);
        let tcp = at.connect().await?;
        // Small messages are not held back for larger ones; failing that they only come later.
        tcp.set_nodelay(true).ok();
        let mut counted = Counted { inner: tcp, traffic };
        if let Some(proxied) = &self.proxied {
            let target = HostPort { host: host.clone(), port: *port };
            proxied.open(&target, &mut counted).await.map_err(DialError::Tcp)?;
        }
        let Some(tls) = &self.tls else { return Ok(Box::new(counted)) };
        let name = self.tls_name.clone().unwrap_or_else(|| host.clone());
        let name = ServerName::try_from(name)
            .map_err(|error| DialError::Tls(format!("tls: the name of the server: {error}")))?;
        let connector = TlsConnector::from(Arc::clone(tls));
        let stream = connector.connect(name, counted).await;
        Ok(Box::new(stream.map_err(|error| DialError::Tls(format!("tls: {error}")))?))
    }
}

impl Place {
    async fn connect(&self) -> Result<TcpStream, DialError> {
        if let Some(why) = &self.blocked {
            return Err(DialError::Tcp(why.clone()));
        }
        let addresses = match self.override_to {
            Some(address) => vec![address],
            None => {
                let found = tokio::net::lookup_host((self.host.as_str(), self.port)).await;
                let none = |_| DialError::Tcp(format!("lookup {}: no such host", self.host));
                found.map_err(none)?.collect()
            }
        };
        let mut failure = DialError::Tcp(format!("lookup {}: no such host", self.host));
        for address in addresses {
            if let Some(why) = places::refused(&self.blacklist, address.ip()) {
                failure = DialError::Tcp(why);
                continue;
            }
            match TcpStream::connect(address).await {
                Ok(stream) => return Ok(stream),
                Err(error) => {
                    let why = words(&error);
                    failure = DialError::Tcp(format!("dial tcp {address}: {why}"));
                }
            }
        }
        Err(failure)
    }
}

impl Proxied {
    /// Makes the tunnel on a connection to the proxy. The error names both ends.
    async fn open(&self, target: &HostPort, stream: &mut impl Stream) -> Result<(), String> {
        let tunnel = self.proxies.tunnel(&self.proxy, target);
        let mut tunnel = tunnel.map_err(|error| error.to_string())?;
        let mut buffer = [0; 1_024];
        loop {
            let unsent = tunnel.unsent().len();
            let written = stream.write_all(tunnel.unsent()).await;
            written.map_err(|error| tunnel.failed(&error.to_string()))?;
            tunnel.sent(unsent);
            match stream.read(&mut buffer).await {
                Ok(0) => return Err(tunnel.failed("it closed the connection")),
                Ok(length) if tunnel.feed(&buffer[..length])? => return Ok(()),
                Ok(_) => {}
                Err(error) => return Err(tunnel.failed(&error.to_string())),
            }
        }
    }
}

/// A failure of `connect` in the words that scripts look for.
fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connect: connection refused".to_owned(),
        io::ErrorKind::TimedOut => "i/o timeout".to_owned(),
        _ => format!("connect: {}", error.to_string().to_lowercase()),
    }
}

/// A stream whose bytes are counted.
struct Counted<S> {
    inner: S,
    traffic: Arc<Traffic>,
}

impl<S: AsyncRead + Unpin> AsyncRead for Counted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(context, buffer);
        let read = buffer.filled().len() - before;
        self.traffic.received.fetch_add(read as u64, Ordering::AcqRel);
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Counted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.inner).poll_write(context, bytes);
        if let Poll::Ready(Ok(written)) = &polled {
            self.traffic.sent.fetch_add(*written as u64, Ordering::AcqRel);
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
