//! A blocking HTTP client of a few lines, so that the peers are judged by something simple.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// One keep-alive connection.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    received: Vec<u8>,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        // Far beyond anything these tests wait for: a hang becomes a failure.
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, received: Vec::new() }
    }

    pub(crate) fn get(&mut self, path: &str) -> io::Result<Answer> {
        self.send(path);
        self.answer()
    }

    pub(crate) fn send(&mut self, path: &str) {
        let request = format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n");
        self.stream.write_all(request.as_bytes()).unwrap();
    }

    /// Reads one answer with a content length.
    pub(crate) fn answer(&mut self) -> io::Result<Answer> {
        loop {
            if let Some((status, head_length, body_length)) = parse(&self.received)? {
                let whole = head_length + body_length;
                if self.received.len() >= whole {
                    let body = self.received[head_length..whole].to_vec();
                    self.received.drain(..whole);
                    return Ok(Answer { status, body });
                }
            }
            let mut chunk = [0; 64 * 1024];
            match self.stream.read(&mut chunk)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                length => self.received.extend_from_slice(&chunk[..length]),
            }
        }
    }
}

fn parse(bytes: &[u8]) -> io::Result<Option<(u16, usize, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; 16];
    let mut response = httparse::Response::new(&mut headers);
    let status =
        response.parse(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    let httparse::Status::Complete(head_length) = status else {
        return Ok(None);
    };
    let length = response
        .headers
        .iter()
        .find(|header| header.name == "content-length")
        .map_or(0, |header| std::str::from_utf8(header.value).unwrap().parse().unwrap());
    Ok(Some((response.code.unwrap(), head_length, length)))
}
