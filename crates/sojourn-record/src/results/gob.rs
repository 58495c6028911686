//! Go's `gob`: a stream of messages that describe their own types, see the documentation of Go's
//! package `encoding/gob`.
//!
//! A message is its length and that many bytes. Type definitions have the negative of the type's
//! number in front, values the number itself. The writer sends the same definitions at the start of
//! every stream; the reader goes by whatever definitions it finds.

mod decode;
mod encode;
mod plan;
mod time;
mod types;
mod wire;

pub(super) use decode::Decoder;
pub(super) use encode::{PREFIX, encode};

/// Seconds from the first of January of the year 1, where Go's time begins, to the Unix epoch.
const YEAR_1_TO_UNIX_S: i64 = 62_135_596_800;
