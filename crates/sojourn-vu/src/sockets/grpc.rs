//! gRPC over HTTP/2: a connection that is made anew when it is lost, and calls as tasks.
//!
//! The protocol: <https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use h2::client::SendRequest;
use h2::{Reason, RecvStream, SendStream};
use http::{HeaderMap, Request, Response};
use percent_encoding::percent_decode_str;
use tokio::sync::Mutex;
use tokio::sync::mpsc::Receiver;

use super::dial::{DialError, Endpoint, Traffic};
use super::{Event as Any, Link};

/// A message's prefix: whether it is compressed, and its length.
const PREFIX_BYTES: usize = 5;

/// Codes of statuses that are made here.
pub(crate) mod code {
    pub(crate) const OK: u32 = 0;
    pub(crate) const UNKNOWN: u32 = 2;
    pub(crate) const DEADLINE_EXCEEDED: u32 = 4;
    pub(crate) const RESOURCE_EXHAUSTED: u32 = 8;
    pub(crate) const UNIMPLEMENTED: u32 = 12;
    pub(crate) const INTERNAL: u32 = 13;
    pub(crate) const UNAVAILABLE: u32 = 14;
}

/// Names and values; those of names in `-bin` are decoded.
pub(crate) type Metadata = Vec<(String, Vec<u8>)>;

/// How a call ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Status {
    pub(crate) code: u32,
    pub(crate) message: String,
    pub(crate) trailers: Metadata,
    /// When the call began, ns.
    pub(crate) began_ns: u64,
    /// It was given up after its time.
    pub(crate) is_late: bool,
}

impl Status {
    pub(crate) fn new(code: u32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), ..Self::default() }
    }
}

/// What has come.
#[derive(Debug)]
pub(crate) enum Event {
    /// The connection is there, or why it is not.
    Connected(Result<(), String>),
    Headers(Metadata),
    Message(Bytes),
    /// The last event of a call.
    Ended(Box<Status>),
}

/// What a call is to send.
#[derive(Debug)]
pub(crate) enum Order {
    Message(Vec<u8>),
    /// No more messages.
    End,
}

/// A connection to a server, made anew when it is lost.
pub(crate) struct Channel {
    endpoint: Endpoint,
    authority: String,
    receive_bytes_max: usize,
    traffic: Arc<Traffic>,
    sender: Mutex<Option<SendRequest<Bytes>>>,
}

impl Channel {
    pub(crate) fn new(
        endpoint: Endpoint,
        authority: String,
        receive_bytes_max: usize,
        traffic: Arc<Traffic>,
    ) -> Self {
        let sender = Mutex::new(None);
        Self { endpoint, authority, receive_bytes_max, traffic, sender }
    }

    /// Connects, and tells the link how that went.
    pub(crate) async fn connect(self: Arc<Self>, link: Arc<Link>, timeout: Duration) {
        let connected = tokio::time::timeout(timeout, self.ready()).await;
        let result = match connected {
            Ok(result) => result.map(drop),
            Err(_) => Err("context deadline exceeded".to_owned()),
        };
        link.tell(Any::Grpc(Event::Connected(result))).await;
    }

    /// A way to send requests, over a new connection if need be.
    async fn ready(&self) -> Result<SendRequest<Bytes>, String> {
        let known = self.sender.lock().await.clone();
        if let Some(known) = known
            && let Ok(ready) = known.ready().await
        {
            return Ok(ready);
        }
        let mut held = self.sender.lock().await;
        // Another call may have connected meanwhile.
        if let Some(known) = held.take()
            && let Ok(ready) = known.ready().await
        {
            return Ok(held.insert(ready).clone());
        }
        let made = self.dial().await?;
        Ok(held.insert(made).clone())
    }

