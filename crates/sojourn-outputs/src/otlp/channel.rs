//! A gRPC channel for unary calls of one thread: a connection that is made anew when it is lost.
//!
//! The protocol: <https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>.

use std::{sync::Arc, time::Duration};

use bytes::{BufMut, Bytes, BytesMut};
use h2::client::SendRequest;
use http::{HeaderMap, Request};
use rustls::{ClientConfig, RootCertStore, pki_types::ServerName};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    runtime::Runtime,
};
use tokio_rustls::TlsConnector;

use crate::{
    failure::Failure,
    http::{Security, identity, roots},
    target::Endpoint,
};

/// A message's prefix: whether it is compressed, and its length.
const PREFIX_BYTES: usize = 5;
/// Most bytes of an answer.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// The channel.
pub struct Channel {
    runtime: Runtime,
    endpoint: Endpoint,
    tls: Option<TlsConnector>,
    sender: Option<SendRequest<Bytes>>,
}

impl Channel {
    /// To this server; nothing is connected before the first call.
    ///
    /// # Errors
    /// A file of certificates cannot be read, or certificates are not to be verified, which is not
    /// done here.
    pub fn new(endpoint: &Endpoint, security: &Security) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let is_tls = endpoint.url.scheme() == "https";
        let tls = is_tls.then(|| connector(security)).transpose()?;
        Ok(Self { runtime, endpoint: endpoint.clone(), tls, sender: None })
    }

    /// Calls a method; the answer's message.
    ///
    /// # Errors
    /// There is no answer in time, or it is none of success.
    pub fn call(
        &mut self,
        path: &str,
        message: &[u8],
        timeout: Duration,
    ) -> Result<Vec<u8>, Failure> {
        let (endpoint, tls) = (&self.endpoint, self.tls.as_ref());
        let held = self.sender.take();
        let called = self.runtime.block_on(async {
            let call = exchange(endpoint, tls, held, path, message);
            tokio::time::timeout(timeout, call).await
        });
        let (sender, answer) =
            called.unwrap_or_else(|_| Err(Failure::Again("no answer in time".to_owned())))?;
        self.sender = Some(sender);
        answer
    }
}

