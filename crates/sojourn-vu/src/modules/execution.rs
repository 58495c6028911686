//! `k6/execution`: what a script can know of the test it is in, and how it can end it.

use std::rc::Rc;
use std::sync::atomic::Ordering;

use sojourn_script::js::function::IntoJsFunc;
use sojourn_script::js::object::{Accessor, Property};
use sojourn_script::js::prelude::Opt;
use sojourn_script::js::{self, Coerced, Ctx, Exception, FromJs, Function, Object, Value};

use super::function;
use crate::user::{Iteration, Phase, User};

/// A view of the user's tags (or metadata) that can be read and written like an object.
const VIEW: &str = r#"
(function (get, set, remove, keys) {
    return new Proxy({}, {
        get: (target, key) => (typeof key === "string" ? get(key) : undefined),
        set: (target, key, value) => { set(key, value); return true },
        deleteProperty: (target, key) => { remove(key); return true },
        has: (target, key) => get(key) !== undefined,
        ownKeys: () => keys(),
        getOwnPropertyDescriptor: (target, key) => {
            const value = get(key);
            return value === undefined ? undefined
                : { value, enumerable: true, configurable: true, writable: true };
        },
    });
})
"#;

/// The message with which `test.abort()` ends whatever runs.
pub(crate) const ABORTED: &str = "test aborted";

pub(super) fn make<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("scenario", scenario(ctx, user)?)?;
    module.set("instance", instance(ctx, user)?)?;
    module.set("vu", vu(ctx, user)?)?;
    module.set("test", test(ctx, user)?)?;
    Ok(module)
}

fn getter<'js, P, F>(object: &Object<'js>, name: &str, get: F) -> js::Result<()>
where
    F: IntoJsFunc<'js, P> + 'js,
{
    object.prop(name, Accessor::new_get(get).enumerable().configurable())
}

/// Throws outside iterations.
fn in_scenario(user: &User, ctx: &Ctx<'_>, what: &str) -> js::Result<()> {
    if user.phase.get() == Phase::Iteration {
        return Ok(());
    }
    let told = format!("getting {what} information outside of the VU context is not supported");
    Err(Exception::throw_message(ctx, &told))
}

fn scenario<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    let add = |name: &'static str, of: fn(&User) -> Shown| {
        let user = Rc::clone(user);
        getter(&object, name, move |ctx: Ctx<'js>| {
            in_scenario(&user, &ctx, "scenario")?;
            of(&user).into_value(&ctx)
        })
    };
    add("name", |user| text(user, |scenario| scenario.name.clone()))?;
    add("executor", |user| text(user, |scenario| scenario.kind().name().to_owned()))?;
    add("startTime", |user| {
        let start_ns = user.host.settings.progress.start_ns.load(Ordering::Relaxed);
        Shown::Number((user.host.unix_ns(start_ns + offset_ns(user)) / 1_000_000) as f64)
    })?;
    add("progress", |user| Shown::Number(progress(user)))?;
    add("iterationInInstance", |user| Shown::Number(user.iteration.get().in_test as f64))?;
    add("iterationInTest", |user| {
        let Iteration { scenario, in_test, .. } = user.iteration.get();
        let stripes = user.host.settings.scenarios.get(scenario).map(|known| &known.stripes);
        let number = stripes.and_then(|stripes| stripes.number(in_test));
        Shown::Number(number.unwrap_or(in_test) as f64)
    })?;
    Ok(object)
}

/// What a getter gives.
enum Shown {
    Number(f64),
    Text(String),
}

impl Shown {
    fn into_value<'js>(self, ctx: &Ctx<'js>) -> js::Result<Value<'js>> {
        use sojourn_script::js::IntoJs as _;
        match self {
            Self::Number(number) => number.into_js(ctx),
            Self::Text(text) => text.into_js(ctx),
        }
    }
}

fn text(user: &User, of: fn(&sojourn_k6::executors::Scenario) -> String) -> Shown {
    let scenario = user.host.settings.scenarios.get(user.iteration.get().scenario);
    Shown::Text(scenario.map(of).unwrap_or_default())
}

fn offset_ns(user: &User) -> u64 {
    let scenarios = &user.host.settings.scenarios;
    scenarios.get(user.iteration.get().scenario).map_or(0, |scenario| scenario.start_time_ns)
}

