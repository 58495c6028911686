//! One client: its request, and what it is sent.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tungstenite::handshake::derive_accept_key;

use super::{Shared, StreamMessage};

/// How long a client may take for its request, and for what it is sent.
const REQUEST: Duration = Duration::from_secs(10);
const SENDING: Duration = Duration::from_secs(1);
/// The longest head of a request, and the longest frame from a client, bytes.
const HEAD_BYTES_MAX: usize = 16 << 10;
const FRAME_BYTES_MAX: u64 = 64 << 10;

/// Opcodes of RFC 6455, section 5.2.
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// A client that was answered well.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    path: String,
    is_websocket: bool,
    /// Whole frames and events only are written while this is held.
    stream: Arc<Mutex<TcpStream>>,
}

impl Client {
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Whether it could be sent to; if not it is cut off.
    pub(crate) fn send(&self, message: &StreamMessage<'_>) -> bool {
        let StreamMessage { name, id, data } = *message;
        if self.is_websocket {
            let is_text = std::str::from_utf8(data).is_ok();
            return self.write(&frame(if is_text { TEXT } else { BINARY }, data));
        }
        let mut event = Vec::with_capacity(data.len() + 64);
        for (field, value) in [("event", name), ("id", id)] {
            if let Some(value) = value {
                event.extend_from_slice(format!("{field}: {value}\n").as_bytes());
            }
        }
        for line in data.split(|byte| *byte == b'\n') {
            event.extend_from_slice(b"data: ");
            event.extend_from_slice(line);
            event.push(b'\n');
        }
        event.push(b'\n');
        self.write(&event)
    }

    /// A sign of life where the protocol has no pings. Whether the client is still there.
    pub(crate) fn beat(&self) -> bool {
        self.is_websocket || self.write(b":\n")
    }

    pub(crate) fn close(&self) {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        drop(stream.shutdown(Shutdown::Both));
    }

    fn write(&self, bytes: &[u8]) -> bool {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let is_written = stream.write_all(bytes).is_ok();
        if !is_written {
            drop(stream.shutdown(Shutdown::Both));
        }
        is_written
    }
}

/// Answers a connection's request, and reads what its client says until it is gone.
pub(crate) fn serve(mut stream: TcpStream, shared: &Shared) {
    let Ok(Request { path, key, protocol }) = request(&mut stream) else { return };
    let answer = match (path.split('/').nth(1), &key) {
        (Some("events"), Some(key)) => format!(
            "101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {}{}",
            derive_accept_key(key.as_bytes()),
            protocol.map_or_else(String::new, |it| format!("\r\nSec-WebSocket-Protocol: {it}"))
        ),
        (Some("events"), None) => "200 OK\r\nContent-Type: text/event-stream".to_owned(),
        (Some("secret"), _) => "401 Unauthorized\r\nContent-Length: 0".to_owned(),
        _ => "404 Not Found\r\nContent-Length: 0".to_owned(),
    };
    let answer = format!("HTTP/1.1 {answer}\r\n\r\n");
    if !answer.contains("101 Sw") && !answer.contains("200 OK") {
        drop(stream.write_all(answer.as_bytes()));
        return;
    }
    let Ok(own) = stream.try_clone() else { return };
    let client = Client { path, is_websocket: key.is_some(), stream: Arc::new(Mutex::new(own)) };
    {
        // Who has the answer misses nothing that is sent from then on.
        let mut clients = shared.clients();
        if shared.is_ending.load(Ordering::SeqCst) || !client.write(answer.as_bytes()) {
            return;
        }
        clients.push(client.clone());
    }
    drop(listen(&mut stream, &client));
    client.close();
    shared.clients().retain(|other| !Arc::ptr_eq(&other.stream, &client.stream));
}

/// What a client asks for.
struct Request {
    /// Without its query.
    path: String,
    /// Of a WebSocket's handshake.
    key: Option<String>,
    /// The first subprotocol that it offers: all are spoken here.
    protocol: Option<String>,
}

fn request(stream: &mut TcpStream) -> io::Result<Request> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(REQUEST))?;
    stream.set_write_timeout(Some(SENDING))?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
        if head.len() > HEAD_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    stream.set_read_timeout(None)?;
    let head = String::from_utf8_lossy(&head);
    let target = head.split(' ').nth(1).unwrap_or_default();
    let path = target.split('?').next().unwrap_or_default().to_owned();
    let header = |wanted: &str| {
        head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case(wanted).then(|| value.trim().to_owned())
        })
    };
    let offered = header("sec-websocket-protocol");
    let protocol = offered.and_then(|all| all.split(',').next().map(|it| it.trim().to_owned()));
    Ok(Request { path, key: header("sec-websocket-key"), protocol })
}

/// Reads until the client is gone; a WebSocket's pings are answered.
fn listen(stream: &mut TcpStream, client: &Client) -> io::Result<()> {
    if !client.is_websocket {
        let mut ignored = [0; 1024];
        while stream.read(&mut ignored)? > 0 {}
        return Ok(());
    }
    loop {
        let (opcode, payload) = read_frame(stream)?;
        match opcode {
            PING if !client.write(&frame(PONG, &payload)) => return Ok(()),
            CLOSE => {
                client.write(&frame(CLOSE, &payload));
                return Ok(());
            }
            _ => {}
        }
    }
}

/// A frame of a client, which is masked (RFC 6455, section 5.3).
fn read_frame(stream: &mut TcpStream) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 2];
    stream.read_exact(&mut head)?;
    let length = match head[1] & 0x7f {
        126 => {
            let mut length = [0; 2];
            stream.read_exact(&mut length)?;
            u64::from(u16::from_be_bytes(length))
        }
        127 => {
            let mut length = [0; 8];
            stream.read_exact(&mut length)?;
            u64::from_be_bytes(length)
        }
        length => u64::from(length),
    };
    if head[1] & 0x80 == 0 || length > FRAME_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut mask = [0; 4];
    stream.read_exact(&mut mask)?;
    let mut payload = Vec::new();
    stream.take(length).read_to_end(&mut payload)?;
    payload.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
    Ok((head[0] & 0x0f, payload))
}

/// A whole message of the server, in one frame.
fn frame(opcode: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(payload.len() + 10);
    frame.push(0x80 | opcode);
    match payload.len() {
        length @ 0..126 => frame.push(length as u8),
        length @ 126..=0xffff => {
            frame.push(126);
            frame.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            frame.push(127);
            frame.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    frame.extend_from_slice(payload);
    frame
}
