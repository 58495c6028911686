//! A WebSocket as a task: the handshake, then what comes and what goes.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio::sync::mpsc::Receiver;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{self, Message, Utf8Bytes};

use super::deflate::{self, Socket};
use super::dial::{Endpoint, Traffic};
use super::handshake::shake;
use super::{Event as Any, Link};
use crate::modules::http::canonical;

/// How long a server may take to answer a close.
const CLOSE_WAIT: Duration = Duration::from_secs(10);
/// How long a handshake may take, connecting included.
const HANDSHAKE_WAIT: Duration = Duration::from_secs(60);
/// Headers of the handshake that no script may give.
const OWN_HEADERS: [http::HeaderName; 5] = [
    http::header::CONNECTION,
    http::header::UPGRADE,
    http::header::SEC_WEBSOCKET_EXTENSIONS,
    http::header::SEC_WEBSOCKET_KEY,
    http::header::SEC_WEBSOCKET_VERSION,
];
/// The code of a connection that ended without a close.
pub(crate) const ABNORMAL: u16 = 1006;

/// What to open.
pub(crate) struct Ask {
    pub(crate) endpoint: Endpoint,
    /// With the scheme ws or wss.
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) protocols: Vec<String>,
    /// Whether to offer that messages be compressed.
    pub(crate) offers_deflate: bool,
}

/// What to send.
#[derive(Debug)]
pub(crate) enum Order {
    Text(String),
    Binary(Vec<u8>),
    Ping(Vec<u8>),
    /// A close without a code carries nothing.
    Close {
        code: u16,
        reason: String,
    },
}

impl Order {
    /// Bytes of the payload.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Binary(bytes) | Self::Ping(bytes) => bytes.len(),
            Self::Close { reason, .. } => reason.len(),
        }
    }
}

/// An answer to the handshake.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// 0 where there was none.
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The values of a header, whatever its name's case, line by line.
    pub(crate) fn values<'a>(&'a self, wanted: &'a str) -> impl Iterator<Item = &'a str> {
        let named = self.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
        named.map(|(_, value)| value.as_str())
    }
}

/// What has come.
#[derive(Debug)]
pub(crate) enum Event {
    Opened(Answer),
    Refused {
        answer: Answer,
        error: String,
    },
    Text(Utf8Bytes),
    Binary(Bytes),
    Ping,
    Pong(Bytes),
    /// The last event: the server closed, or answered our close.
    Closed {
        code: Option<u16>,
        reason: String,
    },
    /// The last event: the connection is gone without a close.
    Lost {
        error: String,
    },
}

/// Runs a WebSocket to its end.
pub(crate) async fn run(ask: Ask, link: Arc<Link>, orders: Receiver<Order>, traffic: Arc<Traffic>) {
    let opened = tokio::time::timeout(HANDSHAKE_WAIT, open(&ask, traffic)).await;
    let late = || Err((Answer::default(), "i/o timeout".to_owned()));
    match opened.unwrap_or_else(|_| late()) {
        Err((answer, error)) => tell(&link, Event::Refused { answer, error }).await,
        Ok((stream, answer)) => {
            tell(&link, Event::Opened(answer)).await;
            let (sink, source) = stream.split();
            // Reading goes on while a write waits, or two ends could wait for each other.
            let (closing, closed) = tokio::sync::oneshot::channel();
            let writing = write(sink, orders, Arc::clone(&link), closing);
            let reading = read(source, &link);
            tokio::pin!(reading);
            tokio::select! {
                () = &mut reading => {}
                () = async { writing.await; patience(closed).await } => {
                    let error = "the server did not answer the close".to_owned();
                    tell(&link, Event::Lost { error }).await;
                }
            }
        }
    }
}

/// After a close of ours: so long. Without one: for ever.
async fn patience(closed: tokio::sync::oneshot::Receiver<()>) {
    match closed.await {
        Ok(()) => tokio::time::sleep(CLOSE_WAIT).await,
        Err(_) => std::future::pending().await,
    }
}

async fn tell(link: &Arc<Link>, event: Event) {
    link.tell(Any::WebSocket(event)).await;
}

