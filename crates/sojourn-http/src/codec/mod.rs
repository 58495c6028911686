//! HTTP as sans-IO codecs: bytes in, pieces out; no socket, no clock. HTTP/2 is in [`h2`], the rest
//! here is HTTP/1.1.
//!
//! [`ResponseParser`] is fed whatever arrived and yields the head, slices of the body and the end.
//! However the bytes are split, the pieces join to the same answer. Framing follows RFC 9112 §6–7.

mod body;
mod chunked;
mod error;
pub(crate) mod h2;
mod head;
mod known;
mod response;

pub(crate) use body::{Body, BodyError};
pub use chunked::{Chunked, ChunkedPiece};
pub use error::CodecError;
pub(crate) use head::{Coding, Head};
pub(crate) use known::KnownHeads;
pub(crate) use response::{Piece, ResponseParser};
