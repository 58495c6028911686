//! `sojourn`: journeys in scripts. What is listened to is declared at the top level; what must come
//! of an iteration is said in it, and followed beside the script. Beside them, consumers: scripts
//! that take messages as the system's own do.

mod consumer;
mod events;
mod expecting;
mod message;
mod publish;

use std::rc::Rc;

use serde_json::Value as Json;
use sojourn_script::js::prelude::Opt;
use sojourn_script::js::{self, Coerced, Ctx, Exception, FromJs, Object, Value};

use super::function;
use crate::journeys::ScriptFiles;
use crate::user::{Phase, User};

pub(super) fn make<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    let own = Rc::clone(user);
    function(
        &module,
        "tap",
        move |ctx: Ctx<'js>, name: Opt<Value<'js>>, channel: Opt<Value<'js>>| {
            tap(&own, &ctx, name.0.as_ref(), channel.0)
        },
    )?;
    let own = Rc::clone(user);
    function(&module, "journey", move |ctx: Ctx<'js>, key: Opt<Value<'js>>| {
        expecting::journey(&own, &ctx, key.0.as_ref())
    })?;
    module.set("events", events::make(ctx, user)?)?;
    let own = Rc::clone(user);
    function(
        &module,
        "publish",
        move |ctx: Ctx<'js>, tap: Opt<Value<'js>>, message: Opt<Object<'js>>| {
            publish::publish(&own, &ctx, tap.0.as_ref(), message.0.as_ref())
        },
    )?;
    let own = Rc::clone(user);
    function(
        &module,
        "consumer",
        move |ctx: Ctx<'js>, name: Opt<Value<'js>>, written: Opt<Value<'js>>| {
            consumer::make(&own, &ctx, name.0.as_ref(), written.0)
        },
    )?;
    Ok(module)
}

/// `tap(name, channel)`.
fn tap<'js>(
    user: &Rc<User>,
    ctx: &Ctx<'js>,
    name: Option<&Value<'js>>,
    channel: Option<Value<'js>>,
) -> js::Result<Object<'js>> {
    user.only_at_init(ctx, "tap()")?;
    let name = name.and_then(text).ok_or_else(|| throw(ctx, "tap(): its name is to be a text"))?;
    let written = json(ctx, channel)?;
    declare(user, ctx, |files, is_frozen| {
        user.host.settings.journeys.declared().tap(&name, written, is_frozen, files)
    })?;
    let object = Object::new(ctx.clone())?;
    object.set("name", name.as_str())?;
    let own = Rc::clone(user);
    function(
        &object,
        "stage",
        move |ctx: Ctx<'js>, stage: Opt<Value<'js>>, written: Opt<Value<'js>>| {
            self::stage(&own, &ctx, &name, (stage.0.as_ref(), written.0))
        },
    )?;
    Ok(object)
}

/// `tap.stage(name, { where, key })`.
fn stage<'js>(
    user: &Rc<User>,
    ctx: &Ctx<'js>,
    tap: &str,
    (name, written): (Option<&Value<'js>>, Option<Value<'js>>),
) -> js::Result<Object<'js>> {
    user.only_at_init(ctx, "stage()")?;
    let name = name.and_then(text).ok_or_else(|| throw(ctx, "stage(): it is to have a name"))?;
    let written = json(ctx, written)?;
    declare(user, ctx, |files, is_frozen| {
        user.host.settings.journeys.declared().stage(tap, &name, &written, is_frozen, files)
    })?;
    let object = Object::new(ctx.clone())?;
    object.set("name", name)?;
    object.set("tap", tap)?;
    Ok(object)
}

fn declare<T>(
    user: &User,
    ctx: &Ctx<'_>,
    make: impl FnOnce(&ScriptFiles<'_>, bool) -> Result<T, String>,
) -> js::Result<T> {
    let settings = &user.host.settings;
    let files = ScriptFiles { folder: &settings.folder, env: &settings.env };
    make(&files, settings.bundle_is_frozen()).map_err(|problem| throw(ctx, &problem))
}

/// A value as JSON; null where there is none.
fn json<'js>(ctx: &Ctx<'js>, value: Option<Value<'js>>) -> js::Result<Json> {
    let Some(value) = value else { return Ok(Json::Null) };
    let Some(text) = ctx.json_stringify(value)? else { return Ok(Json::Null) };
    serde_json::from_str(&text.to_string()?).map_err(|error| throw(ctx, &error.to_string()))
}

fn throw(ctx: &Ctx<'_>, told: &str) -> js::Error {
    Exception::throw_message(ctx, told)
}

/// Throws outside iterations, and outside `setup` and `teardown` where those will do.
fn only_running(user: &User, ctx: &Ctx<'_>, what: &str, is_call_too: bool) -> js::Result<()> {
    match user.phase.get() {
        Phase::Iteration => Ok(()),
        Phase::Call if is_call_too => Ok(()),
        _ if is_call_too => Err(throw(ctx, &format!("{what} can't be called at the top level"))),
        _ => Err(throw(ctx, &format!("{what} can only be called in an iteration"))),
    }
}

/// A text that is not empty.
fn text(value: &Value<'_>) -> Option<String> {
    let text = value.as_string()?.to_string().ok()?;
    (!text.is_empty()).then_some(text)
}

/// A key: a text that is not empty, or a number.
fn key<'js>(ctx: &Ctx<'js>, value: Option<&Value<'js>>) -> js::Result<String> {
    let number = |value: &Value<'js>| {
        let is_number = value.is_number() && value.as_number().is_some_and(f64::is_finite);
        is_number.then(|| Coerced::<String>::from_js(ctx, value.clone()).ok()).flatten()
    };
    let key = value.and_then(|value| text(value).or_else(|| number(value).map(|text| text.0)));
    key.ok_or_else(|| throw(ctx, "a key is a text that is not empty, or a number"))
}

/// A duration: a text such as 500ms, or milliseconds.
fn duration_ns(ctx: &Ctx<'_>, value: &Value<'_>, what: &str) -> js::Result<u64> {
    let told = |why: &str| throw(ctx, &format!("{what}: {why}; write '500ms', '30s' or 1500"));
    if let Some(text) = text(value) {
        return sojourn_plan::duration_ns(&text).map_err(|why| told(&why.to_string()));
    }
    match value.as_number() {
        Some(ms) if ms > 0.0 && ms < 1e15 => Ok((ms * 1e6) as u64),
        _ => Err(told("it is no duration")),
    }
}

/// The name of a tap or stage: the text itself, or what `tap()` and `stage()` have returned.
fn name_of(ctx: &Ctx<'_>, value: &Value<'_>) -> js::Result<String> {
    if let Some(name) = text(value) {
        return Ok(name);
    }
    let object = value.as_object();
    for inline in ["where", "key", "match"] {
        if object.is_some_and(|object| object.contains_key(inline).unwrap_or(false)) {
            let told = format!(
                "a stage with its own \"{inline}\" can't be made here, since events may have come \
                 by already: declare it at the script's top level, with \
                 tap(…).stage('name', {{ {inline}: … }})"
            );
            return Err(throw(ctx, &told));
        }
    }
    let name = object.and_then(|object| object.get::<_, Value<'_>>("name").ok());
    name.as_ref()
        .and_then(text)
        .ok_or_else(|| throw(ctx, "a tap, a stage, or the name of one is expected here"))
}
