//! Header compression, RFC 7541.
//!
//! The decoder has the whole of it, since servers use all of it. The encoder makes blocks that lean
//! on the static table only: such a block holds on every connection, so it is made once per
//! distinct request and not once per request.

mod decoder;
mod dynamic_table;
mod encoder;
mod huffman;
mod integer;
mod static_table;

pub(crate) use decoder::{Decoder, Effect, Fields, TABLE_BYTES_MAX};
pub(crate) use encoder::{write_field, write_size_update};

/// What the size of a table or a list counts per field besides name and value (RFC 7541 §4.1).
pub(crate) const FIELD_OVERHEAD: usize = 32;

/// Why a block can't be decoded; the fragment reads after "answered with ".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken(pub(crate) &'static str);
