//! Attack results in and out: what `report`, `encode` and `plot` share.

mod input;
mod interrupt;
mod output;

pub(crate) use input::open;
pub(crate) use output::{Output, Reader};
