//! One request, and the events that its answer goes on with.

use std::io::{ErrorKind, Read};
use std::time::Duration;

use sojourn_broker::{BrokerError, RawMessage, Sink};
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns, sleep_until};
use sojourn_socket::Socket;

use super::body::{Body, BodyError, HEAD_BYTES_MAX, Head, read_head};
use super::parser::{Event, Parser, TooLong};
use crate::request::Request;
use crate::tap::{Lost, Stream};

/// How long connecting and the answer's head may take together.
const OPEN_NS_MAX: u64 = 5 * SECOND_NS;
/// The longest pause before connecting again that a server may ask for.
const RETRY_NS_MAX: u64 = 5 * SECOND_NS;
/// What one reading takes at most, bytes; and readings of one poll, so that it ends some time.
const CHUNK_BYTES: usize = 64 << 10;
const READINGS_MAX: usize = 64;

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) request: Request,
    /// Names of events taken; empty: all.
    pub(crate) events: Vec<String>,
    /// So long nothing may come.
    pub(crate) silence_ns: Option<u64>,
}

/// What the next request must know.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    last_id: Vec<u8>,
    retry_ms: Option<u64>,
}

/// A stream that stands.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: Socket,
    settings: Settings,
    body: Body,
    parser: Parser,
    /// Read along with the head, and not looked at yet.
    early: Vec<u8>,
    buffer: Vec<u8>,
    heard_ns: u64,
}

