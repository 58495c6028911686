//! Bytes that are there at once, as a connection brings them.

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use tokio::io::{AsyncRead, ReadBuf};

/// What a future yields that never waits.
pub(super) fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => panic!("bytes that are there were waited for"),
    }
}

/// Bytes that come in portions.
pub(super) struct Portions {
    left: Bytes,
    portion: usize,
}

impl Portions {
    /// So many come at a time, one at least.
    pub(super) fn new(bytes: &[u8], portion: usize) -> Self {
        Self { left: Bytes::copy_from_slice(bytes), portion: portion.max(1) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }
}

impl AsyncRead for Portions {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let length = self.portion.min(self.left.len()).min(buffer.remaining());
        buffer.put_slice(&self.left.split_to(length));
        Poll::Ready(Ok(()))
    }
}