/// The share of the scenario's time, or iterations, that is over: 0 to 1.
fn progress(user: &User) -> f64 {
    let settings = &user.host.settings;
    let Some(scenario) = settings.scenarios.get(user.iteration.get().scenario) else { return 0.0 };
    if let Some(iterations) = scenario.iterations() {
        return (user.iteration.get().in_test as f64 / iterations.max(1) as f64).min(1.0);
    }
    let start_ns = settings.progress.start_ns.load(Ordering::Relaxed) + scenario.start_time_ns;
    let since_ns = sojourn_clock::now_ns().saturating_sub(start_ns);
    (since_ns as f64 / scenario.duration_ns().max(1) as f64).min(1.0)
}

fn instance<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    let add = |name: &'static str, of: fn(&User) -> f64| {
        let user = Rc::clone(user);
        getter(&object, name, move |ctx: Ctx<'js>| {
            user.not_at_init(&ctx, "getting instance information")?;
            Ok::<_, js::Error>(of(&user))
        })
    };
    add("iterationsCompleted", |user| {
        user.host.settings.progress.completed.load(Ordering::Relaxed) as f64
    })?;
    add("iterationsInterrupted", |user| {
        user.host.settings.progress.interrupted.load(Ordering::Relaxed) as f64
    })?;
    add("vusActive", |user| user.host.settings.progress.active.load(Ordering::Relaxed) as f64)?;
    add("vusInitialized", |user| {
        user.host.settings.progress.initialised.load(Ordering::Relaxed) as f64
    })?;
    add("currentTestRunDuration", |user| {
        let start_ns = user.host.settings.progress.start_ns.load(Ordering::Relaxed);
        match start_ns {
            0 => 0.0,
            _ => sojourn_clock::now_ns().saturating_sub(start_ns) as f64 / 1e6,
        }
    })?;
    Ok(object)
}

fn vu<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    let add = |name: &'static str, of: fn(&User) -> f64| {
        let user = Rc::clone(user);
        getter(&object, name, move |ctx: Ctx<'js>| {
            user.not_at_init(&ctx, "getting VU information")?;
            Ok::<_, js::Error>(of(&user))
        })
    };
    add("idInInstance", |user| user.counts.id.get() as f64)?;
    add("idInTest", |user| user.host.settings.id_in_test(user.counts.id.get()) as f64)?;
    add("iterationInInstance", |user| user.counts.iterations.get() as f64)?;
    let own = Rc::clone(user);
    getter(&object, "iterationInScenario", move |ctx: Ctx<'js>| {
        in_scenario(&own, &ctx, "scenario")?;
        let known = own.counts.in_scenario.borrow();
        Ok::<_, js::Error>(known.get(&own.iteration.get().scenario).copied().unwrap_or(0) as f64)
    })?;
    let own = Rc::clone(user);
    getter(&object, "tags", move |ctx: Ctx<'js>| {
        own.not_at_init(&ctx, "getting VU information")?;
        tags_view(&ctx, &own)
    })?;
    let own = Rc::clone(user);
    getter(&object, "metrics", move |ctx: Ctx<'js>| {
        own.not_at_init(&ctx, "getting VU information")?;
        let metrics = Object::new(ctx.clone())?;
        metrics.prop("tags", Property::from(tags_view(&ctx, &own)?).enumerable())?;
        metrics.prop("metadata", Property::from(metadata_view(&ctx, &own)?).enumerable())?;
        Ok::<_, js::Error>(metrics)
    })?;
    Ok(object)
}

fn tags_view<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Value<'js>> {
    let (reader, writer) = (Rc::clone(user), Rc::clone(user));
    let (remover, lister) = (Rc::clone(user), Rc::clone(user));
    let get = move |key: String| reader.tags.borrow().get(&key).map(str::to_owned);
    let set = move |ctx: Ctx<'js>, key: String, value: Value<'js>| {
        let value = tag_value(&ctx, "tag", &key, value)?;
        let own = writer.tags.borrow().clone();
        let changed = writer.host.tags(&own, &[(&key, &value)]);
        *writer.tags.borrow_mut() = changed;
        Ok::<_, js::Error>(())
    };
    let remove = move |key: String| {
        let own = remover.tags.borrow().clone();
        let changed = remover.host.tag_sets.borrow_mut().without(&own, &key);
        *remover.tags.borrow_mut() = changed;
    };
    let keys = move || {
        let own = lister.tags.borrow();
        own.iter().map(|(key, _)| key.to_owned()).collect::<Vec<_>>()
    };
    view(
        ctx,
        Function::new(ctx.clone(), get)?,
        Function::new(ctx.clone(), set)?,
        Function::new(ctx.clone(), remove)?,
        Function::new(ctx.clone(), keys)?,
    )
}

