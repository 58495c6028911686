//! HTTP/2, RFC 9113, as a sans-IO codec: bytes in, events out, and a buffer of bytes to send.
//!
//! [`Session`] is one connection's state: frames, header tables, windows, streams. It knows each
//! stream by the exchange it carries and never looks into a body. [`RequestBlocks`] turns a
//! rendered request into the header block that any session can send.

mod error;
mod frame;
mod head;
pub(crate) mod hpack;
mod peer;
mod reader;
mod request;
mod session;
mod streams;

pub(crate) use error::{ErrorCode, Http2Error};
pub(crate) use head::Http2Head;
pub(crate) use request::{RequestBlock, RequestBlocks, UnfitRequest, unframe};
pub(crate) use session::{Event, Limits, NewStream, Session};
