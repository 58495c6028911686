//! Redis: a pool of connections that outlive iterations, and commands as tasks.
//!
//! The protocol is RESP2: <https://redis.io/docs/latest/develop/reference/protocol-spec/>.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncRead as _, AsyncReadExt as _, AsyncWriteExt as _,
    BufReader, ReadBuf,
};
use tokio::sync::Semaphore;

use super::dial::{Endpoint, Stream, Traffic};
use super::{Event, Link};

/// Longest line: type, number, simple text or error.
const LINE_BYTES_MAX: u64 = 64 << 10;
/// Most bytes of a reply.
const REPLY_BYTES_MAX: usize = 64 << 20;
/// Deepest array within arrays.
const DEPTH_MAX: usize = 32;

/// A command: its name and its arguments.
pub(crate) type Command = Vec<Vec<u8>>;

/// What came of a command: what the server replied, or why nothing did.
pub(crate) type Answer = Result<Reply, String>;

/// What a server replies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    /// A simple or a bulk text.
    Text(Vec<u8>),
    Integer(i64),
    Nil,
    List(Vec<Self>),
    /// The server's own error, as it says it.
    Error(String),
}

/// A server, and how it is spoken to.
pub(crate) struct Server {
    pub(crate) endpoint: Endpoint,
    /// What each connection begins with: who we are, which database.
    pub(crate) greeting: Vec<Command>,
    pub(crate) dial_timeout: Duration,
    /// How long a reply is waited for; `None`: for ever.
    pub(crate) reply_timeout: Option<Duration>,
    /// Most connections at a time; further commands wait.
    pub(crate) connections_max: usize,
}

/// Connections to a server, made when they are needed.
pub(crate) struct Pool {
    server: Server,
    idle: Mutex<Vec<Connection>>,
    places: Semaphore,
    traffic: Arc<Traffic>,
}

impl Pool {
    pub(crate) fn new(server: Server, traffic: Arc<Traffic>) -> Self {
        let places = Semaphore::new(server.connections_max);
        Self { server, idle: Mutex::default(), places, traffic }
    }

    /// Sends a command and tells the link what came of it. Where the task is aborted meanwhile, its
    /// connection is gone too: a reply that comes later belongs to nobody.
    pub(crate) async fn run(self: Arc<Self>, link: Arc<Link>, command: Command) {
        let answer = self.ask(&command).await;
        link.tell(Event::Redis(answer)).await;
    }

    /// Closes the connections that nobody uses.
    pub(crate) fn close(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    async fn ask(&self, command: &Command) -> Answer {
        // Never closed.
        let _place = self.places.acquire().await.map_err(|error| error.to_string())?;
        let timeout = self.server.reply_timeout;
        if let Some(mut connection) = self.idle().await {
            match connection.exchange(command, timeout).await {
                Ok(reply) => return Ok(self.keep(connection, reply)),
                Err(Failed::Told(told)) => return Err(told),
                // The server has closed it just now, so the command is sent once more.
                Err(Failed::Unanswered(_)) => {}
            }
        }
        let mut connection = self.dial().await?;
        let reply = connection.exchange(command, timeout).await.map_err(Failed::told)?;
        Ok(self.keep(connection, reply))
    }

    /// The connection is free again.
    fn keep(&self, connection: Connection, reply: Reply) -> Reply {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        reply
    }

    /// A connection that the server has not closed.
    async fn idle(&self) -> Option<Connection> {
        loop {
            let mut connection = {
                let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
                idle.pop()?
            };
            if connection.is_alive().await {
                return Some(connection);
            }
        }
    }

    async fn dial(&self) -> Result<Connection, String> {
        let Server { endpoint, greeting, dial_timeout, reply_timeout, .. } = &self.server;
        let dialled = endpoint.dial(Arc::clone(&self.traffic));
        let late = |_| format!("dial tcp {}: i/o timeout", endpoint.address());
        let stream = tokio::time::timeout(*dial_timeout, dialled).await.map_err(late)?;
        let stream = stream.map_err(|error| error.to_string())?;
        let mut connection = Connection { stream: BufReader::new(stream) };
        for command in greeting {
            let replied = connection.exchange(command, *reply_timeout).await;
            if let Reply::Error(why) = replied.map_err(Failed::told)? {
                return Err(why);
            }
        }
        Ok(connection)
    }
}

/// Why there is no reply.
enum Failed {
    /// The connection ended before the first byte of one.
    Unanswered(String),
    Told(String),
}

impl Failed {
    fn told(self) -> String {
        match self {
            Self::Unanswered(told) | Self::Told(told) => told,
        }
    }
}

struct Connection {
    stream: BufReader<Box<dyn Stream>>,
}

impl Connection {
    async fn exchange(
        &mut self,
        command: &Command,
        timeout: Option<Duration>,
    ) -> Result<Reply, Failed> {
        let exchanged = async {
            let broken = |error: std::io::Error| Failed::Unanswered(lost(&error));
            self.stream.get_mut().write_all(&encoded(command)).await.map_err(broken)?;
            self.stream.get_mut().flush().await.map_err(broken)?;
            if self.stream.fill_buf().await.map_err(broken)?.is_empty() {
                return Err(broken(std::io::ErrorKind::UnexpectedEof.into()));
            }
            reply(&mut self.stream).await.map_err(Failed::Told)
        };
        match timeout {
            None => exchanged.await,
            Some(timeout) => match tokio::time::timeout(timeout, exchanged).await {
                Ok(replied) => replied,
                Err(_) => Err(Failed::Told("i/o timeout: no reply came in time".to_owned())),
            },
        }
    }

