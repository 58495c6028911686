//! Globals that are made when a script first asks for them: most never do, and each costs memory.

use sojourn_script::js::object::{Accessor, Property};
use sojourn_script::js::{self, Ctx, Object, Value};

use super::{text, webcrypto};

/// Their names.
const NAMES: [&str; 3] = ["crypto", "TextEncoder", "TextDecoder"];

/// Sets them.
pub(super) fn set(ctx: &Ctx<'_>) -> js::Result<()> {
    for name in NAMES {
        on_demand(&ctx.globals(), name, false, move |ctx| make(ctx, name))?;
    }
    Ok(())
}

/// Sets a global that is made when it is first read; it is like any other from then on, and may be
/// set before. `is_listed`: among what `for … in` goes through.
pub(crate) fn on_demand<'js>(
    globals: &Object<'js>,
    name: &'static str,
    is_listed: bool,
    make: impl Fn(&Ctx<'js>) -> js::Result<Value<'js>> + 'js,
) -> js::Result<()> {
    let keep = move |ctx: &Ctx<'js>, value: Value<'js>| {
        let kept = Property::from(value).configurable().writable();
        ctx.globals().prop(name, if is_listed { kept.enumerable() } else { kept })
    };
    let get = move |ctx: Ctx<'js>| {
        let value = make(&ctx)?;
        keep(&ctx, value.clone())?;
        Ok::<_, js::Error>(value)
    };
    let set = move |ctx: Ctx<'js>, value: Value<'js>| keep(&ctx, value);
    let accessor = Accessor::new(get, set).configurable();
    globals.prop(name, if is_listed { accessor.enumerable() } else { accessor })
}

fn make<'js>(ctx: &Ctx<'js>, name: &str) -> js::Result<Value<'js>> {
    match name {
        "crypto" => webcrypto::make(ctx).map(Object::into_value),
        _ => text::make(ctx)?.get(name),
    }
}

/// `k6/experimental/webcrypto`, the older way to the same.
pub(super) fn webcrypto<'js>(ctx: &Ctx<'js>) -> js::Result<Object<'js>> {
    let crypto: Object<'js> = ctx.globals().get("crypto")?;
    let module = Object::new(ctx.clone())?;
    module.set("crypto", crypto)?;
    Ok(module)
}
