//! Readers of what servers say, for tests with bytes from anywhere: bytes in, outcome out.

mod portions;
mod redis;
mod websocket;

pub use redis::{Replies, read_redis_replies};
pub use websocket::{Messages, read_websocket};
