//! Attack results: one record a request, in the three encodings that Vegeta's commands exchange.
//!
//! A result is borrowed from whoever holds its bytes: the attack that made it, or the reader that
//! found it. Neither side allocates per record. [`Encoder`] appends to a buffer; `docs/from-vegeta.md`
//! tells what is the same as in Vegeta and what is not.

mod attack_result;
mod csv;
mod encoder;
mod gob;
mod headers;
mod json;
mod text;
mod timestamp;

pub use attack_result::AttackResult;
pub use encoder::{Encoder, Encoding};
pub use headers::{HEADERS_MAX, Headers};
pub use timestamp::Timestamp;