    /// Whether nothing has come since the last reply: neither an end nor what nobody asked for.
    async fn is_alive(&mut self) -> bool {
        if !self.stream.buffer().is_empty() {
            return false;
        }
        let mut byte = [0; 1];
        let stream = self.stream.get_mut();
        poll_fn(|context| {
            let mut buffer = ReadBuf::new(&mut byte);
            Poll::Ready(Pin::new(&mut *stream).poll_read(context, &mut buffer).is_pending())
        })
        .await
    }
}

fn lost(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => "EOF: the server has closed the connection".to_owned(),
        _ => error.to_string(),
    }
}

/// An array of bulk texts.
fn encoded(command: &Command) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", command.len()).into_bytes();
    for part in command {
        bytes.extend_from_slice(format!("${}\r\n", part.len()).as_bytes());
        bytes.extend_from_slice(part);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// A value without what is in it.
enum Head {
    Whole(Reply),
    /// So many values follow.
    Array(usize),
}

/// Reads a reply, arrays within arrays by a stack of our own.
pub(crate) async fn reply(stream: &mut (impl AsyncBufRead + Unpin)) -> Answer {
    let mut open: Vec<(usize, Vec<Reply>)> = Vec::new();
    let mut bytes_left = REPLY_BYTES_MAX;
    loop {
        let mut value = match head(stream, &mut bytes_left).await? {
            Head::Whole(value) => value,
            Head::Array(0) => Reply::List(Vec::new()),
            Head::Array(_) if open.len() >= DEPTH_MAX => {
                return Err("redis: a reply of too many arrays within arrays".to_owned());
            }
            Head::Array(count) => {
                open.push((count, Vec::new()));
                continue;
            }
        };
        // What is complete now is a value of what holds it.
        loop {
            let Some((count, mut values)) = open.pop() else { return Ok(value) };
            values.push(value);
            if values.len() < count {
                open.push((count, values));
                break;
            }
            value = Reply::List(values);
        }
    }
}

async fn head(
    stream: &mut (impl AsyncBufRead + Unpin),
    bytes_left: &mut usize,
) -> Result<Head, String> {
    let mut line = Vec::new();
    let read = (&mut *stream).take(LINE_BYTES_MAX).read_until(b'\n', &mut line).await;
    let read = read.map_err(|error| lost(&error))?;
    if read == 0 {
        return Err(lost(&std::io::ErrorKind::UnexpectedEof.into()));
    }
    let malformed = || "redis: the server does not speak the protocol of Redis".to_owned();
    let line = line.strip_suffix(b"\r\n").ok_or_else(malformed)?;
    let (kind, rest) = line.split_first().ok_or_else(malformed)?;
    let text = || String::from_utf8_lossy(rest).into_owned();
    let number = || text().parse::<i64>().map_err(|_| malformed());
    take(bytes_left, line.len() + 2)?;
    Ok(match kind {
        b'+' => Head::Whole(Reply::Text(rest.to_vec())),
        b'-' => Head::Whole(Reply::Error(text())),
        b':' => Head::Whole(Reply::Integer(number()?)),
        b'$' | b'*' if rest == b"-1" => Head::Whole(Reply::Nil),
        b'$' => {
            let length = usize::try_from(number()?).map_err(|_| malformed())?;
            take(bytes_left, length.saturating_add(2))?;
            // It grows as bytes come: a length alone asks for no memory.
            let (mut bytes, all) = (Vec::new(), length as u64 + 2);
            let read = (&mut *stream).take(all).read_to_end(&mut bytes).await;
            if (read.map_err(|error| lost(&error))? as u64) < all {
                return Err(lost(&std::io::ErrorKind::UnexpectedEof.into()));
            }
            if bytes.split_off(length) != b"\r\n" {
                return Err(malformed());
            }
            Head::Whole(Reply::Text(bytes))
        }
        b'*' => Head::Array(usize::try_from(number()?).map_err(|_| malformed())?),
        _ => return Err(malformed()),
    })
}

fn take(bytes_left: &mut usize, bytes: usize) -> Result<(), String> {
    *bytes_left = bytes_left
        .checked_sub(bytes)
        .ok_or_else(|| format!("redis: a reply of more than {REPLY_BYTES_MAX} bytes"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Answer {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (mut server, client) = tokio::io::duplex(7);
        let bytes = bytes.to_vec();
        runtime.block_on(async move {
            tokio::spawn(async move {
                server.write_all(&bytes).await.ok();
            });
            reply(&mut BufReader::new(Box::new(client) as Box<dyn Stream>)).await
        })
    }

    #[test]
    fn replies_are_read_in_pieces() {
        let text = |text: &str| Reply::Text(text.as_bytes().to_vec());
        for (bytes, expected) in [
            (&b"+OK\r\n"[..], text("OK")),
            (b":-12\r\n", Reply::Integer(-12)),
            (b"$-1\r\n", Reply::Nil),
            (b"*-1\r\n", Reply::Nil),
            (b"$0\r\n\r\n", text("")),
            (b"$4\r\na\r\nb\r\n", text("a\r\nb")),
            (b"-ERR no\r\n", Reply::Error("ERR no".to_owned())),
            (b"*0\r\n", Reply::List(Vec::new())),
            (
                b"*3\r\n*2\r\n:1\r\n$1\r\nx\r\n$-1\r\n*1\r\n*0\r\n",
                Reply::List(vec![
                    Reply::List(vec![Reply::Integer(1), text("x")]),
                    Reply::Nil,
                    Reply::List(vec![Reply::List(Vec::new())]),
                ]),
            ),
        ] {
            assert_eq!(read(bytes), Ok(expected));
        }
    }

    #[test]
    fn what_is_no_reply_is_an_error() {
        let deep = "*1\r\n".repeat(40);
        for (bytes, part) in [
            (&b""[..], "closed the connection"),
            (b"$5\r\nab", "closed the connection"),
            (b"HTTP/1.1 400\r\n", "does not speak"),
            (b"$2\r\nabcd", "does not speak"),
            (b":x\r\n", "does not speak"),
            (b"$-2\r\n", "does not speak"),
            (b"$999999999999\r\n", "more than"),
            (deep.as_bytes(), "too many arrays"),
        ] {
            let told = read(bytes).unwrap_err();
            assert!(told.contains(part), "{told}");
        }
    }

    #[test]
    fn commands_are_arrays_of_texts() {
        let command = vec![b"SET".to_vec(), b"k".to_vec(), "é".as_bytes().to_vec()];
        assert_eq!(encoded(&command), "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\né\r\n".as_bytes());
    }
}
