//! Attack results: one record a request, in the three encodings that Vegeta's commands exchange.
//!
//! A result is borrowed from whoever holds its bytes: the attack that made it, or the reader that
//! found it. Neither side allocates per record (a line of JSON costs the parser's own stack).
//! `docs/from-vegeta.md` tells what is the same as in Vegeta and what is not.

mod attack_result;
mod csv;
mod encoder;
mod error;
mod fault;
mod gob;
mod headers;
mod json;
mod lines;
mod merged;
mod reader;
mod slots;
mod source;
mod text;
mod timestamp;

pub use attack_result::AttackResult;
pub use encoder::{Encoder, Encoding};
pub use error::ResultsError;
pub use headers::{HEADERS_MAX, Headers};
pub use merged::MergedReader;
pub use reader::{Detail, ResultReader};
pub use timestamp::Timestamp;
