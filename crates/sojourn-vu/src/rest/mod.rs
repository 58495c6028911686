//! k6's REST interface: who runs a test from elsewhere asks it how it goes, resumes it, changes its
//! users, ends it.
//!
//! Paths and documents are those of k6's documentation (JSON:API). There is no password, as there
//! is none in k6: it listens only where it is told to.

mod documents;
mod doors;
mod own;

use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use crossbeam_channel::{Receiver, Sender, bounded};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::run::{Answer, Ask, Wish};
use doors::Doors;

/// Asked at once; more are told to come again.
const ASKS_MAX: usize = 16;
/// How long an answer may take: `setup` may be called meanwhile.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long answers may take to be sent once the test has ended.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A server of a test's REST interface; it ends when it is dropped.
#[derive(Debug)]
pub struct Rest {
    address: SocketAddr,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Rest {
    /// Listens at an address such as `localhost:6565` and returns what will be asked; with the
    /// process's own figures, if those are asked for. Errs when it can't.
    pub fn start(address: &str, has_own_figures: bool) -> io::Result<(Self, Receiver<Ask>)> {
        let listener = TcpListener::bind(&*addresses(address)?)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (ask, asks) = bounded(ASKS_MAX);
        let (end, ended) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(ASKS_MAX)
            .build()?;
        let app = router(ask, has_own_figures);
        let body = move || {
            // Whatever it ends by, the test goes on without it.
            let _ended = runtime.block_on(serve(listener, app, ended));
            runtime.shutdown_background();
        };
        let thread = Some(std::thread::Builder::new().name("rest".to_owned()).spawn(body)?);
        Ok((Self { address, end: Some(end), thread }, asks))
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            // A server that has ended needs no word.
            end.send(()).ok();
        }
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

/// Where to listen, the first that can be.
fn addresses(address: &str) -> io::Result<Vec<SocketAddr>> {
    let Some(port) = address.strip_prefix(':') else {
        return Ok(address.to_socket_addrs()?.collect());
    };
    // As Go writes every address of the machine; by IPv4 where there is no IPv6.
    let mut all: Vec<SocketAddr> = format!("[::]:{port}").to_socket_addrs()?.collect();
    all.extend(format!("0.0.0.0:{port}").to_socket_addrs()?);
    Ok(all)
}

/// Serves until the end, and then whoever has asked before, for [`LAST_WORDS`] at most.
async fn serve(listener: TcpListener, app: Router, ended: oneshot::Receiver<()>) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let (end, too_late) = oneshot::channel();
    let end = async move {
        // It ends likewise when nobody is there any more to say so.
        ended.await.ok();
        end.send(()).ok();
    };
    let too_late = async {
        too_late.await.ok();
        tokio::time::sleep(LAST_WORDS).await;
    };
    tokio::select! {
        served = axum::serve(Doors::new(listener), app).with_graceful_shutdown(end) => served,
        () = too_late => Ok(()),
    }
}

type Asks = State<Sender<Ask>>;

fn router(ask: Sender<Ask>, has_own_figures: bool) -> Router {
    let beside = if has_own_figures { own::router() } else { Router::new() };
    beside
        .route("/ping", get(|| async { "ok" }))
        .route("/v1/status", get(status).patch(change))
        .route("/v1/metrics", get(metrics))
        .route("/v1/metrics/{name}", get(metric))
        .route("/v1/groups", get(groups))
        .route("/v1/groups/{id}", get(group))
        .route("/v1/setup", get(setup_data).put(set_setup_data).post(call_setup))
        .route("/v1/teardown", post(call_teardown))
        .fallback(|| async { problem(StatusCode::NOT_FOUND, "there is no such path") })
        .with_state(ask)
}

async fn status(asks: Asks) -> Response {
    asked(asks, Wish::Status, documents::answer).await
}

async fn change(asks: Asks, body: Bytes) -> Response {
    match documents::change(&body) {
        Ok(change) => asked(asks, Wish::Change(change), documents::answer).await,
        Err(why) => problem(StatusCode::BAD_REQUEST, &why),
    }
}

async fn metrics(asks: Asks) -> Response {
    asked(asks, Wish::Figures, |answer| documents::metrics(answer, None)).await
}

async fn metric(asks: Asks, Path(name): Path<String>) -> Response {
    asked(asks, Wish::Figures, move |answer| documents::metrics(answer, Some(&name))).await
}

async fn groups(asks: Asks) -> Response {
    asked(asks, Wish::Figures, |answer| documents::groups(answer, None)).await
}

async fn group(asks: Asks, Path(id): Path<String>) -> Response {
    asked(asks, Wish::Figures, move |answer| documents::groups(answer, Some(&id))).await
}

async fn setup_data(asks: Asks) -> Response {
    asked(asks, Wish::SetupData, documents::answer).await
}

async fn set_setup_data(asks: Asks, body: Bytes) -> Response {
    let data = match &*body {
        [] => None,
        given => match serde_json::from_slice::<Value>(given) {
            Ok(data) => Some(data.to_string()),
            Err(error) => return problem(StatusCode::BAD_REQUEST, &format!("no JSON: {error}")),
        },
    };
    asked(asks, Wish::SetSetupData(data), documents::answer).await
}

async fn call_setup(asks: Asks) -> Response {
    asked(asks, Wish::CallSetup, documents::answer).await
}

async fn call_teardown(asks: Asks) -> Response {
    asked(asks, Wish::CallTeardown, documents::answer).await
}

/// Asks the test and makes a document of its answer; `None` is something that there is not.
async fn asked(
    State(asks): Asks,
    what: Wish,
    document: impl FnOnce(Answer) -> Option<Value> + Send + 'static,
) -> Response {
    let (answer, answers) = bounded(1);
    if asks.try_send(Ask { what, answer }).is_err() {
        return problem(
            StatusCode::SERVICE_UNAVAILABLE,
            "the test has ended, or is asked too much",
        );
    }
    let waited = tokio::task::spawn_blocking(move || {
        let answer = answers.recv_timeout(PATIENCE).map_err(|_| {
            let why = "the test has ended, or calls a function of the script that takes long";
            (StatusCode::SERVICE_UNAVAILABLE, why.to_owned())
        })?;
        match answer {
            Answer::Refused(why) => Err((StatusCode::BAD_REQUEST, why)),
            Answer::Done => Ok(None),
            answer => match document(answer) {
                Some(document) => Ok(Some(document)),
                None => Err((StatusCode::NOT_FOUND, "there is none of that name".to_owned())),
            },
        }
    });
    match waited.await {
        Ok(Ok(Some(document))) => json(StatusCode::OK, &document),
        Ok(Ok(None)) => StatusCode::OK.into_response(),
        Ok(Err((status, why))) => problem(status, &why),
        Err(error) => problem(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    }
}

fn problem(status: StatusCode, why: &str) -> Response {
    json(status, &documents::error(status.as_u16(), why))
}

fn json(status: StatusCode, document: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json; charset=utf-8")], document.to_string())
        .into_response()
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;

    use super::*;

    /// A connection that has asked for something which the test has not yet answered.
    fn asked_and_open(rest: &Rest) -> TcpStream {
        let mut stream = TcpStream::connect(rest.address()).unwrap();
        stream.write_all(b"GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        stream
    }

    #[test]
    fn the_last_answer_is_sent_before_the_end() {
        let (rest, asks) = Rest::start("127.0.0.1:0", false).unwrap();
        let mut stream = asked_and_open(&rest);
        let ask = asks.recv().unwrap();
        ask.answer.send(Answer::Done).unwrap();
        // The answer is under way.
        drop(rest);
        let mut told = String::new();
        stream.read_to_string(&mut told).unwrap();
        assert!(told.starts_with("HTTP/1.1 200 OK\r\n"), "{told:?}");
    }

    #[test]
    fn who_is_never_answered_keeps_nobody_for_long() {
        let (rest, asks) = Rest::start("127.0.0.1:0", false).unwrap();
        let mut stream = asked_and_open(&rest);
        let ask = asks.recv().unwrap();
        // The drop returns, though the ask is still held.
        drop(rest);
        let mut told = String::new();
        // It is closed, or reset.
        stream.read_to_string(&mut told).ok();
        assert_eq!(told, "");
        drop(ask);
    }

    #[test]
    fn a_port_alone_is_every_address_and_ipv4_where_there_is_no_other() {
        let all: Vec<SocketAddr> =
            vec!["[::]:6565".parse().unwrap(), "0.0.0.0:6565".parse().unwrap()];
        assert_eq!(addresses(":6565").unwrap(), all);
        assert_eq!(addresses("127.0.0.1:1").unwrap(), ["127.0.0.1:1".parse().unwrap()]);
        assert!(addresses(":x").is_err());
    }
}
