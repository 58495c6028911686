//! A tap on a WebSocket (RFC 6455).

use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

use sojourn_broker::{BrokerError, Echo, RawMessage, Sink};
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_plan::WebSocketChannel;
use sojourn_socket::{Due, Liveness, Socket};
use tungstenite::client::IntoClientRequest;
use tungstenite::handshake::HandshakeError;
use tungstenite::handshake::client::{Request as Handshake, generate_key};
use tungstenite::http::{HeaderName, HeaderValue};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Bytes, Error, Message, WebSocket};

use crate::request::Request;
use crate::tap::{Lost, Stream, StreamTap, tap_by_stream};

/// How long connecting, the handshake and the first sendings may take together.
const OPEN_NS_MAX: u64 = 5 * SECOND_NS;
/// The largest message taken, bytes.
const MESSAGE_BYTES_MAX: usize = 64 << 20;
/// Messages of one poll at most, so that it ends while much comes.
const MESSAGES_MAX: usize = 16_384;

/// A passive client of a WebSocket's server.
#[derive(Debug)]
pub struct WebSocketTap(StreamTap<Connection>);

impl WebSocketTap {
    /// A tap that does not listen yet.
    ///
    /// # Errors
    /// A header, a subprotocol or a TLS file is of no use.
    pub fn new(channel: &WebSocketChannel) -> Result<Self, BrokerError> {
        let schemes = ["ws", "wss"];
        let request = Request::new("websocket", schemes, &channel.server, &channel.headers)?;
        let settings =
            Settings { request, send: channel.send.clone(), protocols: channel.protocols.clone() };
        settings.handshake()?;
        Ok(Self(StreamTap::new(settings)))
    }
}

tap_by_stream!(WebSocketTap);

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    request: Request,
    send: Vec<String>,
    protocols: Vec<String>,
}

impl Settings {
    fn handshake(&self) -> Result<Handshake, BrokerError> {
        let Request { endpoint, host, path, headers, .. } = &self.request;
        let strange = |what: &str| endpoint.error(&format!("{what} can't be sent"));
        let mut builder = Handshake::get(format!("ws://{host}{path}"))
            .header("Host", host)
            .header("Connection", "Upgrade")
            .header("Upgrade", "websocket")
            .header("Sec-WebSocket-Version", "13")
            .header("Sec-WebSocket-Key", generate_key());
        if !self.protocols.is_empty() {
            builder = builder.header("Sec-WebSocket-Protocol", self.protocols.join(", "));
        }
        let mut request = builder.body(()).map_err(|_| strange("the URL or a subprotocol"))?;
        for (name, value) in headers {
            let header = HeaderName::from_bytes(name.as_bytes());
            let value = HeaderValue::from_str(value.reveal());
            let (Ok(header), Ok(mut value)) = (header, value) else {
                return Err(strange(&format!("the header `{name}`")));
            };
            value.set_sensitive(true);
            // `Host` may be the plan's own; the others of the handshake are not its to set.
            if header == "host" {
                request.headers_mut().insert(header, value);
            } else if request.headers().contains_key(&header) {
                return Err(strange(&format!("the header `{name}`, which the handshake sets,")));
            } else {
                request.headers_mut().append(header, value);
            }
        }
        request.into_client_request().map_err(|error| endpoint.error(&error.to_string()))
    }

    fn failed(&self, error: &Error) -> BrokerError {
        let shown = &self.request.shown;
        let endpoint = &self.request.endpoint;
        match error {
            Error::Http(response) => {
                let location = response.headers().get("location");
                let location = location.and_then(|location| location.to_str().ok());
                self.request.refused(response.status().as_u16(), location)
            }
            Error::Io(error) if error.kind() == ErrorKind::TimedOut => {
                self.request.unanswered("no answer to the handshake in time")
            }
            Error::Io(error) => self.request.broken(error, " in the handshake"),
            error => endpoint
                .error(&format!("{shown}: no WebSocket: {error}"))
                .with_hint("is it a WebSocket, and are `protocols` the ones it speaks?"),
        }
    }
}

/// A socket that stamps what it reads, and waits only while the handshake goes on.
#[derive(Debug)]
struct Stamped {
    socket: Socket,
    read_ns: u64,
    /// Until when to wait instead of saying that nothing is there.
    wait_until_ns: Option<u64>,
}

impl Stamped {
    fn patiently<T>(
        &mut self,
        to_write: bool,
        mut act: impl FnMut(&mut Socket) -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            match (act(&mut self.socket), self.wait_until_ns) {
                (Err(error), Some(until_ns)) if error.kind() == ErrorKind::WouldBlock => {
                    let left_ns = until_ns.saturating_sub(now_ns());
                    if left_ns == 0 {
                        return Err(ErrorKind::TimedOut.into());
                    }
                    self.socket.wait(to_write, Duration::from_nanos(left_ns), None)?;
                }
                (outcome, _) => return outcome,
            }
        }
    }
}

impl Read for Stamped {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.patiently(false, |socket| socket.read(into))?;
        self.read_ns = now_ns();
        Ok(count)
    }
}

impl Write for Stamped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.patiently(true, |socket| socket.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.patiently(true, Write::flush)
    }
}