    async fn dial(&self) -> Result<SendRequest<Bytes>, String> {
        let stream = self.endpoint.dial(Arc::clone(&self.traffic)).await;
        let stream = stream.map_err(|error| match error {
            DialError::Tcp(why) => broken(&format!("error while dialing: {why}")),
            DialError::Tls(why) => broken(&format!("authentication handshake failed: {why}")),
        })?;
        let preface = |error: h2::Error| broken(&format!("error reading server preface: {error}"));
        let shaken = h2::client::Builder::new().enable_push(false).handshake(stream).await;
        let (sender, mut connection) = shaken.map_err(preface)?;
        let ping = connection.ping_pong();
        tokio::spawn(async move {
            // Whoever has a call on it sees what went wrong with it.
            connection.await.ok();
        });
        // A server that speaks another protocol would show only with the first call.
        if let Some(mut ping) = ping {
            ping.ping(h2::Ping::opaque()).await.map_err(preface)?;
        }
        sender.ready().await.map_err(preface)
    }

    fn request(&self, call: &Call) -> Result<Request<()>, Status> {
        let scheme = if self.endpoint.tls.is_some() { "https" } else { "http" };
        let uri = http::Uri::builder()
            .scheme(scheme)
            .authority(self.authority.as_str())
            .path_and_query(call.path.as_str());
        let invalid = |error: http::Error| Status::new(code::INTERNAL, error.to_string());
        let mut request = Request::builder()
            .method(http::Method::POST)
            .uri(uri.build().map_err(invalid)?)
            .header("content-type", "application/grpc")
            .header("user-agent", call.user_agent.as_str())
            .header("te", "trailers");
        if let Some(timeout) = call.timeout {
            request = request.header("grpc-timeout", timeout_header(timeout));
        }
        for (name, value) in &call.metadata {
            request = if name.ends_with("-bin") {
                request.header(name, base64(value))
            } else {
                request.header(name, value.as_slice())
            };
        }
        request.body(()).map_err(invalid)
    }
}

fn broken(why: &str) -> String {
    format!("connection error: desc = \"transport: {why}\"")
}

/// At most eight digits and a unit.
fn timeout_header(timeout: Duration) -> String {
    let ns = timeout.as_nanos();
    let units = [(1, 'n'), (1_000, 'u'), (1_000_000, 'm'), (1_000_000_000, 'S')];
    let fits = |(in_ns, _): &&(u128, char)| ns.div_ceil(*in_ns) < 100_000_000;
    let (in_ns, unit) = units.iter().find(fits).unwrap_or(&(1_000_000_000, 'S'));
    format!("{}{unit}", ns.div_ceil(*in_ns).min(99_999_999))
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD_NO_PAD.encode(bytes)
}

/// What to call.
pub(crate) struct Call {
    /// `/package.Service/Method`.
    pub(crate) path: String,
    pub(crate) metadata: Metadata,
    pub(crate) timeout: Option<Duration>,
    pub(crate) user_agent: String,
}

/// Runs a call to its end.
pub(crate) async fn run(
    channel: Arc<Channel>,
    call: Call,
    link: Arc<Link>,
    orders: Receiver<Order>,
) {
    let began_ns = sojourn_clock::now_ns();
    let exchange = exchange(&channel, &call, &link, orders);
    let ended = match call.timeout {
        None => exchange.await,
        Some(timeout) => tokio::time::timeout(timeout, exchange).await.unwrap_or_else(|_| {
            let told = "context deadline exceeded";
            Err(Status { is_late: true, ..Status::new(code::DEADLINE_EXCEEDED, told) })
        }),
    };
    let (Ok(mut status) | Err(mut status)) = ended;
    status.began_ns = began_ns;
    tell(&link, Event::Ended(Box::new(status))).await;
}

async fn tell(link: &Arc<Link>, event: Event) {
    link.tell(Any::Grpc(event)).await;
}

async fn exchange(
    channel: &Channel,
    call: &Call,
    link: &Arc<Link>,
    orders: Receiver<Order>,
) -> Result<Status, Status> {
    let request = channel.request(call)?;
    let unavailable = |why: String| Status::new(code::UNAVAILABLE, why);
    let mut sender = channel.ready().await.map_err(unavailable)?;
    let (response, stream) = sender.send_request(request, false).map_err(|error| failed(&error))?;
    // Reading and writing go on side by side: a server may answer before all is written.
    let writing = async {
        if let Err(status) = write(stream, orders, link).await {
            return status;
        }
        std::future::pending().await
    };
    let reading = async {
        let response = response.await.map_err(|error| failed(&error))?;
        read(response, channel.receive_bytes_max, link).await
    };
    tokio::pin!(reading);
    tokio::select! {
        biased;
        ended = &mut reading => ended,
        status = writing => {
            // The server's own word on it, if there is one, says more.
            let soon = tokio::time::timeout(Duration::from_millis(100), reading).await;
            soon.unwrap_or(Err(status))
        }
    }
}

