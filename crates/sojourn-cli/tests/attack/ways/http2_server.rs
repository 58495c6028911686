//! A server of HTTP/2, and of HTTP/1.1 where that was agreed on, which echoes requests' bodies and
//! remembers how each request came.

use std::{
    net::{SocketAddr, TcpListener},
    os::unix::net::UnixListener,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use http_body_util::{BodyExt, Full};
use hyper::{
    HeaderMap, Request, Response, Version,
    body::{Bytes, Incoming},
    server::conn::{http1, http2},
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;

/// How long every answer is held, so that requests overlap.
const HELD: Duration = Duration::from_millis(50);

/// A request, as the server saw it.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) version: Version,
    pub(super) host: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
    /// The connection it came on, counted from 0.
    pub(super) connection: usize,
    /// Requests under way on that connection, this one with them.
    pub(super) together: usize,
}

/// What the server remembers.
#[derive(Clone, Default)]
pub(super) struct Log(Arc<Mutex<Book>>);

#[derive(Default)]
struct Book {
    seen: Vec<Seen>,
    /// Requests under way on each connection.
    under_way: Vec<usize>,
}

impl Log {
    /// The requests since the last time.
    pub(super) fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut self.0.lock().unwrap().seen)
    }

    fn connection(&self) -> usize {
        let mut book = self.0.lock().unwrap();
        book.under_way.push(0);
        book.under_way.len() - 1
    }

    async fn answer(
        self,
        connection: usize,
        request: Request<Incoming>,
    ) -> hyper::Result<Response<Full<Bytes>>> {
        let together = {
            let count = &mut self.0.lock().unwrap().under_way[connection];
            *count += 1;
            *count
        };
        let (parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        tokio::time::sleep(HELD).await;
        let mut book = self.0.lock().unwrap();
        book.under_way[connection] -= 1;
        book.seen.push(Seen {
            version: parts.version,
            host: parts.uri.host().unwrap_or_default().to_owned(),
            headers: parts.headers,
            body: body.to_vec(),
            connection,
            together,
        });
        Ok(Response::new(Full::new(body)))
    }

    async fn serve(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        is_h2: bool,
    ) {
        let connection = self.connection();
        let service = service_fn(move |request| self.clone().answer(connection, request));
        let io = TokioIo::new(stream);
        // A client that goes away has had its answers.
        let _gone = match is_h2 {
            true => http2::Builder::new(TokioExecutor::new()).serve_connection(io, service).await,
            false => http1::Builder::new().serve_connection(io, service).await,
        };
    }
}

/// Runs on a thread of its own until the test's process ends.
fn on_a_thread<F: Future<Output = ()>>(serve: impl FnOnce() -> F + Send + 'static) {
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(serve());
    });
}

/// By prior knowledge.
pub(super) fn h2c() -> (SocketAddr, Log) {
    on_tcp(None)
}

/// As ALPN says.
pub(super) fn over_tls(mut config: ServerConfig) -> (SocketAddr, Log) {
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    on_tcp(Some(TlsAcceptor::from(Arc::new(config))))
}

fn on_tcp(acceptor: Option<TlsAcceptor>) -> (SocketAddr, Log) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let (address, log) = (listener.local_addr().unwrap(), Log::default());
    let its = log.clone();
    on_a_thread(async move || {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, its) = (acceptor.clone(), its.clone());
            tokio::spawn(async move {
                let Some(acceptor) = acceptor else { return its.serve(stream, true).await };
                if let Ok(stream) = acceptor.accept(stream).await {
                    let is_h2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                    its.serve(stream, is_h2).await;
                }
            });
        }
    });
    (address, log)
}

/// By prior knowledge, on a Unix socket.
pub(super) fn h2c_at(path: &Path) -> Log {
    let listener = UnixListener::bind(path).unwrap();
    listener.set_nonblocking(true).unwrap();
    let log = Log::default();
    let its = log.clone();
    on_a_thread(async move || {
        let listener = tokio::net::UnixListener::from_std(listener).unwrap();
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(its.clone().serve(stream, true));
        }
    });
    log
}
