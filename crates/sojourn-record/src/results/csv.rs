//! Comma-separated values as RFC 4180 has them: twelve columns and no header line.

mod decode;
mod encode;

pub(super) use decode::decode;
pub(super) use encode::encode;