/// A value of a tag or of metadata. `kind` says which.
fn tag_value<'js>(ctx: &Ctx<'js>, kind: &str, key: &str, value: Value<'js>) -> js::Result<String> {
    if value.is_string() || value.is_number() || value.is_bool() {
        return Ok(Coerced::<String>::from_js(ctx, value)?.0);
    }
    let accepted = if kind == "tag" { "tag values" } else { "metadata value" };
    let told = format!(
        "invalid value for metric {kind} '{key}': only String, Boolean and Number types are \
         accepted as a metric {accepted}"
    );
    Err(Exception::throw_type(ctx, &told))
}

fn metadata_view<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Value<'js>> {
    let (reader, writer) = (Rc::clone(user), Rc::clone(user));
    let (remover, lister) = (Rc::clone(user), Rc::clone(user));
    let get = move |key: String| {
        let own = reader.tags.borrow();
        own.metadata().find(|(known, _)| *known == key).map(|(_, value)| value.to_owned())
    };
    let set = move |ctx: Ctx<'js>, key: String, value: Value<'js>| {
        let value = tag_value(&ctx, "metadata", &key, value)?;
        let own = writer.tags.borrow().clone();
        let changed = writer.host.tag_sets.borrow().with_metadata(&own, &[(&key, &value)]);
        *writer.tags.borrow_mut() = changed;
        Ok::<_, js::Error>(())
    };
    let remove = move |key: String| {
        let own = remover.tags.borrow().clone();
        let changed = remover.host.tag_sets.borrow().without_metadata(&own, &key);
        *remover.tags.borrow_mut() = changed;
    };
    let keys = move || {
        let own = lister.tags.borrow();
        own.metadata().map(|(key, _)| key.to_owned()).collect::<Vec<_>>()
    };
    view(
        ctx,
        Function::new(ctx.clone(), get)?,
        Function::new(ctx.clone(), set)?,
        Function::new(ctx.clone(), remove)?,
        Function::new(ctx.clone(), keys)?,
    )
}

fn view<'js>(
    ctx: &Ctx<'js>,
    get: Function<'js>,
    set: Function<'js>,
    remove: Function<'js>,
    keys: Function<'js>,
) -> js::Result<Value<'js>> {
    let make: Function<'js> = ctx.eval(VIEW)?;
    make.call((get, set, remove, keys))
}

fn test<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    let own = Rc::clone(user);
    function(
        &object,
        "abort",
        move |ctx: Ctx<'js>, reason: Opt<Coerced<String>>| -> js::Result<()> {
            let reason = reason.0.map(|reason| reason.0).filter(|reason| !reason.is_empty());
            let told = match reason {
                Some(reason) => format!("{ABORTED}: {reason}"),
                None => ABORTED.to_owned(),
            };
            own.host.settings.progress.aborted.set(told.clone()).ok();
            own.cancelled.set(own.phase.get() == Phase::Iteration);
            Err(Exception::throw_message(&ctx, &told))
        },
    )?;
    let own = Rc::clone(user);
    function(&object, "fail", move |reason: Opt<Coerced<String>>| {
        let reason = reason.0.map(|reason| reason.0).unwrap_or_default();
        let console = &own.host.settings.console;
        console.error(&format!("test marked as failed: {reason}"));
        own.host.settings.progress.failed.set(reason).ok();
    })?;
    let own = Rc::clone(user);
    getter(&object, "options", move |ctx: Ctx<'js>| {
        own.not_at_init(&ctx, "getting test options")?;
        let parsed = ctx.json_parse(own.host.settings.options_json.as_str())?;
        let freeze: Function<'js> = ctx.globals().get::<_, Object<'js>>("Object")?.get("freeze")?;
        freeze.call::<_, Value<'js>>((parsed,))
    })?;
    Ok(object)
}