impl Settings {
    fn head(&self, last_id: &[u8]) -> Vec<u8> {
        let Request { host, path, headers, .. } = &self.request;
        let is_given =
            |wanted: &str| headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
        let mut head = format!("GET {path} HTTP/1.1\r\n");
        for (name, value) in [
            ("Host", host.as_str()),
            ("Accept", "text/event-stream"),
            ("Accept-Encoding", "identity"),
            ("Cache-Control", "no-store"),
        ] {
            if !is_given(name) {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {}\r\n", value.reveal()));
        }
        let mut head = head.into_bytes();
        if !last_id.is_empty() {
            head.extend(b"Last-Event-ID: ");
            head.extend(last_id);
            head.extend(b"\r\n");
        }
        head.extend(b"\r\n");
        head
    }

    fn check(&self, head: &Head) -> Result<(), BrokerError> {
        if head.status != 200 {
            return Err(self.request.refused(head.status, head.location.as_deref()));
        }
        let given = head.content_type.as_deref().unwrap_or("none");
        let essence = given.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("text/event-stream") {
            let shown = &self.request.shown;
            let problem = format!("{shown} sends no events: its content type is {given}");
            return Err(self
                .request
                .endpoint
                .error(&problem)
                .with_hint("server-sent events have the content type text/event-stream"));
        }
        Ok(())
    }
}

/// Reads until the head is there; what came behind it is returned too.
fn await_head(
    request: &Request,
    socket: &mut Socket,
    buffer: &mut [u8],
    deadline_ns: u64,
) -> Result<(Head, Vec<u8>), BrokerError> {
    let mut bytes = Vec::new();
    loop {
        match socket.read(buffer) {
            Ok(0) => return Err(request.unanswered("the connection was closed")),
            Ok(count) => {
                bytes.extend_from_slice(&buffer[..count]);
                if let Some(head) = read_head(&bytes).map_err(|why| request.unanswered(&why))? {
                    bytes.drain(..head.length);
                    return Ok((head, bytes));
                }
                if bytes.len() > HEAD_BYTES_MAX {
                    return Err(request.unanswered("a head of more than 64 KiB"));
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let left_ns = deadline_ns.saturating_sub(now_ns());
                if left_ns == 0 {
                    return Err(request.unanswered("no answer in time"));
                }
                let waited = socket.wait(false, Duration::from_nanos(left_ns), None);
                waited.map_err(|error| request.broken(&error, ""))?;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(request.broken(&error, "")),
        }
    }
}

impl Connection {
    fn take(&mut self, bytes: &[u8], stamp_ns: u64, sink: &mut dyn Sink) -> Result<usize, Lost> {
        let (parser, events) = (&mut self.parser, &self.settings.events);
        let mut count = 0;
        let mut hand_over = |event: Event<'_>| {
            let topic = String::from_utf8_lossy(event.name);
            if !events.is_empty() && !events.iter().any(|name| *name == topic) {
                return;
            }
            count += 1;
            let has_id = !event.id.is_empty();
            sink.message(&RawMessage {
                stamp_ns,
                topic: &topic,
                key: None,
                headers: if has_id { vec![("id", event.id)] } else { Vec::new() },
                payload: event.data,
                position: None,
            });
        };
        match self.body.feed(bytes, |piece| parser.feed(piece, &mut hand_over)) {
            Ok(true) => Ok(count),
            Ok(false) => Err(Lost("the server ended its answer".to_owned())),
            Err(BodyError::Framing(why)) => Err(Lost(format!("the answer is broken: {why}"))),
            Err(BodyError::Content(TooLong)) => {
                Err(Lost("an event of more than 16 MiB came".to_owned()))
            }
        }
    }

    fn read(&mut self, sink: &mut dyn Sink) -> Result<Option<usize>, Lost> {
        loop {
            match self.socket.read(&mut self.buffer) {
                Ok(0) => return Err(Lost("the connection was closed".to_owned())),
                Ok(count) => {
                    self.heard_ns = now_ns();
                    let buffer = std::mem::take(&mut self.buffer);
                    let taken = self.take(&buffer[..count], self.heard_ns, sink);
                    self.buffer = buffer;
                    return taken.map(Some);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Stream for Connection {
    type Settings = Settings;
    type Memory = Memory;

    fn open(settings: &Settings, memory: &Memory) -> Result<Self, BrokerError> {
        if let Some(retry_ms) = memory.retry_ms {
            let pause_ns = retry_ms.saturating_mul(MILLISECOND_NS).min(RETRY_NS_MAX);
            sleep_until(now_ns() + pause_ns);
        }
        let endpoint = &settings.request.endpoint;
        let deadline_ns = now_ns() + OPEN_NS_MAX;
        let mut socket = endpoint.connect(deadline_ns)?;
        let request = &settings.request;
        socket
            .write_all_until(&settings.head(&memory.last_id), deadline_ns)
            .map_err(|error| request.broken(&error, ""))?;
        let mut buffer = vec![0; CHUNK_BYTES];
        let (head, early) = await_head(request, &mut socket, &mut buffer, deadline_ns)?;
        settings.check(&head)?;
        Ok(Self {
            socket,
            settings: settings.clone(),
            body: head.body,
            parser: Parser::after(&memory.last_id),
            early,
            buffer,
            heard_ns: now_ns(),
        })
    }

    fn listen(&mut self, timeout: Duration, sink: &mut dyn Sink) -> Result<Option<u64>, Lost> {
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        let until_ns = now_ns().saturating_add(timeout_ns);
        let mut count = 0;
        if !self.early.is_empty() {
            let early = std::mem::take(&mut self.early);
            count += self.take(&early, self.heard_ns, sink)?;
        }
        for _ in 0..READINGS_MAX {
            let now = now_ns();
            if let Some(taken) = self.read(sink)? {
                count += taken;
                continue;
            }
            let silent_until_ns = self.settings.silence_ns.map(|silence| self.heard_ns + silence);
            if silent_until_ns.is_some_and(|until_ns| now >= until_ns) {
                return Err(Lost("nothing came for longer than `silence`".to_owned()));
            }
            if count > 0 || now >= until_ns {
                return Ok(Some(now));
            }
            let until_ns = until_ns.min(silent_until_ns.unwrap_or(u64::MAX));
            self.socket.wait(false, Duration::from_nanos(until_ns - now), None)?;
        }
        Ok(None)
    }

    fn memory(&self) -> Memory {
        Memory { last_id: self.parser.last_id().to_vec(), retry_ms: self.parser.retry_ms() }
    }

    fn shown(settings: &Settings) -> String {
        let shown = &settings.request.shown;
        match settings.events.as_slice() {
            [] => format!("sse {shown}"),
            events => format!("sse {shown}, events {}", events.join(", ")),
        }
    }

    fn error(settings: &Settings, problem: &str) -> BrokerError {
        settings.request.endpoint.error(problem)
    }
}
