//! A small keep-alive HTTP/1.1 client for the third parties: POST JSON, read a sized answer.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

/// Requests in flight; more wait.
const IN_FLIGHT_MAX: usize = 256;
/// Connections kept for later.
const IDLE_MAX: usize = 64;
/// An answer larger than this is refused, bytes.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Connections to one address.
pub(crate) struct HttpClient {
    address: SocketAddr,
    idle: Mutex<Vec<TcpStream>>,
    in_flight: Semaphore,
}

/// An answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl HttpClient {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address, idle: Mutex::default(), in_flight: Semaphore::new(IN_FLIGHT_MAX) }
    }

    /// Posts JSON; the error says in words what failed.
    pub(crate) async fn post(
        &self,
        path: &str,
        idempotency_key: Option<&str>,
        body: &str,
    ) -> Result<Answer, String> {
        let slot = self.in_flight.acquire().await;
        let request = render(self.address, path, idempotency_key, body);
        let answered = tokio::time::timeout(TIMEOUT, self.exchange(&request)).await;
        drop(slot);
        match answered {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(problem)) => Err(format!("POST {}{path}: {problem}", self.address)),
            Err(_) => Err(format!(
                "POST {}{path}: no answer within {} s",
                self.address,
                TIMEOUT.as_secs()
            )),
        }
    }

    async fn exchange(&self, request: &[u8]) -> Result<Answer, String> {
        // A kept connection may have been closed meanwhile; then a new one gets the request.
        if let Some(mut kept) = self.take_idle()
            && let Ok((answer, keep)) = exchange_on(&mut kept, request).await
        {
            self.keep(kept, keep);
            return Ok(answer);
        }
        let mut stream =
            TcpStream::connect(self.address).await.map_err(|error| error.to_string())?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        let (answer, keep) = exchange_on(&mut stream, request).await?;
        self.keep(stream, keep);
        Ok(answer)
    }

    fn take_idle(&self) -> Option<TcpStream> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn keep(&self, stream: TcpStream, keep: bool) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if keep && idle.len() < IDLE_MAX {
            idle.push(stream);
        }
    }
}

fn render(address: SocketAddr, path: &str, idempotency_key: Option<&str>, body: &str) -> Vec<u8> {
    let key_line =
        idempotency_key.map(|key| format!("idempotency-key: {key}\r\n")).unwrap_or_default();
    format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         {key_line}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// One request and its answer; whether the connection may be kept.
async fn exchange_on(stream: &mut TcpStream, request: &[u8]) -> Result<(Answer, bool), String> {
    stream.write_all(request).await.map_err(|error| error.to_string())?;
    let mut received = Vec::with_capacity(1_024);
    loop {
        let read = stream.read_buf(&mut received).await.map_err(|error| error.to_string())?;
        if read == 0 {
            return Err("connection closed before the answer was whole".into());
        }
        if let Some(answer) = parse(&received)? {
            return Ok(answer);
        }
        if received.len() > ANSWER_BYTES_MAX {
            return Err(format!("answer is larger than {ANSWER_BYTES_MAX} bytes"));
        }
    }
}

/// An answer from bytes; none while it isn't whole.
fn parse(received: &[u8]) -> Result<Option<(Answer, bool)>, String> {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut response = httparse::Response::new(&mut headers);
    let head = match response.parse(received) {
        Ok(httparse::Status::Complete(head)) => head,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return Err(format!("answer is not HTTP: {error}")),
    };
    let field = |name: &str| {
        response
            .headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(name))
            .and_then(|header| std::str::from_utf8(header.value).ok())
    };
    let length: usize = field("content-length")
        .and_then(|text| text.trim().parse().ok())
        .filter(|&length| length <= ANSWER_BYTES_MAX)
        .ok_or("answer has no usable content-length")?;
    let Some(body) = received.get(head..head + length) else {
        return Ok(None);
    };
    let keep = field("connection").is_none_or(|value| !value.eq_ignore_ascii_case("close"));
    let answer = Answer { status: response.code.unwrap_or(0), body: body.to_vec() };
    Ok(Some((answer, keep && received.len() == head + length)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WHOLE: &[u8] = b"HTTP/1.1 202 Accepted\r\nContent-Length: 5\r\n\r\nhello";

    #[test]
    fn answers_are_read_in_any_pieces() {
        for cut in 0..WHOLE.len() {
            assert_eq!(parse(&WHOLE[..cut]), Ok(None), "{cut}");
        }
        let answer = Answer { status: 202, body: b"hello".to_vec() };
        assert_eq!(parse(WHOLE), Ok(Some((answer, true))));
    }

    #[test]
    fn closing_and_unsized_answers() {
        let closing = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        assert!(matches!(parse(closing), Ok(Some((_, false)))));
        assert!(parse(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
        assert!(parse(b"SMTP hello\r\n\r\n").is_err());
        let huge = b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n";
        assert!(parse(huge).is_err());
    }

    proptest! {
        #[test]
        fn foreign_bytes_never_panic(bytes: Vec<u8>) {
            drop(parse(&bytes));
        }
    }
}
