//! One JSON object a line.

mod decode;
mod encode;

pub(super) use decode::decode;
pub(super) use encode::encode;
