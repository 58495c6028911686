//! The HTTP server: a thread with a runtime of its own.

use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;
use std::thread::JoinHandle;

use axum::Router;
use axum::body::HttpBody;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use tokio::sync::oneshot;

use sojourn_clock::Anchor;

use crate::answers::{Answer, Answers};
use crate::config::PathPattern;
use crate::listener::BoundedListener;
use crate::queue::{Body, Queue};
use crate::signature::Verifier;

/// What a request is answered by.
#[derive(Debug)]
pub(crate) struct Endpoint {
    /// Whose requests are events.
    pub(crate) path: PathPattern,
    /// The answers to events.
    pub(crate) answers: Answers,
    /// Who verifies signatures.
    pub(crate) verifier: Option<Verifier>,
    /// Where events go.
    pub(crate) queue: Arc<Queue>,
}

/// A running receiver; dropping it stops the server and frees its port.
#[derive(Debug)]
pub(crate) struct Receiver {
    /// Dropped to stop the server.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Receiver {
    /// Listens on an address and answers from then on. Returns the address bound.
    pub(crate) fn start(address: &str, endpoint: Endpoint) -> io::Result<(Self, SocketAddr)> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let bound = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = {
            let _guard = runtime.enter();
            BoundedListener {
                listener: tokio::net::TcpListener::from_std(listener)?,
                queue: Arc::clone(&endpoint.queue),
                open: Arc::default(),
            }
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::Builder::new().name("webhook".to_owned()).spawn(move || {
            // However the thread ends, the tap learns of it.
            let _ending = Ending(Arc::clone(&endpoint.queue));
            let app = Router::new().fallback(answer).with_state(Arc::new(endpoint));
            runtime.block_on(async {
                tokio::select! {
                    _served = axum::serve(listener, app) => {}
                    _dropped = stopped => {}
                }
            });
            // Connections still open are the senders' to repeat.
            runtime.shutdown_background();
        })?;
        let receiver = Self { stop: Some(stop), thread: Some(thread) };
        Ok((receiver, bound))
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic over there has ended the queue already.
            let _panicked = thread.join();
        }
    }
}

struct Ending(Arc<Queue>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.end("the receiver has stopped");
    }
}

async fn answer(State(endpoint): State<Arc<Endpoint>>, request: Request) -> (HeaderMap, Answer) {
    let answer = answered(&endpoint, request).await;
    (endpoint.answers.headers(), answer)
}

async fn answered(endpoint: &Endpoint, request: Request) -> Answer {
    if !endpoint.path.fits(request.uri().path()) {
        return StatusCode::NOT_FOUND.into();
    }
    if !matches!(*request.method(), Method::POST | Method::PUT | Method::PATCH) {
        return StatusCode::METHOD_NOT_ALLOWED.into();
    }
    let (parts, body) = request.into_parts();
    let declared = parts.headers.get(header::CONTENT_LENGTH);
    let declared = declared.and_then(|length| length.to_str().ok()?.parse().ok());
    let answer = match receive(body, declared.unwrap_or(0), &endpoint.queue).await {
        Ok(body) => endpoint.take(parts, body),
        // The sender broke off: there is no event, and no one to read the answer.
        Err(StatusCode::BAD_REQUEST) => return StatusCode::BAD_REQUEST.into(),
        Err(refusal) => Err(refusal),
    };
    match answer {
        Ok(answer) => {
            let after = endpoint.answers.after();
            if !after.is_zero() {
                tokio::time::sleep(after).await;
            }
            answer
        }
        Err(refusal) => {
            endpoint.queue.count_refused();
            refusal.into()
        }
    }
}

impl Endpoint {
    /// Queues a request received in full and chooses its answer; errs with the answer to one that
    /// the queue's bounds refuse.
    fn take(&self, parts: Parts, body: Body) -> Result<Answer, StatusCode> {
        let path = parts.uri.path().to_owned();
        let problem = self.verifier.as_ref().and_then(|verifier| {
            verifier.verify(&parts.headers, body.bytes(), Anchor::now().unix_ns).err()
        });
        let answer = match problem {
            Some(_) => StatusCode::UNAUTHORIZED.into(),
            None => self.answers.choose(&path, &parts.headers, body.bytes()),
        };
        let queued = self.queue.push(path, parts.headers, body, problem);
        queued.then_some(answer).ok_or(StatusCode::SERVICE_UNAVAILABLE)
    }
}

/// Reads a body to its end, within the queue's bounds.
async fn receive(
    mut source: axum::body::Body,
    declared: usize,
    queue: &Arc<Queue>,
) -> Result<Body, StatusCode> {
    let length_max = queue.body_bytes_max();
    if declared > length_max {
        return Err(StatusCode::PAYLOAD_TOO_LARGE);
    }
    let mut body = Body::new(queue);
    while let Some(frame) = poll_fn(|context| Pin::new(&mut source).poll_frame(context)).await {
        let frame = frame.map_err(|_| StatusCode::BAD_REQUEST)?;
        // Trailers are not part of it.
        let Ok(piece) = frame.into_data() else {
            continue;
        };
        if body.bytes().len() + piece.len() > length_max {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        if !body.extend(&piece) {
            return Err(StatusCode::SERVICE_UNAVAILABLE);
        }
    }
    Ok(body)
}
