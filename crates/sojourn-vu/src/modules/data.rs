//! `k6/data`: arrays that all users share.

use std::rc::Rc;
use std::sync::Arc;

use sojourn_script::js::prelude::{Opt, This};
use sojourn_script::js::{self, Array, Coerced, Ctx, Exception, FromJs, Function, Object, Value};

use super::coerced::Any;
use crate::shared_array::SharedArray;
use crate::user::User;

/// How scripts see a shared array: a frozen proxy that asks for elements one by one. The methods of
/// arrays work on it, since they ask for `length` and elements.
const WRAP: &str = r#"
(function (length, parsed) {
    const freeze = (value) => {
        if (value !== null && typeof value === "object") Object.values(value).forEach(freeze);
        return Object.freeze(value);
    };
    const get = (at) => freeze(parsed(at));
    const deny = () => { throw new TypeError("SharedArray is immutable") };
    const index = (key) => {
        if (typeof key !== "string") return -1;
        const number = Number(key);
        return Number.isInteger(number) && number >= 0 && number < length ? number : -1;
    };
    return new Proxy([], {
        get: (target, key, self) => {
            if (key === "length") return length;
            const at = index(key);
            return at >= 0 ? get(at) : Reflect.get(target, key, self);
        },
        has: (target, key) => index(key) >= 0 || Reflect.has(target, key),
        ownKeys: () => [...Array(length).keys()].map(String).concat("length"),
        getOwnPropertyDescriptor: (target, key) => {
            if (key === "length") return Reflect.getOwnPropertyDescriptor(target, key);
            const at = index(key);
            return at < 0 ? undefined
                : { value: get(at), enumerable: true, configurable: true, writable: false };
        },
        set: deny, deleteProperty: deny, defineProperty: deny, setPrototypeOf: deny,
    });
})
"#;

pub(super) fn make<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    let user = Rc::clone(user);
    let construct =
        move |ctx: Ctx<'js>, _: This<Value<'js>>, name: Any<'js>, make: Opt<Value<'js>>| {
            construct(&user, &ctx, name.0, make.0.as_ref())
        };
    let constructor = Function::new(ctx.clone(), construct)?.with_name("SharedArray")?;
    module.set("SharedArray", constructor.with_constructor(true))?;
    Ok(module)
}

fn construct<'js>(
    user: &User,
    ctx: &Ctx<'js>,
    name: Value<'js>,
    make: Option<&Value<'js>>,
) -> js::Result<Value<'js>> {
    user.only_at_init(ctx, "new SharedArray")?;
    let fail = |told: &str| Exception::throw_message(ctx, told);
    let name = Coerced::<String>::from_js(ctx, name)?.0;
    if name.is_empty() {
        return Err(fail("empty name provided to SharedArray's constructor"));
    }
    let make = make.filter(|make| !make.is_null()).and_then(|make| make.as_function()).ok_or_else(
        || fail("a function is expected as the second argument of SharedArray's constructor"),
    )?;
    let arrays = &user.host.settings.shared_arrays;
    let array = match arrays.get(&name) {
        Some(known) => known,
        None => arrays.insert(&name, collect(ctx, make)?),
    };
    wrap(ctx, array)
}

/// The array as scripts see it.
pub(super) fn wrap<'js>(ctx: &Ctx<'js>, array: Arc<SharedArray>) -> js::Result<Value<'js>> {
    let length = array.len();
    // It must hold no values of the script: the engine would not see them when it looks for cycles.
    let parsed = move |ctx: Ctx<'js>, index: usize| element(&ctx, &array, index);
    let wrap: Function<'js> = ctx.eval(WRAP)?;
    wrap.call((length, Function::new(ctx.clone(), parsed)?))
}

fn collect<'js>(ctx: &Ctx<'js>, make: &Function<'js>) -> js::Result<SharedArray> {
    let made: Value<'js> = make.call(())?;
    if made.is_promise() {
        let told = "SharedArray constructor does not support async functions as second argument";
        return Err(Exception::throw_message(ctx, told));
    }
    let Some(made) = made.into_array() else {
        let told = "only arrays can be made into SharedArray";
        return Err(Exception::throw_message(ctx, told));
    };
    elements(ctx, &made).map(SharedArray::new)
}

fn elements<'js>(ctx: &Ctx<'js>, array: &Array<'js>) -> js::Result<Vec<String>> {
    let json = |value: js::Result<Value<'js>>| {
        let json = ctx.json_stringify(value?)?;
        let told = "an element of a SharedArray has no JSON, such as undefined or a function";
        json.ok_or_else(|| Exception::throw_syntax(ctx, told))?.to_string()
    };
    array.iter::<Value<'js>>().map(json).collect()
}

fn element<'js>(ctx: &Ctx<'js>, array: &Arc<SharedArray>, index: usize) -> js::Result<Value<'js>> {
    match array.get(index) {
        Some(json) => ctx.json_parse(json),
        None => Ok(Value::new_undefined(ctx.clone())),
    }
}
