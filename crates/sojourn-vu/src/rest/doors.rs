//! How many may ask at once, and how long each may take: connections beyond that are closed.

use std::future::Future as _;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};

/// Most connections at once; those beyond are closed without a word.
const CONNECTIONS_MAX: usize = 64;
/// How long a connection may go without an answer: for as long as nothing whole is asked, the test
/// has not answered (see [`super::PATIENCE`], which is shorter), or nothing more is asked.
const SILENCE_MAX: Duration = Duration::from_secs(super::PATIENCE.as_secs() + 15);

/// A listener with a bound on what it has let in.
#[derive(Debug)]
pub(super) struct Doors {
    listener: TcpListener,
    silence_max: Duration,
    room: Arc<Semaphore>,
}

impl Doors {
    pub(super) fn new(listener: TcpListener) -> Self {
        Self::patient(listener, SILENCE_MAX)
    }

    fn patient(listener: TcpListener, silence_max: Duration) -> Self {
        Self { listener, silence_max, room: Arc::new(Semaphore::new(CONNECTIONS_MAX)) }
    }
}

impl Listener for Doors {
    type Io = Guest;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Guest, SocketAddr) {
        loop {
            let (stream, address) = Listener::accept(&mut self.listener).await;
            if let Ok(permit) = Arc::clone(&self.room).try_acquire_owned() {
                let silence_max = self.silence_max;
                let until = Box::pin(sleep(silence_max));
                return (Guest { stream, silence_max, until, _permit: permit }, address);
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that was let in; closed, it makes room for another.
#[derive(Debug)]
pub(super) struct Guest {
    stream: TcpStream,
    silence_max: Duration,
    until: Pin<Box<Sleep>>,
    _permit: OwnedSemaphorePermit,
}

impl AsyncRead for Guest {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.until.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Guest {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        if matches!(written, Poll::Ready(Ok(_))) {
            let until = Instant::now() + self.silence_max;
            self.until.as_mut().reset(until);
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    async fn listening(silence_max: Duration) -> (SocketAddr, tokio::task::JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let app = Router::new().route("/", get(|| async { "ok" }));
        let doors = Doors::patient(listener, silence_max);
        let serving = async move { axum::serve(doors, app).await.unwrap() };
        (address, tokio::spawn(serving))
    }

    /// What comes until the other end closes.
    async fn all_of(stream: &mut TcpStream) -> Vec<u8> {
        let mut answer = Vec::new();
        // A reset is an end as well.
        tokio::time::timeout(LONG, stream.read_to_end(&mut answer)).await.expect("closed").ok();
        answer
    }

    #[tokio::test]
    async fn who_asks_nothing_whole_is_closed() {
        let (address, serving) = listening(Duration::from_millis(200)).await;
        for asked in ["", "GET / HTTP/1.1\r\nHost: x", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(asked.as_bytes()).await.unwrap();
            let answer = all_of(&mut stream).await;
            assert_eq!(answer.starts_with(b"HTTP/1.1 200"), asked.ends_with("\r\n\r\n"));
        }
        serving.abort();
    }

    #[tokio::test]
    async fn one_too_many_is_closed_at_once() {
        let (address, serving) = listening(LONG * 10).await;
        let mut held = Vec::new();
        for _ in 0..CONNECTIONS_MAX {
            held.push(TcpStream::connect(address).await.unwrap());
        }
        let mut beyond = TcpStream::connect(address).await.unwrap();
        assert!(all_of(&mut beyond).await.is_empty());
        drop(held);
        serving.abort();
    }
}
