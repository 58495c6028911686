//! One connection by hyper: requests to the desk, decisions to responses.

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Response, http};
use hyper_util::rt::{TokioIo, TokioTimer};
use sojourn_clock::now_ns;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::Stage;
use super::outflow::Outflow;
use crate::book::BODY_MAX;
use crate::book::fault::Fault;
use crate::course::Decision;
use crate::desk::Desk;
use crate::message::{Message, Timing};
use crate::reason::reason;
use crate::server::{Counters, Header, Request, Responder, TlsFacts};

/// A request's head must arrive within this time over HTTP/1.1, and a body may not pause for as
/// long.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Requests of one HTTP/2 connection held at a time; clients wait beyond.
const STREAMS_MAX: u32 = 1000;

/// What all connections of this thread share.
pub(super) struct Host {
    pub(super) desk: Rc<RefCell<Desk>>,
    pub(super) counters: Arc<Counters>,
    /// Taken over so far; the server's threads have counted them as accepted.
    pub(super) connections: Cell<u64>,
    /// More at a time are closed at once.
    pub(super) connections_max: usize,
    pub(super) stages: watch::Receiver<Stage>,
}

/// Why a connection or stream ends without an answer.
#[derive(Debug, thiserror::Error)]
enum NoAnswer {
    #[error("on purpose")]
    Fault,
    #[error("the client left")]
    Gone,
}

/// Runs futures on this thread.
#[derive(Clone, Copy)]
struct Here;

impl<F: Future<Output: 'static> + 'static> hyper::rt::Executor<F> for Here {
    fn execute(&self, future: F) {
        tokio::task::spawn_local(future);
    }
}

