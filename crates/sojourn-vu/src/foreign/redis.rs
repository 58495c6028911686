//! Replies of Redis.

use tokio::io::BufReader;

use super::portions::{Portions, now};
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
    let mut stream = BufReader::new(Portions::new(bytes, portion));
    loop {
        if stream.buffer().is_empty() && stream.get_ref().is_empty() {
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
