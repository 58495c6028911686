//! `journey(key).expect(stages, options)`.

use std::rc::Rc;

use sojourn_engine::{Begun, EARLY_WAIT_NS, Expected};
use sojourn_script::js::prelude::Opt;
use sojourn_script::js::{self, Ctx, Object, Value};

use super::{duration_ns, function, key, name_of, only_running, text, throw};
use crate::user::User;

/// `journey(key)`.
pub(super) fn journey<'js>(
    user: &Rc<User>,
    ctx: &Ctx<'js>,
    of: Option<&Value<'js>>,
) -> js::Result<Object<'js>> {
    let key = key(ctx, of)?;
    let object = Object::new(ctx.clone())?;
    object.set("key", key.as_str())?;
    let user = Rc::clone(user);
    function(
        &object,
        "expect",
        move |ctx: Ctx<'js>, stages: Opt<Value<'js>>, options: Opt<Object<'js>>| {
            expect(&user, &ctx, &key, (stages.0.as_ref(), options.0.as_ref()))
        },
    )?;
    Ok(object)
}

fn expect<'js>(
    user: &User,
    ctx: &Ctx<'js>,
    key: &str,
    (stages, options): (Option<&Value<'js>>, Option<&Object<'js>>),
) -> js::Result<()> {
    only_running(user, ctx, "expect()", false)?;
    let expected = expected(user, ctx, stages, options)?;
    let label = match options.map(|options| options.get::<_, Value<'js>>("label")).transpose()? {
        Some(label) if !label.is_undefined() && !label.is_null() => {
            Some(super::key(ctx, Some(&label))?)
        }
        _ => None,
    };
    let mut follow = user.host.follow.borrow_mut();
    let Some(source) = follow.as_mut() else {
        return Err(throw(ctx, "journeys are not followed here"));
    };
    let kind = source.kind(&expected).map_err(|problem| throw(ctx, &problem))?;
    if !user.journeys.expect(key.as_bytes()) {
        let told = format!(
            "the journey \"{key}\" is expected twice in one iteration: name all of its stages at \
             once"
        );
        return Err(throw(ctx, &told));
    }
    let t0_ns = user.iteration.get().due_ns;
    let t1_ns = user.journeys.began_ns.get();
    let begun = Begun {
        key: key.as_bytes(),
        label: label.as_ref().map(String::as_bytes),
        t0_ns: t0_ns.min(t1_ns),
        t1_ns,
    };
    // Nothing is followed any more once the run is void, which its report says.
    source.follow(kind, &begun).ok();
    drop(follow);
    warn_if_late(user, t1_ns);
    Ok(())
}

/// Events of so long ago have been given up.
fn warn_if_late(user: &User, t1_ns: u64) {
    let settings = &user.host.settings;
    let is_late = sojourn_clock::now_ns().saturating_sub(t1_ns) > EARLY_WAIT_NS;
    if is_late && settings.journeys.tells_late() {
        let seconds = EARLY_WAIT_NS / sojourn_clock::SECOND_NS;
        settings.console.warn(&format!(
            "a journey was expected more than {seconds} s after its iteration had begun: events \
             wait no longer than that for somebody to expect them"
        ));
    }
}

fn expected<'js>(
    user: &User,
    ctx: &Ctx<'js>,
    stages: Option<&Value<'js>>,
    options: Option<&Object<'js>>,
) -> js::Result<Expected> {
    let list = stages.and_then(|stages| stages.as_array());
    let list = list.ok_or_else(|| throw(ctx, "expect(): a list of stages comes first"))?;
    let mut names = Vec::with_capacity(list.len());
    for stage in list.iter::<Value<'js>>() {
        names.push(name_of(ctx, &stage?)?);
    }
    let option = |name: &str| -> js::Result<Option<Value<'js>>> {
        let given = options.map(|options| options.get::<_, Value<'js>>(name)).transpose()?;
        Ok(given.filter(|value| !value.is_undefined() && !value.is_null()))
    };
    let within = option("within")?.ok_or_else(|| {
        throw(ctx, "expect(): say by when: expect([…], { within: '30s' }), from the start")
    })?;
    let within_ns = duration_ns(ctx, &within, "within")?;
    let name = match option("name")? {
        Some(name) => text(&name).ok_or_else(|| throw(ctx, "expect(): its name is no text"))?,
        None => names.join("-"),
    };
    if !sojourn_plan::is_name(&name) {
        let told = format!("\"{name}\" can't name a journey: letters, digits, _ and - can");
        return Err(throw(ctx, &told));
    }
    let declared = user.host.settings.journeys.declared();
    let stages: Result<Vec<u8>, String> =
        names.iter().map(|name| declared.stage_of(name)).collect();
    let stages = stages.map_err(|problem| throw(ctx, &problem))?;
    Ok(Expected { name, stages, within_ns })
}
