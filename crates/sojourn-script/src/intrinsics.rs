//! The engine's own globals: those that most scripts never touch are made when one is first asked
//! for. They are a fifth of an engine's memory, and of the time that making one takes. What the
//! engine reaches without its name (regular expressions by literals, promises by `await`) is always
//! there.

use std::ptr::NonNull;

use rquickjs::context::intrinsic::{Eval, Json, Promise, RegExp, RegExpCompiler};
use rquickjs::object::Accessor;
use rquickjs::{Context, Ctx, Object, Result, Runtime, Value, qjs};

/// A group of globals that come together.
#[derive(Clone, Copy)]
struct Group {
    names: &'static [&'static str],
    add: unsafe fn(NonNull<qjs::JSContext>),
}

macro_rules! groups {
    ($($constant:ident: $function:ident, $($name:literal)*;)*) => {
        $(
            const $constant: Group = Group {
                names: &[$($name),*],
                add: |context| {
                    // SAFETY: the caller hands in a context that lives. The function only defines
                    // properties, and prototypes of classes that nothing has used so far.
                    #[allow(unsafe_code)]
                    unsafe { qjs::$function(context.as_ptr()) };
                },
            };
        )*
    };
}

groups! {
    BUFFERS: JS_AddIntrinsicTypedArrays,
        "ArrayBuffer" "SharedArrayBuffer" "DataView" "Int8Array" "Uint8Array" "Uint8ClampedArray"
        "Int16Array" "Uint16Array" "Int32Array" "Uint32Array" "BigInt64Array" "BigUint64Array"
        "Float16Array" "Float32Array" "Float64Array" "Atomics";
    DATE: JS_AddIntrinsicDate, "Date";
    COLLECTIONS: JS_AddIntrinsicMapSet, "Map" "Set" "WeakMap" "WeakSet";
    PROXY: JS_AddIntrinsicProxy, "Proxy";
    WEAK: JS_AddIntrinsicWeakRef, "WeakRef" "FinalizationRegistry";
    PERFORMANCE: JS_AddPerformance, "performance";
    DOM_EXCEPTION: JS_AddIntrinsicDOMException, "DOMException";
}

const ALL: [Group; 7] = [BUFFERS, DATE, COLLECTIONS, PROXY, WEAK, PERFORMANCE, DOM_EXCEPTION];

/// A context with all globals, some of them to be made on demand.
pub(crate) fn context(runtime: &Runtime) -> Result<Context> {
    type Always = (Eval, RegExpCompiler, RegExp, Json, Promise);
    let context = Context::custom::<Always>(runtime)?;
    context.with(|ctx| ALL.iter().try_for_each(|group| promise(&ctx, *group)))?;
    Ok(context)
}

/// Sets the group's names so that the first one read, or set to something else, makes them all.
fn promise(ctx: &Ctx<'_>, group: Group) -> Result<()> {
    let globals = ctx.globals();
    for name in group.names {
        let get = move |ctx| made(ctx, group, name);
        let set = move |ctx, value| replaced(ctx, group, name, value);
        globals.prop(*name, Accessor::new(get, set).configurable())?;
    }
    Ok(())
}

fn made<'js>(ctx: Ctx<'js>, group: Group, name: &str) -> Result<Value<'js>> {
    fulfil(&ctx, group);
    ctx.globals().get(name)
}

/// A script's own instead of one: the group is made first, or it would be made over that later.
fn replaced<'js>(ctx: Ctx<'js>, group: Group, name: &str, own: Value<'js>) -> Result<()> {
    fulfil(&ctx, group);
    ctx.globals().set(name, own)
}

/// Makes a group's globals, if that has not been done.
fn fulfil(ctx: &Ctx<'_>, group: Group) {
    let globals = ctx.globals();
    for name in group.names {
        // A property of ours can be removed.
        globals.remove(*name).ok();
    }
    // SAFETY: see `groups!`; the context is entered just now.
    #[allow(unsafe_code)]
    unsafe {
        (group.add)(ctx.as_raw());
    }
}

/// Makes sure that buffers made by functions of ours are whole objects.
pub fn buffers(ctx: &Ctx<'_>) -> Result<()> {
    let globals: Object<'_> = ctx.globals();
    // Reading it is what makes it.
    globals.get::<_, Value<'_>>("ArrayBuffer").map(|_| ())
}
