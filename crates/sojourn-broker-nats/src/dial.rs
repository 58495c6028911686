//! From an address to a connection that has been greeted.
//!
//! The server speaks first: a line about itself. TLS begins after that line, or before it where the
//! server is set up so (`tls_first`). Then comes our introduction, and the first pong says that it
//! was accepted.

use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Duration;

use rustls::{ClientConnection, StreamOwned};
use sojourn_broker::BrokerError;
use sojourn_clock::now_ns;

use crate::config::{Login, Settings, TlsSettings};
use crate::connection::Connection;
use crate::lost::Lost;
use crate::protocol::Frame;
use crate::tls;
use crate::wire::Wire;

impl Connection {
    /// Connects, waiting until this instant at most.
    pub(crate) fn open(settings: &Settings, deadline_ns: u64) -> Result<Self, Lost> {
        let stream = connect(settings, deadline_ns)?;
        let (mut greeted, secure) = match &settings.tls {
            Some(tls) if tls.first => {
                let wire = secured(settings, tls, stream, deadline_ns)?;
                (Self::over(wire, settings)?, None)
            }
            secure => {
                let copy = stream.try_clone().map_err(|error| unreachable(settings, &error))?;
                (Self::over(Wire::Plain(stream), settings)?, secure.as_ref().map(|tls| (tls, copy)))
            }
        };
        let info = greeted.greeting(settings, deadline_ns)?;
        let says_tls = info.tls_required || info.tls_available;
        let mut connection = match (secure, &settings.tls) {
            (Some((tls, stream)), _) if says_tls => Self::over(
                Wire::Tls(secured_stream(settings, tls, stream, deadline_ns)?),
                settings,
            )?,
            (Some(_), _) => {
                return Err(failed(settings, "it does not speak TLS")
                    .hinted("begin the URL with `nats://`", "no TLS"));
            }
            (None, None) if info.tls_required => {
                return Err(failed(settings, "it asks for TLS")
                    .hinted("begin the URL with `tls://`", "TLS asked for"));
            }
            (None, _) => greeted,
        };
        connection.introduce(settings, info, deadline_ns)?;
        Ok(connection)
    }

    /// The server's first line.
    fn greeting(
        &mut self,
        settings: &Settings,
        deadline_ns: u64,
    ) -> Result<crate::connection::ServerInfo, Lost> {
        loop {
            if let Some((frame, _)) = self.next_frame()? {
                let Frame::Info(json) = frame else {
                    return Err(failed(settings, "it does not greet as NATS does"));
                };
                return serde_json::from_slice(self.bytes(json)).map_err(|error| {
                    failed(settings, &format!("its greeting cannot be read: {error}"))
                });
            }
            let left = left(deadline_ns).ok_or_else(|| {
                let lost = failed(settings, "it does not greet");
                match &settings.tls {
                    Some(tls) if !tls.first => {
                        lost.with_hint("if it does TLS before its greeting, say `tls_first: true`")
                    }
                    _ => lost,
                }
            })?;
            self.fill(left).map_err(|lost| unreachable(settings, &lost.error))?;
        }
    }

    /// Says who we are, and waits until the server has accepted it.
    fn introduce(
        &mut self,
        settings: &Settings,
        info: crate::connection::ServerInfo,
        deadline_ns: u64,
    ) -> Result<(), Lost> {
        let words = settings.introduction(info.nonce.as_deref());
        let asks = info.auth_required;
        self.greeted_with(info);
        self.out().extend_from_slice(format!("CONNECT {words}\r\n").as_bytes());
        let accepted = self.await_pong(deadline_ns);
        accepted.map(drop).map_err(|mut lost| {
            if lost.for_good && asks && matches!(settings.login, Login::Nobody) {
                lost.error.hint = Some(
                    "it asks for a login: put user and password into the URL, or name a file of \
                     `credentials`"
                        .to_owned(),
                );
            }
            lost
        })
    }

