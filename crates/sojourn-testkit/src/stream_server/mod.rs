//! A server of WebSockets and of server-sent events: what is sent to a path goes to every client
//! that is connected to it just then, and to nobody else.

mod client;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use client::Client;
use crossbeam_channel::{RecvTimeoutError, Sender, bounded};

use crate::free_port;

/// How often clients of server-sent events get a comment, so that they know a quiet server from one
/// that is gone.
const HEARTBEAT: Duration = Duration::from_millis(300);
/// More clients than this at once are closed as they come.
const CLIENTS_MAX: usize = 64;

/// Such a server on a free port of 127.0.0.1, over plain TCP.
///
/// A path below `/events` is a stream, below `/secret` it asks for an authorization that nobody has
/// (401), and any other is unknown (404). A client that does not read for a second, while more
/// comes than fits into the buffers of its connection, is cut off.
#[derive(Debug)]
pub struct StreamServer {
    port: u16,
    up: Option<Up>,
}

/// A message for clients: to those of a WebSocket its data alone is sent, as a text if it is one
/// and else as bytes; those of server-sent events get all of it, and its data must be text.
#[derive(Clone, Copy, Debug, Default)]
pub struct StreamMessage<'a> {
    /// The event's name, if it has one.
    pub name: Option<&'a str>,
    /// The event's id, if it has one.
    pub id: Option<&'a str>,
    /// The data.
    pub data: &'a [u8],
}

/// A server between its start and its end.
#[derive(Debug)]
struct Up {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// Dropped at the end.
    alive: Sender<()>,
}

#[derive(Debug, Default)]
pub(crate) struct Shared {
    is_ending: AtomicBool,
    clients: Mutex<Vec<Client>>,
}

impl Shared {
    pub(crate) fn clients(&self) -> MutexGuard<'_, Vec<Client>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StreamServer {
    /// Starts one.
    ///
    /// # Errors
    /// No port is free.
    pub fn start() -> io::Result<Self> {
        let port = free_port()?;
        Ok(Self { port, up: Some(Up::start(port)?) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// How many clients are connected to a path.
    pub fn clients(&self, path: &str) -> usize {
        self.up.as_ref().map_or(0, |up| {
            up.shared.clients().iter().filter(|client| client.path() == path).count()
        })
    }

    /// Sends a message to all clients of a path. It has been handed to the system when this
    /// returns; of a client that could not be sent to, the connection is ended.
    pub fn send(&self, path: &str, message: &StreamMessage<'_>) {
        if let Some(up) = &self.up {
            up.shared.clients().retain(|client| client.path() != path || client.send(message));
        }
    }

    /// Ends it at once, with all connections.
    pub fn kill(&mut self) {
        if let Some(up) = self.up.take() {
            up.end(self.port);
        }
    }

    /// Starts it again on the same port, without clients.
    ///
    /// # Errors
    /// Somebody else has taken the port.
    pub fn restart(&mut self) -> io::Result<()> {
        self.kill();
        self.up = Some(Up::start(self.port)?);
        Ok(())
    }
}

impl Drop for StreamServer {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Up {
    fn start(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let shared = Arc::new(Shared::default());
        let (alive, until_the_end) = bounded::<()>(0);
        let accepting = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        let beating = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                while until_the_end.recv_timeout(HEARTBEAT) == Err(RecvTimeoutError::Timeout) {
                    shared.clients().retain(Client::beat);
                }
            }
        });
        Ok(Self { shared, threads: vec![accepting, beating], alive })
    }

    fn end(self, port: u16) {
        let Self { shared, threads, alive } = self;
        drop(alive);
        shared.is_ending.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts; if nobody listens any more it needs no waking.
        drop(TcpStream::connect((Ipv4Addr::LOCALHOST, port)));
        for thread in threads {
            drop(thread.join());
        }
        shared.clients().drain(..).for_each(|client| client.close());
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept() {
        if shared.is_ending.load(Ordering::SeqCst) {
            return;
        }
        if shared.clients().len() < CLIENTS_MAX {
            let shared = Arc::clone(shared);
            // Ends with its connection.
            std::thread::spawn(move || client::serve(stream, &shared));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};

    use super::*;

    fn ask(server: &StreamServer, head: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        BufReader::new(stream)
    }

    fn head(reader: &mut BufReader<TcpStream>) -> String {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
        }
        head
    }

    #[test]
    fn server_sent_events_go_to_the_clients_of_their_path() {
        let mut server = StreamServer::start().unwrap();
        let mut one = ask(&server, "GET /events/a?x=1 HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(head(&mut one).starts_with("HTTP/1.1 200 "));
        assert_eq!((server.clients("/events/a"), server.clients("/events/b")), (1, 0));
        server.send("/events/b", &StreamMessage { data: b"another", ..StreamMessage::default() });
        let message = StreamMessage { name: Some("paid"), id: Some("7"), data: b"x\ny" };
        server.send("/events/a", &message);
        let mut text = String::new();
        while !text.ends_with("\n\n") {
            let mut line = String::new();
            one.read_line(&mut line).unwrap();
            text += if line.starts_with(':') { "" } else { &line };
        }
        assert_eq!(text, "event: paid\nid: 7\ndata: x\ndata: y\n\n");
        server.kill();
        let mut rest = String::new();
        // Closed or reset: gone.
        drop(one.read_to_string(&mut rest));
        assert!(TcpStream::connect(server.address()).is_err());
        server.restart().unwrap();
        assert_eq!(server.clients("/events/a"), 0);
    }

    #[test]
    fn websockets_get_frames_and_their_pings_are_answered() {
        let server = StreamServer::start().unwrap();
        // The example of RFC 6455, section 1.3.
        let mut client = ask(
            &server,
            "GET /events HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        );
        let answer = head(&mut client);
        assert!(answer.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
        let data = vec![b'x'; 300];
        server.send("/events", &StreamMessage { data: b"Hello", ..StreamMessage::default() });
        server.send("/events", &StreamMessage { data: &[0xff], ..StreamMessage::default() });
        server.send("/events", &StreamMessage { data: &data, ..StreamMessage::default() });
        let mut frames = [0; 7 + 3 + 304];
        client.read_exact(&mut frames).unwrap();
        assert_eq!(&frames[..10], b"\x81\x05Hello\x82\x01\xff");
        assert_eq!(frames[10..14], [0x81, 126, 1, 44]);
        // A ping of `ab`, masked by 1, 2, 3, 4.
        client.get_mut().write_all(&[0x89, 0x82, 1, 2, 3, 4, b'a' ^ 1, b'b' ^ 2]).unwrap();
        let mut pong = [0; 4];
        client.read_exact(&mut pong).unwrap();
        assert_eq!(&pong, b"\x8a\x02ab");
    }

    #[test]
    fn other_paths_are_refused() {
        let server = StreamServer::start().unwrap();
        for (path, status) in [("/secret/x", "401"), ("/elsewhere", "404")] {
            let mut client = ask(&server, &format!("GET {path} HTTP/1.1\r\n\r\n"));
            assert!(head(&mut client).starts_with(&format!("HTTP/1.1 {status} ")));
        }
    }
}
