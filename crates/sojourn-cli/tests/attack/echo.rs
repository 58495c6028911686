//! A server that answers every request with the request itself.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
};

/// What the server does with a request's bytes.
type Answer = dyn Fn(&str, &mut TcpStream) -> std::io::Result<()> + Send + Sync;

/// Serves on a free port until the test's process ends: one thread a connection.
pub(crate) fn serve(
    answer: impl Fn(&str, &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
) -> SocketAddr {
    serve_on(TcpListener::bind("127.0.0.1:0").unwrap(), answer)
}

/// The same on a listener of the caller's.
pub(crate) fn serve_on(
    listener: TcpListener,
    answer: impl Fn(&str, &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
) -> SocketAddr {
    let address = listener.local_addr().unwrap();
    let answer: Arc<Answer> = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            // A client that goes away ends its own thread.
            thread::spawn(move || connection(stream, &*answer));
        }
    });
    address
}

/// Answers with what was asked.
pub(crate) fn echo(request: &str, stream: &mut TcpStream) -> std::io::Result<()> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", request.len());
    let body = if request.starts_with("HEAD ") { "" } else { request };
    stream.write_all(format!("{head}{body}").as_bytes())
}

fn connection(mut stream: TcpStream, answer: &Answer) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        while let Some(length) = whole(&bytes) {
            let request = String::from_utf8_lossy(&bytes[..length]).into_owned();
            bytes.drain(..length);
            answer(&request, &mut stream)?;
        }
        match stream.read(&mut buffer)? {
            0 => return Ok(()),
            length => bytes.extend_from_slice(&buffer[..length]),
        }
    }
}

/// The length of the first request, once it is all there.
fn whole(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let value = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name).map(|value| value.trim().to_owned()))
    };
    if value("transfer-encoding:").is_some() {
        let end = bytes[head..].windows(5).position(|window| window == b"0\r\n\r\n")?;
        return Some(head + end + 5);
    }
    let body = value("content-length:").map_or(0, |length| length.parse().unwrap());
    (bytes.len() >= head + body).then_some(head + body)
}
