//! `k6/metrics`: metrics that scripts declare.

use std::rc::Rc;
use std::sync::{Arc, PoisonError};

use sojourn_k6::metrics::{Contains, MetricKind, Registry, TagSet};
use sojourn_script::js::prelude::{Opt, This};
use sojourn_script::js::{self, Coerced, Ctx, Exception, FromJs, Function, Object, Value};

use super::coerced::Text;
use crate::user::{Phase, User};

pub(super) fn make<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    let kinds = [
        ("Counter", MetricKind::Counter),
        ("Gauge", MetricKind::Gauge),
        ("Rate", MetricKind::Rate),
        ("Trend", MetricKind::Trend),
    ];
    for (name, kind) in kinds {
        let user = Rc::clone(user);
        let construct =
            move |ctx: Ctx<'js>, this: This<Object<'js>>, name: Text, time: Opt<Value<'js>>| {
                construct(&user, &ctx, kind, this.0, name.0, time.0)
            };
        let constructor = Function::new(ctx.clone(), construct)?.with_name(name)?;
        module.set(name, constructor.with_constructor(true))?;
    }
    Ok(module)
}

fn construct<'js>(
    user: &Rc<User>,
    ctx: &Ctx<'js>,
    kind: MetricKind,
    _this: Object<'js>,
    name: String,
    is_time: Option<Value<'js>>,
) -> js::Result<Object<'js>> {
    if user.phase.get() != Phase::Init {
        return Err(Exception::throw_message(ctx, "metrics must be declared in the init context"));
    }
    let is_time = match is_time {
        Some(value) => Coerced::<bool>::from_js(ctx, value)?.0,
        None => false,
    };
    let contains = if is_time { Contains::Time } else { Contains::Default };
    let registry = &user.host.settings.registry;
    let declared = {
        let mut registry = registry.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = user.host.settings.bundle_is_frozen() && registry.find(&name).is_none();
        if is_new && Registry::new().declare(&name, kind, contains).is_ok() {
            let told = format!(
                "the metric \"{name}\" was not declared when the script's top level ran first"
            );
            return Err(Exception::throw_message(ctx, &told));
        }
        registry.declare(&name, kind, contains)
    };
    let metric = declared.map_err(|error| Exception::throw_message(ctx, &error.to_string()))?;
    let object = Object::new(ctx.clone())?;
    object.set("name", name.as_str())?;
    let user = Rc::clone(user);
    super::function(
        &object,
        "add",
        move |ctx: Ctx<'js>, value: Opt<Value<'js>>, tags: Opt<Value<'js>>| {
            user.not_at_init(&ctx, "Adding to metrics")?;
            let own = Arc::clone(&user.tags.borrow());
            let tags = add_tags(&user, &ctx, &own, &name, tags.0.as_ref())?;
            let Some(given) = value.0 else {
                let told = format!("no value was provided for metric '{name}'");
                return refuse(&user, &ctx, &told);
            };
            match number(&ctx, &given)? {
                Some(value) => {
                    user.add_tagged(metric, &tags, sojourn_clock::now_ns(), value);
                    Ok(true)
                }
                None => {
                    let given = Coerced::<String>::from_js(&ctx, given)?.0;
                    let told = format!("'{given}' is an invalid value for metric '{name}'");
                    refuse(&user, &ctx, &told)
                }
            }
        },
    )?;
    Ok(object)
}

/// A value to add: booleans are 0 and 1; `None` for what is no number.
fn number<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> js::Result<Option<f64>> {
    if value.is_null() || value.is_undefined() {
        return Ok(None);
    }
    if let Some(held) = value.as_bool() {
        return Ok(Some(f64::from(u8::from(held))));
    }
    let number = Coerced::<f64>::from_js(ctx, value.clone())?.0;
    Ok((!number.is_nan()).then_some(number))
}

/// What is no number is not added: said, or thrown where the option `throw` is on.
fn refuse(user: &User, ctx: &Ctx<'_>, problem: &str) -> js::Result<bool> {
    let told = format!("{problem}, a number or a boolean value is expected");
    if user.host.settings.options.throw == Some(true) {
        return Err(Exception::throw_message(ctx, &told));
    }
    user.host.settings.console.warn(&told);
    Ok(false)
}

/// The tags of a sample that a script adds.
fn add_tags<'js>(
    user: &User,
    ctx: &Ctx<'js>,
    base: &Arc<TagSet>,
    name: &str,
    tags: Option<&Value<'js>>,
) -> js::Result<Arc<TagSet>> {
    with_tags(user, ctx, base, tags).map_err(|error| {
        let Some(thrown) = ctx.catch().into_exception() else { return error };
        let problem = thrown.message().unwrap_or_default();
        let told = format!("cannot add tags for the '{name}' custom metric: {problem}");
        Exception::throw_message(ctx, &told)
    })
}

/// Tags with those that a script gives. Values are strings, numbers or booleans.
pub(crate) fn with_tags<'js>(
    user: &User,
    ctx: &Ctx<'js>,
    base: &Arc<TagSet>,
    tags: Option<&Value<'js>>,
) -> js::Result<Arc<TagSet>> {
    let pairs = match tags {
        Some(tags) => pairs(ctx, tags)?,
        None => Vec::new(),
    };
    if pairs.is_empty() {
        return Ok(Arc::clone(base));
    }
    let borrowed: Vec<_> =
        pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    Ok(user.host.tags(base, &borrowed))
}

/// The pairs of an object of tags.
pub(crate) fn pairs<'js>(ctx: &Ctx<'js>, tags: &Value<'js>) -> js::Result<Vec<(String, String)>> {
    if tags.is_null() || tags.is_undefined() {
        return Ok(Vec::new());
    }
    if let Some(text) = tags.as_string() {
        // As of any other object: a string's members are its letters.
        let letters = text.to_string()?;
        let letters = letters.chars().enumerate();
        return Ok(letters.map(|(at, letter)| (at.to_string(), letter.to_string())).collect());
    }
    let Some(tags) = tags.as_object() else { return Ok(Vec::new()) };
    let mut pairs = Vec::new();
    for entry in tags.props::<String, Value<'js>>() {
        let (key, value) = entry?;
        if value.is_object() || value.is_null() || value.is_undefined() {
            let told = format!(
                "invalid value for metric tag '{key}': only String, Boolean and Number types are \
                 accepted as a metric tag values"
            );
            return Err(Exception::throw_message(ctx, &told));
        }
        pairs.push((key, Coerced::<String>::from_js(ctx, value)?.0));
    }
    Ok(pairs)
}
