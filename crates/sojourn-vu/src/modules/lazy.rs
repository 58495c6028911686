//! Globals that are made when a script first asks for them: most never do, and each costs memory.

use sojourn_script::js::object::{Accessor, Property};
use sojourn_script::js::{self, Ctx, Object, Value};

use super::{text, webcrypto};

/// Their names.
const NAMES: [&str; 3] = ["crypto", "TextEncoder", "TextDecoder"];

/// Sets them.
pub(super) fn set(ctx: &Ctx<'_>) -> js::Result<()> {
    for name in NAMES {
        set_one(&ctx.globals(), name)?;
    }
    Ok(())
}

fn set_one<'js>(globals: &Object<'js>, name: &'static str) -> js::Result<()> {
    let get = move |ctx: Ctx<'js>| {
        let value = make(&ctx, name)?;
        keep(&ctx, name, value.clone())?;
        Ok::<_, js::Error>(value)
    };
    let set = move |ctx: Ctx<'js>, value: Value<'js>| keep(&ctx, name, value);
    globals.prop(name, Accessor::new(get, set).configurable())
}

fn make<'js>(ctx: &Ctx<'js>, name: &str) -> js::Result<Value<'js>> {
    match name {
        "crypto" => webcrypto::make(ctx).map(Object::into_value),
        _ => text::make(ctx)?.get(name),
    }
}

fn keep<'js>(ctx: &Ctx<'js>, name: &str, value: Value<'js>) -> js::Result<()> {
    ctx.globals().prop(name, Property::from(value).configurable().writable())
}

/// `k6/experimental/webcrypto`, the older way to the same.
pub(super) fn webcrypto<'js>(ctx: &Ctx<'js>) -> js::Result<Object<'js>> {
    let crypto: Object<'js> = ctx.globals().get("crypto")?;
    let module = Object::new(ctx.clone())?;
    module.set("crypto", crypto)?;
    Ok(module)
}