/// A WebSocket that stands.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: WebSocket<Stamped>,
    liveness: Liveness,
    echo: Echo,
    /// Servers must answer pings, and not all do.
    answers: bool,
    /// Something could not be sent yet.
    is_sending: bool,
    /// The path, which messages carry as their topic.
    topic: String,
}

impl Connection {
    fn flushed(&mut self, outcome: Result<(), Error>) -> Result<(), Lost> {
        match outcome {
            Ok(()) => self.is_sending = false,
            Err(error) if is_would_block(&error) => self.is_sending = true,
            Err(error) => return Err(lost(error)),
        }
        Ok(())
    }

    fn tend(&mut self, now: u64) -> Result<(), Lost> {
        match self.liveness.due(now) {
            Due::Lost => Err(Lost("the server does not answer a ping".to_owned())),
            Due::Nothing if self.echo.is_due(now) => {
                self.echo.asked(now);
                let sent = self.socket.send(Message::Ping(Bytes::new()));
                self.flushed(sent)
            }
            Due::Ping => {
                let sent = self.socket.send(Message::Ping(Bytes::new()));
                self.flushed(sent)
            }
            Due::Nothing => {
                // Answers to the server's own pings, too.
                let sent = self.socket.flush();
                self.flushed(sent)
            }
        }
    }
}

impl Stream for Connection {
    type Settings = Settings;
    type Memory = ();

    fn open(settings: &Settings, (): &()) -> Result<Self, BrokerError> {
        let deadline_ns = now_ns() + OPEN_NS_MAX;
        let socket = settings.request.endpoint.connect(deadline_ns)?;
        let stamped = Stamped { socket, read_ns: 0, wait_until_ns: Some(deadline_ns) };
        let config = WebSocketConfig::default()
            .read_buffer_size(64 << 10)
            .max_message_size(Some(MESSAGE_BYTES_MAX))
            .max_frame_size(Some(MESSAGE_BYTES_MAX));
        let handshake = settings.handshake()?;
        let (mut socket, _response) =
            tungstenite::client::client_with_config(handshake, stamped, Some(config)).map_err(
                |error| match error {
                    HandshakeError::Failure(error) => settings.failed(&error),
                    HandshakeError::Interrupted(_) => {
                        settings.failed(&Error::Io(ErrorKind::TimedOut.into()))
                    }
                },
            )?;
        for text in &settings.send {
            socket.send(Message::text(text.as_str())).map_err(|error| settings.failed(&error))?;
        }
        socket.get_mut().wait_until_ns = None;
        let path = settings.request.path.split('?').next().unwrap_or_default();
        Ok(Self {
            socket,
            liveness: Liveness::new(now_ns()),
            echo: Echo::new(now_ns()),
            answers: false,
            is_sending: false,
            topic: path.to_owned(),
        })
    }

    fn listen(&mut self, timeout: Duration, sink: &mut dyn Sink) -> Result<Option<u64>, Lost> {
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        let until_ns = now_ns().saturating_add(timeout_ns);
        let mut count = 0;
        while count < MESSAGES_MAX {
            let now = now_ns();
            match self.socket.read() {
                Ok(message) => {
                    let stamp_ns = self.socket.get_ref().read_ns;
                    self.liveness.heard(stamp_ns);
                    let payload = match &message {
                        Message::Text(text) => text.as_str().as_bytes(),
                        Message::Binary(bytes) => bytes,
                        Message::Pong(_) => {
                            self.echo.answered(stamp_ns);
                            self.answers = true;
                            continue;
                        }
                        _ => continue,
                    };
                    count += 1;
                    sink.message(&RawMessage {
                        stamp_ns,
                        topic: &self.topic,
                        key: None,
                        headers: Vec::new(),
                        payload,
                        position: None,
                    });
                }
                Err(error) if is_would_block(&error) => {
                    self.tend(now)?;
                    if count > 0 || now >= until_ns {
                        return Ok(Some(now));
                    }
                    let echo_ns = self.echo.next_ns().unwrap_or(u64::MAX);
                    let due_ns = self.liveness.next_ns().min(echo_ns).saturating_sub(now);
                    let wait = Duration::from_nanos((until_ns - now).min(due_ns));
                    self.socket.get_ref().socket.wait(self.is_sending, wait, None)?;
                }
                Err(error) => return Err(lost(error)),
            }
        }
        Ok(None)
    }

    fn memory(&self) {}

    fn behind_ns(&self, now_ns: u64) -> u64 {
        if self.answers { self.echo.behind_ns(now_ns) } else { 0 }
    }

    fn shown(settings: &Settings) -> String {
        format!("websocket {}", settings.request.shown)
    }

    fn error(settings: &Settings, problem: &str) -> BrokerError {
        settings.request.endpoint.error(problem)
    }
}

fn is_would_block(error: &Error) -> bool {
    matches!(error, Error::Io(error) if error.kind() == ErrorKind::WouldBlock)
}

fn lost(error: Error) -> Lost {
    match error {
        Error::Io(error) => error.into(),
        Error::ConnectionClosed | Error::AlreadyClosed => {
            Lost("the server closed the WebSocket".to_owned())
        }
        Error::Capacity(_) => Lost("a message of more than 64 MiB came".to_owned()),
        error => Lost(error.to_string()),
    }
}
