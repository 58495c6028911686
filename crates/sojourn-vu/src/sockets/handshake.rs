//! The handshake of a WebSocket (RFC 6455, section 4), by hand: tungstenite's own refuses servers
//! that choose none of the subprotocols asked for, which they may.

use http::header::SEC_WEBSOCKET_EXTENSIONS;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_tungstenite::tungstenite::handshake::client::generate_request;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::deflate::{Socket, agreed};
use super::dial::Stream;
use super::websocket::Answer;

/// Most bytes of an answer's head, and of a refusal's body.
const BYTES_MAX: usize = 64 << 10;
/// Most headers of an answer.
const HEADERS_MAX: usize = 128;

/// What a refusal is called.
const BAD: &str = "websocket: bad handshake";

/// Asks for a WebSocket on a connection. The error has the answer, if there was one.
pub(super) async fn shake(
    mut stream: Box<dyn Stream>,
    request: http::Request<()>,
) -> Result<(Socket, Answer), (Answer, String)> {
    let failed = |error: String| (Answer::default(), error);
    let generated = generate_request(request);
    let (bytes, key) = generated.map_err(|error| failed(format!("websocket: {error}")))?;
    let broken = |error: std::io::Error| failed(format!("websocket: {error}"));
    stream.write_all(&bytes).await.map_err(broken)?;
    let mut buffer = Vec::with_capacity(1_024);
    let (mut answer, head_bytes) = loop {
        if let Some(found) = parsed(&buffer).map_err(failed)? {
            break found;
        }
        if buffer.len() > BYTES_MAX {
            return Err(failed("websocket: the answer's head is too large".to_owned()));
        }
        if stream.read_buf(&mut buffer).await.map_err(broken)? == 0 {
            return Err(failed("unexpected EOF".to_owned()));
        }
    };
    let mut rest = buffer.split_off(head_bytes);
    if answer.status != 101 {
        read_body(&mut stream, &answer, &mut rest).await;
        answer.body = rest;
        return Err((answer, BAD.to_owned()));
    }
    let is = |name: &str, wanted: &str| value(&answer, name).eq_ignore_ascii_case(wanted);
    let is_accepted = value(&answer, "sec-websocket-accept") == derive_accept_key(key.as_bytes());
    if !is("upgrade", "websocket") || !is_accepted {
        return Err((answer, BAD.to_owned()));
    }
    let is_deflated = match agreed(answer.values(SEC_WEBSOCKET_EXTENSIONS.as_str())) {
        Ok(is_agreed) => is_agreed,
        Err(error) => return Err((answer, error)),
    };
    // What a server sends along with its answer is the first frame's.
    Ok((Socket::new(stream, rest, is_deflated).await, answer))
}

fn value<'a>(answer: &'a Answer, wanted: &'a str) -> &'a str {
    answer.values(wanted).next().map_or("", str::trim)
}

/// An answer's head and its length, once it is all there.
fn parsed(bytes: &[u8]) -> Result<Option<(Answer, usize)>, String> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let status =
        response.parse(bytes).map_err(|error| format!("malformed HTTP response: {error}"))?;
    let httparse::Status::Complete(size) = status else { return Ok(None) };
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let pair = |header: &httparse::Header<'_>| (header.name.to_owned(), text(header.value));
    let headers = response.headers.iter().map(pair).collect();
    let answer = Answer { status: response.code.unwrap_or(0), headers, body: Vec::new() };
    Ok(Some((answer, size)))
}

/// The body of a refusal, as far as its length is told.
async fn read_body(stream: &mut Box<dyn Stream>, answer: &Answer, body: &mut Vec<u8>) {
    let wanted = value(answer, "content-length").parse().unwrap_or(0_usize).min(BYTES_MAX);
    while body.len() < wanted {
        match stream.read_buf(body).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
    }
    body.truncate(wanted);
}
