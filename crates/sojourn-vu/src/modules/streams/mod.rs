//! `k6/experimental/streams`: streams that are read chunk by chunk.
//!
//! All of it is in `streams.js`: sources, chunks and promises are the script's own.

use sojourn_script::js::{self, Ctx, Function, Object};

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> js::Result<Object<'js>> {
    let make: Function<'js> = ctx.eval(include_str!("streams.js"))?;
    make.call(())
}