async fn write(
    mut stream: SendStream<Bytes>,
    mut orders: Receiver<Order>,
    link: &Link,
) -> Result<(), Status> {
    loop {
        match orders.recv().await {
            Some(Order::Message(message)) => {
                let bytes = message.len();
                let mut frame = BytesMut::with_capacity(PREFIX_BYTES + bytes);
                frame.put_u8(0);
                frame.put_u32(bytes as u32);
                frame.put_slice(&message);
                send(&mut stream, frame.freeze()).await?;
                link.written(bytes);
            }
            Some(Order::End) => {
                return stream.send_data(Bytes::new(), true).map_err(|error| failed(&error));
            }
            // The stream is kept open: whoever called has not said that it is all.
            None => return std::future::pending().await,
        }
    }
}

/// Sends as much at a time as the server has room for.
async fn send(stream: &mut SendStream<Bytes>, mut bytes: Bytes) -> Result<(), Status> {
    while !bytes.is_empty() {
        stream.reserve_capacity(bytes.len());
        let capacity = poll_fn(|context| stream.poll_capacity(context)).await;
        let capacity = capacity.transpose().map_err(|error| failed(&error))?;
        let Some(capacity) = capacity else {
            return Err(Status::new(code::UNAVAILABLE, "the stream is closed"));
        };
        let part = bytes.split_to(capacity.min(bytes.len()));
        stream.send_data(part, false).map_err(|error| failed(&error))?;
    }
    Ok(())
}

async fn read(
    response: Response<RecvStream>,
    bytes_max: usize,
    link: &Arc<Link>,
) -> Result<Status, Status> {
    let (head, mut body) = response.into_parts();
    if head.headers.contains_key("grpc-status") {
        return Ok(status_of(&head.headers));
    }
    check(&head)?;
    tell(link, Event::Headers(metadata(&head.headers))).await;
    let mut buffer = BytesMut::new();
    while let Some(part) = body.data().await {
        let part = part.map_err(|error| failed(&error))?;
        buffer.extend_from_slice(&part);
        while let Some(message) = next_message(&mut buffer, bytes_max)? {
            tell(link, Event::Message(message)).await;
        }
        // Fails only for more than there was.
        body.flow_control().release_capacity(part.len()).ok();
    }
    match body.trailers().await.map_err(|error| failed(&error))? {
        Some(trailers) => Ok(status_of(&trailers)),
        None => {
            Err(Status::new(code::INTERNAL, "server closed the stream without sending trailers"))
        }
    }
}

/// Whether an answer is one of gRPC at all.
fn check(head: &http::response::Parts) -> Result<(), Status> {
    if head.status != http::StatusCode::OK {
        let code = match head.status.as_u16() {
            400 | 431 => code::INTERNAL,
            401 => 16,
            403 => 7,
            404 => code::UNIMPLEMENTED,
            429 | 502 | 503 | 504 => code::UNAVAILABLE,
            _ => code::UNKNOWN,
        };
        let told = format!("unexpected HTTP status code received from server: {}", head.status);
        return Err(Status::new(code, told));
    }
    let kind = head.headers.get("content-type").and_then(|kind| kind.to_str().ok());
    match kind {
        Some(kind) if kind.starts_with("application/grpc") => Ok(()),
        other => {
            let told = format!("received unexpected content-type {:?}", other.unwrap_or(""));
            Err(Status::new(code::UNKNOWN, told))
        }
    }
}

