//! How many may be in at once: connections beyond that are told so, and closed.

use std::{
    future::Future as _,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::serve::Listener;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, Sleep, sleep},
};

/// Most connections to a dashboard at once; those beyond are answered 503. A browser has six at
/// most for all pages of one address, one of them for a page's frames.
pub const CONNECTIONS_MAX: usize = 128;
/// Most that are told just now that there is no room; those beyond are closed without a word.
const TURNED_AWAY_MAX: usize = 16;
/// How long a connection may go without an answer, or a part of one: for as long as nothing whole
/// is asked, nothing is read, or nothing has been asked since. A stream of frames has something to
/// say at least every 15 s.
const SILENCE_MAX: Duration = Duration::from_secs(40);
/// How long whoever is turned away may take to read it.
const PATIENCE: Duration = Duration::from_secs(1);
/// What they are told.
const FULL: &str = "too many connections to this dashboard: close some of its pages\n";

/// A listener with a bound on what it has let in.
#[derive(Debug)]
pub(crate) struct Doors {
    listener: TcpListener,
    silence_max: Duration,
    room: Arc<Semaphore>,
    turning_away: Arc<Semaphore>,
}

impl Doors {
    pub(crate) fn new(listener: TcpListener) -> Self {
        Self::patient(listener, SILENCE_MAX)
    }

    fn patient(listener: TcpListener, silence_max: Duration) -> Self {
        let [room, turning_away] =
            [CONNECTIONS_MAX, TURNED_AWAY_MAX].map(|most| Arc::new(Semaphore::new(most)));
        Self { listener, silence_max, room, turning_away }
    }

    /// Tells one that there is no room, on a task of its own.
    fn turn_away(&self, stream: TcpStream) {
        if let Ok(permit) = Arc::clone(&self.turning_away).try_acquire_owned() {
            tokio::spawn(async move {
                // Whoever does not listen is told nothing.
                let _ignored = tokio::time::timeout(PATIENCE, tell(stream)).await;
                drop(permit);
            });
        }
    }
}

/// Answers whatever is asked. What comes is read until the other end closes: closed before, the
/// kernel would reset the connection and with it the answer.
async fn tell(mut stream: TcpStream) -> io::Result<()> {
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\ncontent-length: \
         {}\r\nretry-after: 5\r\nconnection: close\r\n\r\n{FULL}",
        FULL.len()
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await?;
    let mut unread = [0; 1024];
    while stream.read(&mut unread).await? > 0 {}
    Ok(())
}

impl Listener for Doors {
    type Io = Guest;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Guest, SocketAddr) {
        loop {
            let (stream, address) = Listener::accept(&mut self.listener).await;
            match Arc::clone(&self.room).try_acquire_owned() {
                Ok(permit) => {
                    let silence_max = self.silence_max;
                    let until = Box::pin(sleep(silence_max));
                    return (Guest { stream, silence_max, until, _permit: permit }, address);
                }
                Err(_) => self.turn_away(stream),
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that was let in; closed, it makes room for another.
/// It is closed too when it has not been written to for long: whoever never asks holds no place.
#[derive(Debug)]
pub(crate) struct Guest {
    stream: TcpStream,
    silence_max: Duration,
    until: Pin<Box<Sleep>>,
    _permit: OwnedSemaphorePermit,
}

impl Guest {
    /// Something was written: it may be silent for as long again.
    fn wrote(&mut self) {
        self.until.as_mut().reset(Instant::now() + self.silence_max);
    }
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
            self.wrote();
        }
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        if matches!(written, Poll::Ready(Ok(_))) {
            self.wrote();
        }
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
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
    use super::*;

    /// Whoever asks nothing, only the beginning of something, or nothing more, is closed.
    #[tokio::test]
    async fn nobody_holds_a_place_without_asking() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let app = axum::Router::new().route("/", axum::routing::get(|| async { "ok" }));
        let doors = Doors::patient(listener, Duration::from_millis(200));
        let room = Arc::clone(&doors.room);
        let serving = tokio::spawn(async move { axum::serve(doors, app).await });
        for asked in ["", "GET / HTTP/1.1\r\nHost: x", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(asked.as_bytes()).await.unwrap();
            let mut answer = Vec::new();
            let read = stream.read_to_end(&mut answer);
            tokio::time::timeout(Duration::from_secs(20), read).await.expect("it is closed").ok();
            assert_eq!(answer.starts_with(b"HTTP/1.1 200"), asked.ends_with("\r\n\r\n"));
        }
        let all = room.acquire_many(CONNECTIONS_MAX as u32);
        drop(tokio::time::timeout(Duration::from_secs(20), all).await.expect("all free").unwrap());
        serving.abort();
    }
}
