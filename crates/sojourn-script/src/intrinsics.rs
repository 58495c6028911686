//! The engine's own globals: those that most scripts never touch are made when one is first asked
//! for. They are a fifth of an engine's memory, and of the time that making one takes. What the
//! engine reaches without its name (regular expressions by literals, promises by `await`) is always
//! there.

use std::ffi::c_int;
use std::ptr::NonNull;

use rquickjs::context::intrinsic::{Eval, Json, Promise, RegExp, RegExpCompiler};
use rquickjs::{Context, Ctx, Error, Exception, Object, Result, Runtime, Value, qjs};

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

/// A group has fewer names than this.
const NAMES_MAX: c_int = 64;

const ALL: [Group; 7] = [BUFFERS, DATE, COLLECTIONS, PROXY, WEAK, PERFORMANCE, DOM_EXCEPTION];

/// A context with all globals, some of them to be made on demand.
pub(crate) fn context(runtime: &Runtime) -> Result<Context> {
    type Always = (Eval, RegExpCompiler, RegExp, Json, Promise);
    let context = Context::custom::<Always>(runtime)?;
    context
        .with(|ctx| (0..).zip(ALL).try_for_each(|(number, group)| promise(&ctx, number, group)))?;
    Ok(context)
}

/// Sets the group's names so that the first one read, or set to something else, makes them all.
///
/// Each has one plain function of the engine's that knows its number, for getter and setter: two
/// functions of Rust's for each of some thirty names were an eighth of the time to make an engine.
fn promise(ctx: &Ctx<'_>, number: i32, group: Group) -> Result<()> {
    let raw = ctx.as_raw().as_ptr();
    for (place, name) in (0..).zip(group.names) {
        let which = number * NAMES_MAX + place;
        let configurable = qjs::JS_PROP_CONFIGURABLE as i32;
        // SAFETY: the context lives and is entered just now; the name is so many bytes. Defining
        // takes both references to the function over, whatever comes of it; the global object and
        // the atom are given back.
        #[allow(unsafe_code)]
        let outcome = unsafe {
            let function =
                qjs::JS_NewCFunctionData(raw, Some(answer), 0, which, 0, std::ptr::null_mut());
            let atom = qjs::JS_NewAtomLen(raw, name.as_ptr().cast(), name.len() as _);
            let globals = qjs::JS_GetGlobalObject(raw);
            let setter = qjs::JS_DupValue(raw, function);
            let outcome =
                qjs::JS_DefinePropertyGetSet(raw, globals, atom, function, setter, configurable);
            qjs::JS_FreeValue(raw, globals);
            qjs::JS_FreeAtom(raw, atom);
            outcome
        };
        if outcome < 0 {
            return Err(Error::Exception);
        }
    }
    Ok(())
}

/// Reads one of the names, or, given a value, sets it.
#[allow(unsafe_code)]
unsafe extern "C" fn answer(
    raw: *mut qjs::JSContext,
    _this: qjs::JSValue,
    count: c_int,
    arguments: *mut qjs::JSValue,
    which: c_int,
    _data: *mut qjs::JSValue,
) -> qjs::JSValue {
    let number = usize::try_from(which / NAMES_MAX).ok();
    let group = number.and_then(|number| ALL.get(number));
    let name = usize::try_from(which % NAMES_MAX).ok();
    let name = name.and_then(|place| group?.names.get(place));
    let (Some(context), Some(group), Some(name)) = (NonNull::new(raw), group, name) else {
        return qjs::JS_UNDEFINED;
    };
    // SAFETY: the engine calls it with the context that runs.
    let ctx = unsafe { Ctx::from_raw(context) };
    let answered = if count > 0 {
        // SAFETY: there is an argument, which stays the caller's: we keep a reference of our own.
        let own = unsafe { Value::from_raw(ctx.clone(), qjs::JS_DupValue(raw, *arguments)) };
        replaced(ctx.clone(), *group, name, own).map(|()| Value::new_undefined(ctx.clone()))
    } else {
        made(ctx.clone(), *group, name)
    };
    match answered {
        // SAFETY: the value lives; the caller gets a reference of its own.
        Ok(value) => unsafe { qjs::JS_DupValue(raw, value.as_raw()) },
        Err(error) => {
            // Otherwise one is under way already.
            if !matches!(error, Error::Exception) {
                Exception::throw_message(&ctx, &error.to_string());
            }
            qjs::JS_EXCEPTION
        }
    }
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
