//! How many may be in at once: connections beyond that are told so, and closed.

use std::{
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
};

/// Most connections to a dashboard at once; those beyond are answered 503. A browser has six at
/// most for all pages of one address, one of them for a page's frames.
pub const CONNECTIONS_MAX: usize = 128;
/// Most that are told just now that there is no room; those beyond are closed without a word.
const TURNED_AWAY_MAX: usize = 16;
/// How long whoever is turned away may take to read it.
const PATIENCE: Duration = Duration::from_secs(1);
/// What they are told.
const FULL: &str = "too many connections to this dashboard: close some of its pages\n";

/// A listener with a bound on what it has let in.
#[derive(Debug)]
pub(crate) struct Doors {
    listener: TcpListener,
    room: Arc<Semaphore>,
    turning_away: Arc<Semaphore>,
}

impl Doors {
    pub(crate) fn new(listener: TcpListener) -> Self {
        let [room, turning_away] =
            [CONNECTIONS_MAX, TURNED_AWAY_MAX].map(|most| Arc::new(Semaphore::new(most)));
        Self { listener, room, turning_away }
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
                Ok(permit) => return (Guest { stream, _permit: permit }, address),
                Err(_) => self.turn_away(stream),
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that was let in; closed, it makes room for another.
#[derive(Debug)]
pub(crate) struct Guest {
    stream: TcpStream,
    _permit: OwnedSemaphorePermit,
}

impl AsyncRead for Guest {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Guest {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
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
