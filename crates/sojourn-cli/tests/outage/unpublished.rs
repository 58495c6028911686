//! How a system tells of orders where no connector publishes: a server of streams sends to whoever
//! is connected, and webhooks are posted.

use std::{
    io::{self, BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use sojourn_broker::{Outcome, Publisher};
use sojourn_clock::now_ns;
use sojourn_testkit::{StreamMessage, StreamServer};

use super::script::Mortal;

/// How long a receiver of webhooks may take to answer one.
const ANSWER: Duration = Duration::from_secs(10);

/// A server of streams that the system tells by.
#[derive(Clone)]
pub(super) struct Streams(Arc<Mutex<Up>>);

struct Up {
    server: StreamServer,
    is_dead: bool,
}

impl Streams {
    pub(super) fn start() -> Self {
        let server = StreamServer::start().unwrap();
        Self(Arc::new(Mutex::new(Up { server, is_dead: false })))
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.lock().server.address()
    }

    /// Sends to the clients of a path.
    pub(super) fn sender(&self, path: &str) -> Box<dyn Publisher> {
        Box::new(Sender { streams: self.clone(), path: path.to_owned(), outcomes: Vec::new() })
    }

    fn lock(&self) -> MutexGuard<'_, Up> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Mortal for Streams {
    fn is_dead(&self) -> bool {
        self.lock().is_dead
    }

    fn kill(&mut self) {
        let mut up = self.lock();
        up.server.kill();
        up.is_dead = true;
    }

    fn restart(&mut self) {
        let mut up = self.lock();
        up.server.restart().unwrap();
        up.is_dead = false;
    }
}

struct Sender {
    streams: Streams,
    path: String,
    outcomes: Vec<Outcome>,
}

impl Publisher for Sender {
    fn try_publish(
        &mut self,
        token: u64,
        _topic: &str,
        _key: Option<&[u8]>,
        _headers: &[(&str, &[u8])],
        payload: &[u8],
    ) -> Result<(), String> {
        let up = self.streams.lock();
        if up.is_dead {
            return Err("the server is dead".to_owned());
        }
        up.server.send(&self.path, &StreamMessage { data: payload, ..StreamMessage::default() });
        self.outcomes.push(Outcome { token, acked_ns: now_ns(), error: None });
        Ok(())
    }

    fn poll(&mut self, outcomes: &mut Vec<Outcome>) {
        outcomes.append(&mut self.outcomes);
    }
}

/// Posts webhooks, one after the other, by a connection that it keeps.
pub(super) struct Poster {
    to: SocketAddr,
    connection: Option<BufReader<TcpStream>>,
    outcomes: Vec<Outcome>,
}

impl Poster {
    pub(super) fn new(to: SocketAddr) -> Self {
        Self { to, connection: None, outcomes: Vec::new() }
    }

    /// The status of the answer.
    fn post(&mut self, payload: &[u8]) -> io::Result<u16> {
        let reader = match &mut self.connection {
            Some(reader) => reader,
            none => {
                let stream = TcpStream::connect(self.to)?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(ANSWER))?;
                none.insert(BufReader::new(stream))
            }
        };
        let head = format!(
            "POST /orders HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n",
            self.to,
            payload.len()
        );
        reader.get_mut().write_all(&[head.as_bytes(), payload].concat())?;
        let mut answer = String::new();
        // An event is answered without a body.
        while !answer.ends_with("\r\n\r\n") {
            if reader.read_line(&mut answer)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        status.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

impl Publisher for Poster {
    fn try_publish(
        &mut self,
        token: u64,
        _topic: &str,
        _key: Option<&[u8]>,
        _headers: &[(&str, &[u8])],
        payload: &[u8],
    ) -> Result<(), String> {
        let error = match self.post(payload) {
            Ok(204) => None,
            Ok(status) => Some(format!("answered {status}")),
            Err(error) => {
                self.connection = None;
                Some(error.to_string())
            }
        };
        self.outcomes.push(Outcome { token, acked_ns: now_ns(), error });
        Ok(())
    }

    fn poll(&mut self, outcomes: &mut Vec<Outcome>) {
        outcomes.append(&mut self.outcomes);
    }
}