fn connector(security: &Security) -> Result<TlsConnector, String> {
    if security.is_unverified {
        return Err(
            "over gRPC certificates are always verified: name the server's authority as a \
                    file of certificates, or use HTTP"
                .to_owned(),
        );
    }
    let mut store = RootCertStore::empty();
    // Those that are not understood are not trusted.
    store.add_parsable_certificates(roots(security.ca_file.as_deref())?);
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| error.to_string())?;
    let config = config.with_root_certificates(store);
    let mut config = match &security.identity {
        None => config.with_no_client_auth(),
        Some(files) => {
            let (chain, key) = identity(files)?;
            config.with_client_auth_cert(chain, key).map_err(|error| error.to_string())?
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

/// What a call leaves: the connection, and the answer. A call that breaks leaves no connection.
type Called = Result<(SendRequest<Bytes>, Result<Vec<u8>, Failure>), Failure>;

async fn exchange(
    endpoint: &Endpoint,
    tls: Option<&TlsConnector>,
    held: Option<SendRequest<Bytes>>,
    path: &str,
    message: &[u8],
) -> Called {
    let ready = match held {
        Some(held) => held.ready().await.ok(),
        None => None,
    };
    let mut sender = match ready {
        Some(ready) => ready,
        None => dial(endpoint, tls).await?,
    };
    let request = request(endpoint, path)?;
    let broken = |error: h2::Error| Failure::Again(error.to_string());
    let (answer, mut body) = sender.send_request(request, false).map_err(broken)?;
    send(&mut body, framed(message)).await.map_err(broken)?;
    let answer = answer.await.map_err(broken)?;
    let (head, mut stream) = answer.into_parts();
    if !head.status.is_success() {
        let words = format!("the receiver answers {}", head.status.as_u16());
        // As gRPC maps statuses of HTTP: these are `UNAVAILABLE`.
        return Err(match head.status.as_u16() {
            429 | 502..=504 => Failure::Again(words),
            _ => Failure::Never(words),
        });
    }
    let mut received = Vec::new();
    while let Some(piece) = stream.data().await {
        let piece = piece.map_err(broken)?;
        // What was taken off the window has to be given back.
        stream.flow_control().release_capacity(piece.len()).map_err(broken)?;
        received.extend_from_slice(&piece);
        if received.len() > ANSWER_BYTES_MAX {
            return Err(Failure::Never("the receiver's answer is too long".to_owned()));
        }
    }
    let trailers = stream.trailers().await.map_err(broken)?;
    // A server that has nothing but a status puts it where the headers are.
    let status = trailers.as_ref().filter(|it| it.contains_key("grpc-status"));
    let outcome = check(status.unwrap_or(&head.headers));
    let answer = outcome.map(|()| received.split_off(PREFIX_BYTES.min(received.len())));
    Ok((sender, answer))
}

async fn dial(
    endpoint: &Endpoint,
    tls: Option<&TlsConnector>,
) -> Result<SendRequest<Bytes>, Failure> {
    let again = |error: std::io::Error| Failure::Again(error.to_string());
    // Both are there, since the target was read; the brackets of an IPv6 address are the URL's.
    let host = endpoint.url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let port = endpoint.url.port_or_known_default().unwrap_or(4317);
    let stream = TcpStream::connect((host.as_str(), port)).await.map_err(again)?;
    stream.set_nodelay(true).map_err(again)?;
    match tls {
        None => handshake(stream).await,
        Some(connector) => {
            let name = ServerName::try_from(host);
            let name = name.map_err(|error| Failure::Never(error.to_string()))?;
            handshake(connector.connect(name, stream).await.map_err(again)?).await
        }
    }
}

async fn handshake(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> Result<SendRequest<Bytes>, Failure> {
    let shaken = h2::client::Builder::new().enable_push(false).handshake(stream).await;
    let (sender, connection) = shaken.map_err(|error| Failure::Again(error.to_string()))?;
    tokio::spawn(async move {
        // The next call sees what went wrong with it.
        connection.await.ok();
    });
    sender.ready().await.map_err(|error| Failure::Again(error.to_string()))
}

fn request(endpoint: &Endpoint, path: &str) -> Result<Request<()>, Failure> {
    let authority = endpoint.url.authority();
    let folder = endpoint.url.path().trim_end_matches('/');
    let mut request =
        Request::post(format!("{}://{authority}{folder}{path}", endpoint.url.scheme()))
            .header("content-type", "application/grpc+proto")
            .header("te", "trailers")
            .header("user-agent", concat!("sojourn/", env!("CARGO_PKG_VERSION")));
    for (name, value) in endpoint.credentials.headers() {
        request = request.header(name, value);
    }
    request.body(()).map_err(|error| Failure::Never(error.to_string()))
}

/// An uncompressed message with its prefix.
fn framed(message: &[u8]) -> Bytes {
    let mut framed = BytesMut::with_capacity(PREFIX_BYTES + message.len());
    framed.put_u8(0);
    // One of four gigabytes is never made.
    framed.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
    framed.put_slice(message);
    framed.freeze()
}

/// Sends all of it, as the receiver's window allows.
async fn send(body: &mut h2::SendStream<Bytes>, mut message: Bytes) -> Result<(), h2::Error> {
    while !message.is_empty() {
        body.reserve_capacity(message.len());
        let granted = std::future::poll_fn(|context| body.poll_capacity(context)).await;
        let granted = granted.transpose()?.unwrap_or(0).min(message.len());
        if granted == 0 {
            // Closed by the receiver, whose answer says why.
            return Ok(());
        }
        let piece = message.split_to(granted);
        body.send_data(piece, message.is_empty())?;
    }
    Ok(())
}

/// What the status says; which may be tried again is said by OTLP's specification.
fn check(headers: &HeaderMap) -> Result<(), Failure> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let Some(code) = text("grpc-status").and_then(|code| code.parse::<u32>().ok()) else {
        return Err(Failure::Again("the receiver's answer has no grpc-status".to_owned()));
    };
    let message = text("grpc-message").unwrap_or_default();
    let words = format!("the receiver answers with gRPC status {code} {message}");
    let words = words.trim_end().to_owned();
    match code {
        0 => Ok(()),
        1 | 4 | 8 | 10 | 11 | 14 | 15 => Err(Failure::Again(words)),
        _ => Err(Failure::Never(words)),
    }
}
