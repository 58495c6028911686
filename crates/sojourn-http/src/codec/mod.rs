//! HTTP/1.1 answers as a sans-IO codec: bytes in, pieces out; no socket, no clock.
//!
//! [`ResponseParser`] is fed whatever arrived and yields the head, slices of the body and the end.
//! However the bytes are split, the pieces join to the same answer. Framing follows RFC 9112 §6–7.

mod body;
mod chunked;
mod error;
mod head;
mod response;

pub(crate) use body::{Body, BodyError};
pub use chunked::{Chunked, ChunkedPiece};
pub use error::CodecError;
pub(crate) use head::Head;
pub(crate) use response::{Piece, ResponseParser};
