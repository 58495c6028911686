//! `k6/metrics`: metrics that scripts declare.

use std::rc::Rc;
use std::sync::{Arc, PoisonError};

use sojourn_k6::metrics::{Contains, MetricKind, TagSet};
use sojourn_script::js::prelude::{Opt, This};
use sojourn_script::js::{self, Coerced, Ctx, Exception, FromJs, Function, Object, Value};

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
        let construct = move |ctx: Ctx<'js>,
                              this: This<Object<'js>>,
                              name: Value<'js>,
                              time: Opt<Value<'js>>| {
            construct(&user, &ctx, kind, this.0, &name, time.0)
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
    name: &Value<'js>,
    is_time: Option<Value<'js>>,
) -> js::Result<Object<'js>> {
    if user.phase.get() != Phase::Init {
        return Err(Exception::throw_message(ctx, "metrics must be declared in the init context"));
    }
    let name: String = Coerced::<String>::from_js(ctx, name.clone())?.0;
    let is_time = match is_time {
        Some(value) => Coerced::<bool>::from_js(ctx, value)?.0,
        None => false,
    };
    let contains = if is_time { Contains::Time } else { Contains::Default };
    let registry = &user.host.settings.registry;
    let declared = {
        let mut registry = registry.lock().unwrap_or_else(PoisonError::into_inner);
        if user.host.settings.bundle_is_frozen() && registry.find(&name).is_none() {
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
            user.not_at_init(&ctx, "adding to a metric")?;
            let own = Arc::clone(&user.tags.borrow());
            let tags = with_tags(&user, &ctx, &own, tags.0.as_ref())?;
            match number(&ctx, value.0)? {
                Some(value) => {
                    user.add_tagged(metric, &tags, sojourn_clock::now_ns(), value);
                    Ok(true)
                }
                None => refuse(&user, &ctx, &name),
            }
        },
    )?;
    Ok(object)
}

/// A value to add: booleans are 0 and 1; `None` for what is no number.
fn number<'js>(ctx: &Ctx<'js>, value: Option<Value<'js>>) -> js::Result<Option<f64>> {
    let Some(value) = value.filter(|value| !value.is_null() && !value.is_undefined()) else {
        return Ok(None);
    };
    if let Some(held) = value.as_bool() {
        return Ok(Some(f64::from(u8::from(held))));
    }
    let number = Coerced::<f64>::from_js(ctx, value)?.0;
    Ok((!number.is_nan()).then_some(number))
}

/// What is no number is not added: said, or thrown where the option `throw` is on.
fn refuse(user: &User, ctx: &Ctx<'_>, name: &str) -> js::Result<bool> {
    let told = format!("'{name}' has been given a value that is no number");
    if user.host.settings.options.throw == Some(true) {
        return Err(Exception::throw_type(ctx, &told));
    }
    user.host.settings.console.warn(&told);
    Ok(false)
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
    let Some(tags) = tags.as_object() else {
        return Err(Exception::throw_type(ctx, "tags must be an object"));
    };
    let mut pairs = Vec::new();
    for entry in tags.props::<String, Value<'js>>() {
        let (key, value) = entry?;
        if value.is_object() || value.is_null() || value.is_undefined() {
            let told = format!("the tag \"{key}\" must be a string, a number or a boolean");
            return Err(Exception::throw_type(ctx, &told));
        }
        pairs.push((key, Coerced::<String>::from_js(ctx, value)?.0));
    }
    Ok(pairs)
}
