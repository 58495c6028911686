//! Readers of what servers say, for tests with bytes from anywhere: bytes in, outcome out.

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, BufReader, ReadBuf};

use crate::sockets::redis::{Reply, reply};

/// What was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replies {
    /// Each reply, as it would be sent by a server.
    pub replies: Vec<Vec<u8>>,
    /// Deepest arrays within arrays.
    pub depth: usize,
    /// Why no further one was read, unless all bytes were.
    pub error: Option<String>,
}

/// Reads replies of Redis to the end, or to what is none; `portion` bytes come at a time.
pub fn read_redis_replies(bytes: &[u8], portion: usize) -> Replies {
    let mut read = Replies::default();
    let mut stream = BufReader::new(Portions { left: bytes, portion: portion.max(1) });
    loop {
        if stream.buffer().is_empty() && stream.get_ref().left.is_empty() {
            return read;
        }
        match now(reply(&mut stream)) {
            Ok(reply) => {
                let mut encoded = Vec::new();
                read.depth = read.depth.max(encode(&reply, &mut encoded));
                read.replies.push(encoded);
            }
            Err(why) => {
                read.error = Some(why);
                return read;
            }
        }
    }
}

/// How deep it is.
fn encode(reply: &Reply, out: &mut Vec<u8>) -> usize {
    match reply {
        Reply::Text(text) => {
            out.extend_from_slice(format!("${}\r\n", text.len()).as_bytes());
            out.extend_from_slice(text);
            out.extend_from_slice(b"\r\n");
            0
        }
        Reply::Integer(number) => {
            out.extend_from_slice(format!(":{number}\r\n").as_bytes());
            0
        }
        Reply::Nil => {
            out.extend_from_slice(b"$-1\r\n");
            0
        }
        Reply::Error(why) => {
            out.extend_from_slice(format!("-{why}\r\n").as_bytes());
            0
        }
        Reply::List(values) => {
            out.extend_from_slice(format!("*{}\r\n", values.len()).as_bytes());
            let depths = values.iter().map(|value| encode(value, out));
            1 + depths.fold(0, usize::max)
        }
    }
}

/// What a future yields that never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => panic!("bytes that are there were waited for"),
    }
}

/// Bytes that come in portions, at once.
struct Portions<'a> {
    left: &'a [u8],
    portion: usize,
}

impl AsyncRead for Portions<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let length = self.portion.min(self.left.len()).min(buffer.remaining());
        let (portion, left) = self.left.split_at(length);
        buffer.put_slice(portion);
        self.left = left;
        Poll::Ready(Ok(()))
    }
}
