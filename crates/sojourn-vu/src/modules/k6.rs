//! `k6`: checks, groups, sleeping, failing.

use std::rc::Rc;
use std::sync::Arc;

use sojourn_k6::metrics::{SystemTag, builtin};
use sojourn_script::js::prelude::Opt;
use sojourn_script::js::{self, Coerced, Ctx, Exception, FromJs, Function, IntoJs, Object, Value};

use super::coerced::{Any, Number, Text, Whole};
use super::{function, metrics};
use crate::user::User;

/// What separates the names of groups in a path.
const SEPARATOR: &str = "::";

pub(super) fn make<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    let own = Rc::clone(user);
    function(&module, "sleep", move |ctx: Ctx<'js>, seconds: Number| sleep(&own, &ctx, seconds.0))?;
    let own = Rc::clone(user);
    function(
        &module,
        "check",
        move |ctx: Ctx<'js>, value: Any<'js>, sets: Any<'js>, tags: Opt<Value<'js>>| {
            check(&own, &ctx, &value.0, &sets.0, tags.0)
        },
    )?;
    let own = Rc::clone(user);
    function(&module, "group", move |ctx: Ctx<'js>, name: Text, call: Any<'js>| {
        group(&own, &ctx, &name.0, &call.0)
    })?;
    function(&module, "fail", |ctx: Ctx<'js>, reason: Text| -> js::Result<()> {
        Err(Exception::throw_message(&ctx, &reason.0))
    })?;
    function(&module, "randomSeed", |ctx: Ctx<'js>, seed: Whole| random_seed(&ctx, seed.0))?;
    Ok(module)
}

fn sleep(user: &User, ctx: &Ctx<'_>, seconds: f64) -> js::Result<()> {
    let length_ns = (seconds.max(0.0) * 1e9) as u64;
    let operation = user.operation();
    let until_ns = sojourn_clock::now_ns().saturating_add(length_ns);
    user.host.set_timer(until_ns, user.index, operation);
    user.wait_or_throw(ctx, operation).map(|_| ())
}

fn check<'js>(
    user: &User,
    ctx: &Ctx<'js>,
    value: &Value<'js>,
    sets: &Value<'js>,
    tags: Option<Value<'js>>,
) -> js::Result<bool> {
    user.not_at_init(ctx, "Using check()")?;
    let Some(sets) = conditions(ctx, sets)? else { return Ok(true) };
    let own = Arc::clone(&user.tags.borrow());
    let base = metrics::with_tags(user, ctx, &own, tags.as_ref())?;
    let has_tag = user.host.settings.system_tags.has(SystemTag::Check);
    let mut all = true;
    for entry in sets.props::<String, Value<'js>>() {
        let (name, condition) = entry?;
        if name.contains(SEPARATOR) {
            return Err(no_separator(ctx));
        }
        let held = holds(ctx, value, condition)?;
        let tags =
            if has_tag { user.host.tags(&base, &[("check", &name)]) } else { Arc::clone(&base) };
        let passed = matches!(held, Ok(true));
        let at_ns = user.host.unix_ns(sojourn_clock::now_ns());
        let group = user.group.borrow();
        user.host.shard.borrow_mut().check(&group, &name, &tags, at_ns, passed);
        drop(group);
        all &= held?;
    }
    Ok(all)
}

/// The conditions by their names; `None` for a value that has no members.
fn conditions<'js>(ctx: &Ctx<'js>, sets: &Value<'js>) -> js::Result<Option<Object<'js>>> {
    if sets.is_undefined() {
        return Err(Exception::throw_message(ctx, "no checks provided to `check`"));
    }
    if sets.is_null() {
        return Err(Exception::throw_type(ctx, "the checks given to check() are null"));
    }
    // As of any other object: a string's members are its letters.
    if let Some(text) = sets.as_string() {
        let letters: Vec<String> = text.to_string()?.chars().map(String::from).collect();
        return letters.into_js(ctx).map(Value::into_object);
    }
    Ok(sets.as_object().cloned())
}

/// What a condition comes to: a function is called with the value.
///
/// The outer error is that of a condition that is none; the inner one what a condition has thrown,
/// which counts as a failed check first.
fn holds<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
    condition: Value<'js>,
) -> js::Result<js::Result<bool>> {
    let result = match condition.as_function() {
        Some(function) => match function.call::<_, Value<'js>>((value.clone(),)) {
            Ok(result) => result,
            Err(thrown) => return Ok(Err(thrown)),
        },
        None => condition,
    };
    if result.is_promise() {
        let told = "the built-in check() does not support async functions as arguments. Use the \
                    JavaScript utils library as a replacement. Refer to \
                    https://grafana.com/docs/k6/latest/javascript-api/jslib/utils/check/ for more \
                    info";
        return Err(Exception::throw_message(ctx, told));
    }
    Ok(Coerced::<bool>::from_js(ctx, result).map(|held| held.0))
}

fn no_separator(ctx: &Ctx<'_>) -> js::Error {
    let told = format!("group and check names may not contain '{SEPARATOR}'");
    Exception::throw_message(ctx, &told)
}

fn group<'js>(
    user: &User,
    ctx: &Ctx<'js>,
    name: &str,
    call: &Value<'js>,
) -> js::Result<Value<'js>> {
    user.not_at_init(ctx, "Using group()")?;
    if name.contains(SEPARATOR) {
        return Err(no_separator(ctx));
    }
    let Some(call) = call.as_function() else {
        return Err(Exception::throw_message(
            ctx,
            "group() requires a callback as a second argument",
        ));
    };
    let outer_path = user.group.borrow().clone();
    // A group without a name is the one it is in.
    let path =
        if name.is_empty() { outer_path.clone() } else { format!("{outer_path}{SEPARATOR}{name}") };
    let began_ns = sojourn_clock::now_ns();
    user.host.shard.borrow_mut().enter_group(&path, user.host.unix_ns(began_ns));
    enter(user, path);
    let result = call.call::<_, Value<'js>>(());
    let ended_ns = sojourn_clock::now_ns();
    let tags = Arc::clone(&user.tags.borrow());
    let took_ms = (ended_ns - began_ns) as f64 / 1e6;
    user.add_tagged(builtin::GROUP_DURATION, &tags, ended_ns, took_ms);
    enter(user, outer_path);
    result
}

/// From now on the user is in this group.
pub(crate) fn enter(user: &User, path: String) {
    if user.host.settings.system_tags.has(SystemTag::Group) {
        let tags = user.host.tags(&user.tags.borrow(), &[("group", &path)]);
        *user.tags.borrow_mut() = tags;
    }
    *user.group.borrow_mut() = path;
}

/// Makes `Math.random` a function of the seed: the generator SplitMix64 (Steele, Lea, Flood 2014).
fn random_seed(ctx: &Ctx<'_>, seed: i64) -> js::Result<()> {
    let state = std::cell::Cell::new(seed as u64);
    let math: Object<'_> = ctx.globals().get("Math")?;
    math.set(
        "random",
        Function::new(ctx.clone(), move || {
            state.set(state.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
            let mut mixed = state.get();
            mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((mixed ^ mixed >> 31) >> 11) as f64 / (1_u64 << 53) as f64
        })?,
    )
}