impl Host {
    pub(super) async fn serve<S: AsyncRead + AsyncWrite + Unpin + 'static>(
        self: Rc<Self>,
        stream: S,
        is_http2: bool,
        tls: Option<Rc<TlsFacts>>,
        mut stages: watch::Receiver<Stage>,
    ) {
        let number = self.connections.replace(self.connections.get() + 1);
        let service = service_fn(move |request| {
            let (host, tls) = (self.clone(), tls.clone());
            async move { host.answer(request, number, tls.as_deref()).await }
        });
        let io = TokioIo::new(stream);
        // A client that breaks off ends its connection; it has been counted where it matters.
        if is_http2 {
            let mut builder = http2::Builder::new(Here);
            builder.timer(TokioTimer::new()).max_concurrent_streams(STREAMS_MAX);
            let mut connection = pin!(builder.serve_connection(io, service));
            loop {
                tokio::select! {
                    _ended = connection.as_mut() => return,
                    () = next_stage(&mut stages) => connection.as_mut().graceful_shutdown(),
                }
            }
        }
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(REQUEST_TIMEOUT);
        let mut connection = pin!(builder.serve_connection(io, service));
        loop {
            tokio::select! {
                _ended = connection.as_mut() => return,
                () = next_stage(&mut stages) => connection.as_mut().graceful_shutdown(),
            }
        }
    }

    async fn answer(
        &self,
        request: http::Request<Incoming>,
        connection: u64,
        tls: Option<&TlsFacts>,
    ) -> Result<Response<Outflow>, NoAnswer> {
        let counters = &*self.counters;
        let (head, incoming) = request.into_parts();
        let path = match head.uri.path_and_query() {
            Some(path) => path.as_str(),
            None => "/",
        };
        let authority = head.uri.authority().map(http::uri::Authority::as_str);
        // HTTP/2 says the host apart from its headers.
        let host = authority.filter(|_| !head.headers.contains_key(http::header::HOST));
        let mut headers: Vec<Header<'_>> = Vec::with_capacity(head.headers.len() + 1);
        headers.extend(host.map(|host| Header { name: "host", value: host.as_bytes() }));
        headers.extend(
            head.headers
                .iter()
                .map(|(name, value)| Header { name: name.as_str(), value: value.as_bytes() }),
        );
        let version = if head.version == http::Version::HTTP_2 { 20 } else { 11 };
        let mut request = Request {
            method: head.method.as_str(),
            path,
            headers: &headers,
            body: &[],
            arrival_ns: now_ns(),
            connection,
            version,
            tls,
        };
        let kept_max = self.desk.borrow_mut().body_max(&request);
        let body = match self.read(incoming, kept_max).await? {
            Ok(body) => body,
            Err(status) => return Ok(self.refuse(status)),
        };
        counters.requests.add(1);
        request.body = &body;
        request.arrival_ns = now_ns();
        let decision = {
            let mut desk = self.desk.borrow_mut();
            desk.after_batch();
            desk.decide(&request)
        };
        let (arrival_ns, is_head) = (request.arrival_ns, head.method == http::Method::HEAD);
        // A held request needs nothing of itself any more, and may be large.
        drop(headers);
        drop((body, head));
        let response = self.give(&decision, arrival_ns, is_head).await?;
        Ok(if decision.close && version < 20 { closing(response) } else { response })
    }

    /// Holds an answer until it is due, and gives it as far as its fault lets it.
    async fn give(
        &self,
        decision: &Decision,
        arrival_ns: u64,
        is_head: bool,
    ) -> Result<Response<Outflow>, NoAnswer> {
        let held = Held::new(&self.counters);
        let intended_ns = decision.due_ns.saturating_sub(arrival_ns);
        loop {
            let left_ns = decision.due_ns.saturating_sub(now_ns());
            if left_ns == 0 {
                break;
            }
            sleep(Duration::from_nanos(left_ns)).await;
        }
        match decision.fault {
            Some(Fault::Silence) => {
                next_stage(&mut self.stages.clone()).await;
                return Err(NoAnswer::Fault);
            }
            Some(Fault::Close | Fault::Malformed | Fault::Reset) => {
                held.answered();
                return Err(NoAnswer::Fault);
            }
            Some(Fault::Dribble(_) | Fault::Truncate) | None => {}
        }
        held.answered();
        let response = self.respond(decision.message.clone(), arrival_ns, intended_ns);
        Ok(response.map(|outflow| match is_head {
            true => outflow.without_body(),
            false => outflow.with_fault(decision.fault),
        }))
    }

    /// What is not understood, too long or too slow.
    fn refuse(&self, status: u16) -> Response<Outflow> {
        self.counters.requests_bad.add(1);
        let text = format!("{status} {}\n", reason(status));
        self.respond(Message::text(status, "text/plain", text.as_bytes()).into(), 0, 0)
    }

    /// Reads a body; keeps it where somebody looks at it. Inner error: the status of one that is
    /// too long or too slow.
    async fn read(
        &self,
        incoming: Incoming,
        kept_max: usize,
    ) -> Result<Result<Vec<u8>, u16>, NoAnswer> {
        let mut incoming = pin!(incoming);
        let mut body = Vec::new();
        while !incoming.is_end_stream() {
            let frame = std::future::poll_fn(|it| incoming.as_mut().poll_frame(it));
            let frame = match timeout(REQUEST_TIMEOUT, frame).await {
                Ok(Some(frame)) => frame,
                Ok(None) => break,
                Err(_elapsed) => return Ok(Err(408)),
            };
            let frame = frame.map_err(|_| NoAnswer::Gone)?;
            let Some(bytes): Option<&Bytes> = frame.data_ref() else {
                continue;
            };
            self.counters.bytes_in.add(bytes.len() as u64);
            if kept_max > 0 {
                if body.len() + bytes.len() > kept_max.min(BODY_MAX) {
                    return Ok(Err(413));
                }
                body.extend_from_slice(bytes);
            }
        }
        Ok(Ok(body))
    }

    /// A response of a message whose request came at `arrival_ns`.
    fn respond(
        &self,
        message: Rc<Message>,
        arrival_ns: u64,
        intended_ns: u64,
    ) -> Response<Outflow> {
        let counters = &*self.counters;
        let real_ns = if arrival_ns == 0 { 0 } else { now_ns().saturating_sub(arrival_ns) };
        counters.hold.record(real_ns);
        counters.overshoot.record(real_ns.saturating_sub(intended_ns));
        counters.statuses.add(message.status());
        counters.bytes_out.add(message.body().length());
        let mut timing = Vec::with_capacity(64);
        Timing { intended_ns, real_ns }.write(&mut timing);
        let mut response = Response::new(Outflow::new(message.clone()));
        // A status of the book is one of three digits.
        *response.status_mut() =
            http::StatusCode::from_u16(message.status()).unwrap_or(http::StatusCode::OK);
        let own = [("server-timing", timing.as_slice())];
        for (name, value) in message.headers().chain(own) {
            let name = http::HeaderName::from_bytes(name.as_bytes());
            if let (Ok(name), Ok(value)) = (name, http::HeaderValue::from_bytes(value)) {
                response.headers_mut().append(name, value);
            }
        }
        response
    }
}

/// The same as the last of its connection.
fn closing(mut response: Response<Outflow>) -> Response<Outflow> {
    let close = http::HeaderValue::from_static("close");
    response.headers_mut().insert(http::header::CONNECTION, close);
    response
}

/// Waits until something else is wanted of connections.
async fn next_stage(stages: &mut watch::Receiver<Stage>) {
    if stages.changed().await.is_err() || *stages.borrow() == Stage::Serving {
        pending::<()>().await;
    }
}

/// A request that is held; one that is dropped before its answer was left by its client.
struct Held<'a> {
    counters: &'a Counters,
    is_answered: bool,
}

impl<'a> Held<'a> {
    fn new(counters: &'a Counters) -> Self {
        counters.held.add(1);
        Self { counters, is_answered: false }
    }

    fn answered(mut self) {
        self.is_answered = true;
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.counters.held.add(u64::MAX);
        if self.is_answered {
            self.counters.answered.add(1);
        } else {
            self.counters.abandoned.add(1);
        }
    }
}
