//! One JSON object a line.

mod encode;

pub(super) use encode::encode;
