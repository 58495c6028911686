//! A stream of which somebody has already read the beginning.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// The bytes that were read, then the stream.
pub(super) struct Rewind {
    first: Vec<u8>,
    read: usize,
    stream: TcpStream,
}

impl Rewind {
    pub(super) fn new(first: Vec<u8>, stream: TcpStream) -> Self {
        Self { first, read: 0, stream }
    }
}

impl AsyncRead for Rewind {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let rest = self.first.len() - self.read;
        if rest == 0 {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        let taken = rest.min(buffer.remaining());
        buffer.put_slice(&self.first[self.read..self.read + taken]);
        self.read += taken;
        if self.read == self.first.len() {
            (self.first, self.read) = (Vec::new(), 0);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Rewind {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