    /// Pings and waits for the pong; returns what was refused before it. Messages that come
    /// meanwhile stay to be read.
    pub(crate) fn await_pong(&mut self, deadline_ns: u64) -> Result<Vec<String>, Lost> {
        let wanted = self.ping();
        let mut kept = Vec::new();
        let mut refused = Vec::new();
        while self.pongs() < wanted {
            match self.next_keeping(&mut kept)? {
                Some(crate::connection::Event::Refused(words)) => refused.push(words),
                Some(_) => {}
                None => {
                    let left = left(deadline_ns);
                    let left = left.ok_or_else(|| self.lost("it does not answer in time"))?;
                    self.fill(left)?;
                }
            }
        }
        self.put_back(&kept);
        Ok(refused)
    }
}

/// Time until an instant; `None`: it has passed.
pub(crate) fn left(deadline_ns: u64) -> Option<Duration> {
    deadline_ns.checked_sub(now_ns()).filter(|left| *left > 0).map(Duration::from_nanos)
}

fn connect(settings: &Settings, deadline_ns: u64) -> Result<TcpStream, Lost> {
    let addresses = (settings.host.as_str(), settings.port)
        .to_socket_addrs()
        .map_err(|error| unreachable(settings, &error))?;
    let mut problem = "its name has no address".to_owned();
    for address in addresses {
        let Some(left) = left(deadline_ns) else { break };
        match TcpStream::connect_timeout(&address, left) {
            Ok(stream) => {
                let ready = stream.set_nodelay(true).and_then(|()| stream.set_nonblocking(true));
                ready.map_err(|error| unreachable(settings, &error))?;
                return Ok(stream);
            }
            Err(error) => problem = error.to_string(),
        }
    }
    Err(unreachable(settings, &problem))
}

fn secured(
    settings: &Settings,
    tls: &TlsSettings,
    stream: TcpStream,
    deadline_ns: u64,
) -> Result<Wire, Lost> {
    secured_stream(settings, tls, stream, deadline_ns).map(Wire::Tls)
}

/// Does TLS's handshake.
fn secured_stream(
    settings: &Settings,
    tls: &TlsSettings,
    mut stream: TcpStream,
    deadline_ns: u64,
) -> Result<Box<StreamOwned<ClientConnection, TcpStream>>, Lost> {
    let broken = |error: &std::io::Error| broken_handshake(settings, tls, error);
    let mut connection = ClientConnection::new(Arc::clone(&tls.config), tls.name.clone())
        .map_err(|error| broken(&std::io::Error::other(error)))?;
    stream.set_nonblocking(false).map_err(|error| broken(&error))?;
    while connection.is_handshaking() {
        let left =
            left(deadline_ns).ok_or_else(|| failed(settings, "its TLS handshake does not end"))?;
        stream
            .set_read_timeout(Some(left))
            .and_then(|()| stream.set_write_timeout(Some(left)))
            .and_then(|()| connection.complete_io(&mut stream))
            .map_err(|error| broken(&error))?;
    }
    stream.set_nonblocking(true).map_err(|error| broken(&error))?;
    Ok(Box::new(StreamOwned::new(connection, stream)))
}

fn broken_handshake(settings: &Settings, tls: &TlsSettings, error: &std::io::Error) -> Lost {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let lost = failed(settings, &format!("TLS: {error}"));
    match inner.and_then(|inner| tls::hint(inner, &tls.name.to_str())) {
        Some(hint) => lost.hinted(&hint, "TLS refused"),
        None => lost,
    }
}

fn unreachable(settings: &Settings, problem: &dyn std::fmt::Display) -> Lost {
    failed(settings, &problem.to_string())
        .with_hint("is the server running, and is this its address?")
}

fn failed(settings: &Settings, why: &str) -> Lost {
    let at = &settings.address;
    Lost {
        short: "cannot connect",
        ..Lost::now(BrokerError::new(format!("cannot connect to nats at {at}: {why}")))
    }
}

impl Lost {
    fn with_hint(mut self, hint: &str) -> Self {
        self.error = self.error.with_hint(hint);
        self
    }

    /// Lost for good, with what to do about it.
    fn hinted(self, hint: &str, short: &'static str) -> Self {
        Self::for_good(self.error.with_hint(hint), short)
    }
}