/// The next whole message of what has come.
fn next_message(buffer: &mut BytesMut, bytes_max: usize) -> Result<Option<Bytes>, Status> {
    let Some((prefix, _)) = buffer.split_first_chunk::<PREFIX_BYTES>() else { return Ok(None) };
    let [compressed, a, b, c, d] = *prefix;
    if compressed != 0 {
        let told = "the server sent a compressed message, which was not asked for";
        return Err(Status::new(code::UNIMPLEMENTED, told));
    }
    let size = u32::from_be_bytes([a, b, c, d]) as usize;
    if size > bytes_max {
        let told = format!("grpc: received message larger than max ({size} vs. {bytes_max})");
        return Err(Status::new(code::RESOURCE_EXHAUSTED, told));
    }
    if buffer.len() < PREFIX_BYTES + size {
        return Ok(None);
    }
    buffer.advance(PREFIX_BYTES);
    Ok(Some(buffer.split_to(size).freeze()))
}

fn status_of(headers: &HeaderMap) -> Status {
    let text = |name| headers.get(name).map(|it| String::from_utf8_lossy(it.as_bytes()));
    let code = text("grpc-status").and_then(|code| code.parse().ok()).unwrap_or(code::UNKNOWN);
    let message = text("grpc-message").unwrap_or_default();
    let message = percent_decode_str(&message).decode_utf8_lossy().into_owned();
    let is_own = |(name, _): &(String, Vec<u8>)| {
        !matches!(name.as_str(), "grpc-status" | "grpc-message" | "grpc-status-details-bin")
    };
    let trailers = metadata(headers).into_iter().filter(is_own).collect();
    Status { trailers, ..Status::new(code, message) }
}

fn metadata(headers: &HeaderMap) -> Metadata {
    use base64::Engine as _;
    let decode = |value: &[u8]| {
        let coded: Vec<u8> = value.iter().copied().filter(|byte| *byte != b'=').collect();
        base64::engine::general_purpose::STANDARD_NO_PAD.decode(coded).unwrap_or_default()
    };
    let pair = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        let is_binary = name.as_str().ends_with("-bin");
        let bytes = if is_binary { decode(value.as_bytes()) } else { value.as_bytes().to_vec() };
        (name.to_string(), bytes)
    };
    headers.iter().map(pair).collect()
}

/// The status of a call whose stream or connection failed.
fn failed(error: &h2::Error) -> Status {
    let code = match error.reason() {
        Some(Reason::REFUSED_STREAM) => code::UNAVAILABLE,
        Some(Reason::CANCEL) => 1,
        Some(Reason::ENHANCE_YOUR_CALM) => code::RESOURCE_EXHAUSTED,
        Some(Reason::INADEQUATE_SECURITY) => 7,
        Some(_) if error.is_reset() => code::INTERNAL,
        _ => code::UNAVAILABLE,
    };
    Status::new(code, format!("error reading from server: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_have_eight_digits_at_most() {
        let shown = |ns| timeout_header(Duration::from_nanos(ns));
        assert_eq!(shown(1), "1n");
        assert_eq!(shown(99_999_999), "99999999n");
        assert_eq!(shown(100_000_000), "100000u");
        assert_eq!(shown(200_000_000_001), "200001m");
        assert_eq!(shown(u64::MAX), "99999999S");
    }

    #[test]
    fn messages_come_in_any_parts() {
        let whole = [0, 0, 0, 0, 2, 7, 8, 0, 0, 0, 0, 0];
        for cut in 0..whole.len() {
            let mut buffer = BytesMut::from(&whole[..cut]);
            let mut found = Vec::new();
            while let Ok(Some(message)) = next_message(&mut buffer, 2) {
                found.push(message);
            }
            buffer.extend_from_slice(&whole[cut..]);
            while let Ok(Some(message)) = next_message(&mut buffer, 2) {
                found.push(message);
            }
            assert_eq!(found, [&[7, 8][..], &[]], "cut at {cut}");
        }
    }

    #[test]
    fn messages_too_large_are_refused() {
        let mut buffer = BytesMut::from(&[0, 0, 0, 0, 3][..]);
        let refused = next_message(&mut buffer, 2).unwrap_err();
        assert_eq!(refused.code, code::RESOURCE_EXHAUSTED);
        assert_eq!(refused.message, "grpc: received message larger than max (3 vs. 2)");
    }
}