pub(super) async fn open(
    ask: &Ask,
    traffic: Arc<Traffic>,
) -> Result<(Socket, Answer), (Answer, String)> {
    let failed = |error: String| (Answer::default(), error);
    let request = request(ask).map_err(failed)?;
    let stream = ask.endpoint.dial(traffic).await.map_err(|error| failed(error.to_string()))?;
    shake(stream, request).await
}

fn request(ask: &Ask) -> Result<http::Request<()>, String> {
    use tungstenite::client::IntoClientRequest as _;
    let mut request = ask.url.as_str().into_client_request().map_err(|error| error.to_string())?;
    let headers = request.headers_mut();
    for (name, value) in &ask.headers {
        let is_own = |own: &http::HeaderName| name.eq_ignore_ascii_case(own.as_str());
        if OWN_HEADERS.iter().any(is_own) {
            let name = canonical(name);
            return Err(format!("websocket: duplicate header not allowed: {name}"));
        }
        let wrong = |what: &str| format!("the header \"{name}\": {what} can't be sent");
        let name = http::HeaderName::try_from(name.as_str()).map_err(|_| wrong("its name"))?;
        let value = http::HeaderValue::try_from(value.as_str()).map_err(|_| wrong("its value"))?;
        headers.insert(name, value);
    }
    if !ask.protocols.is_empty() {
        let value = http::HeaderValue::try_from(ask.protocols.join(", "))
            .map_err(|_| "a protocol's name can't be sent".to_owned())?;
        headers.insert(http::header::SEC_WEBSOCKET_PROTOCOL, value);
    }
    if ask.offers_deflate {
        let offer = http::HeaderValue::from_static(deflate::OFFER);
        headers.insert(http::header::SEC_WEBSOCKET_EXTENSIONS, offer);
    }
    Ok(request)
}

async fn write(
    mut sink: SplitSink<Socket, Message>,
    mut orders: Receiver<Order>,
    link: Arc<Link>,
    closing: tokio::sync::oneshot::Sender<()>,
) {
    while let Some(order) = orders.recv().await {
        let (bytes, is_close) = (order.len(), matches!(order, Order::Close { .. }));
        let message = match order {
            Order::Text(text) => Message::text(text),
            Order::Binary(bytes) => Message::binary(bytes),
            Order::Ping(payload) => Message::Ping(payload.into()),
            Order::Close { code, reason } => {
                Message::Close(Some(CloseFrame { code: code.into(), reason: reason.into() }))
            }
        };
        // Whoever reads finds out what is wrong with the connection.
        let is_over = sink.send(message).await.is_err();
        link.written(bytes);
        if is_close {
            closing.send(()).ok();
            return;
        }
        if is_over {
            return;
        }
    }
}

async fn read(mut source: SplitStream<Socket>, link: &Arc<Link>) {
    loop {
        let event = match source.next().await {
            Some(Ok(Message::Text(text))) => Event::Text(text),
            Some(Ok(Message::Binary(bytes))) => Event::Binary(bytes),
            Some(Ok(Message::Ping(_))) => Event::Ping,
            Some(Ok(Message::Pong(payload))) => Event::Pong(payload),
            Some(Ok(Message::Close(frame))) => {
                let code = frame.as_ref().map(|frame| frame.code.into());
                let reason = frame.map(|frame| frame.reason.to_string()).unwrap_or_default();
                tell(link, Event::Closed { code, reason }).await;
                // Our answer to a close of the server's goes out with the next look at the stream.
                tokio::time::timeout(CLOSE_WAIT, source.next()).await.ok();
                return;
            }
            Some(Ok(Message::Frame(_))) => continue,
            Some(Err(error)) => {
                tell(link, Event::Lost { error: lost(&error) }).await;
                return;
            }
            None => {
                tell(link, Event::Lost { error: lost(&tungstenite::Error::ConnectionClosed) })
                    .await;
                return;
            }
        };
        tell(link, event).await;
    }
}

/// Why a connection is gone.
fn lost(error: &tungstenite::Error) -> String {
    use tungstenite::error::ProtocolError;
    match error {
        tungstenite::Error::ConnectionClosed
        | tungstenite::Error::AlreadyClosed
        | tungstenite::Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => {
            format!("websocket: close {ABNORMAL} (abnormal closure): unexpected EOF")
        }
        tungstenite::Error::Io(error) => format!("websocket: {error}"),
        error => format!("websocket: {error}"),
    }
}
