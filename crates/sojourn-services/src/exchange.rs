//! A word or two with a server in its own protocol, to see whether it answers.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(5);

/// A connection to a port of 127.0.0.1 on which nothing waits longer than five seconds.
pub(crate) fn connect(port: u16) -> io::Result<TcpStream> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// Sends `request` and reads as many bytes as `expected` has; anything else is an error.
pub(crate) fn expect(stream: &mut TcpStream, request: &[u8], expected: &[u8]) -> io::Result<()> {
    stream.write_all(request)?;
    let mut answer = vec![0; expected.len()];
    stream.read_exact(&mut answer)?;
    if answer == expected {
        return Ok(());
    }
    let (answer, expected) = (answer.escape_ascii(), expected.escape_ascii());
    Err(io::Error::other(format!("the server answers `{answer}` instead of `{expected}`")))
}

/// Reads up to a line end, which is left out, and nothing beyond; at most 64 KiB.
pub(crate) fn line(stream: &mut TcpStream) -> io::Result<String> {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while bytes.len() < 64 << 10 {
        stream.read_exact(&mut byte)?;
        if byte == *b"\n" {
            break;
        }
        bytes.extend(byte);
    }
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

/// The status of an HTTP request without a body of its own.
pub(crate) fn http_status(port: u16, request: &str, headers: &str) -> io::Result<u16> {
    let mut stream = connect(port)?;
    let head = format!(
        "{request} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 0\r\n\
         Connection: close\r\n{headers}\r\n"
    );
    stream.write_all(head.as_bytes())?;
    let line = line(&mut stream)?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    status.ok_or_else(|| io::Error::other(format!("`{line}` is no HTTP answer")))
}

/// The body of the answer to an HTTP request without a body of its own, by HTTP/1.0: it ends with
/// the connection.
pub(crate) fn http_body(port: u16, request: &str, headers: &str) -> io::Result<String> {
    let mut stream = connect(port)?;
    let head = format!("{request} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n{headers}\r\n");
    stream.write_all(head.as_bytes())?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    match text.split_once("\r\n\r\n") {
        Some((_, body)) => Ok(body.to_owned()),
        None => Err(io::Error::other(format!("`{text}` is no HTTP answer"))),
    }
}

/// Text as it may stand in a query, every byte of it percent-encoded.
pub(crate) fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}
