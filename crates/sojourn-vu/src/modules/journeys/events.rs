//! `events.wait(stage, { key, timeout })`.

use std::rc::Rc;
use std::sync::Arc;

use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_script::js::prelude::Opt;
use sojourn_script::js::{self, Ctx, Exception, Object, Value};

use super::{duration_ns, function, key, message, name_of, only_running, throw};
use crate::journeys::{Answer, Message, Waiting};
use crate::user::{Outcome, User};

/// How long an event is waited for unless the script says.
const TIMEOUT_NS: u64 = 30 * SECOND_NS;

pub(super) fn make<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Object<'js>> {
    let events = Object::new(ctx.clone())?;
    let user = Rc::clone(user);
    function(
        &events,
        "wait",
        move |ctx: Ctx<'js>, stage: Opt<Value<'js>>, which: Opt<Object<'js>>| {
            wait(&user, &ctx, stage.0.as_ref(), which.0.as_ref())
        },
    )?;
    Ok(events)
}

fn wait<'js>(
    user: &User,
    ctx: &Ctx<'js>,
    stage: Option<&Value<'js>>,
    which: Option<&Object<'js>>,
) -> js::Result<Object<'js>> {
    only_running(user, ctx, "events.wait()", true)?;
    let stage = stage.ok_or_else(|| throw(ctx, "events.wait(): a tap or stage comes first"))?;
    let name = name_of(ctx, stage)?;
    let which = which.ok_or_else(|| throw(ctx, "events.wait(): say which: { key: … }"))?;
    if which.contains_key("where")? {
        let told = "events.wait() knows no \"where\", since events may have come by already: \
                    declare a stage at the script's top level, with \
                    tap(…).stage('name', { where: … }), and wait for that";
        return Err(throw(ctx, told));
    }
    let key = key(ctx, Some(&which.get::<_, Value<'js>>("key")?))?;
    let timeout = which.get::<_, Value<'js>>("timeout")?;
    let timeout_ns = match timeout.is_undefined() {
        true => TIMEOUT_NS,
        false => duration_ns(ctx, &timeout, "timeout")?,
    };
    let shared = &user.host.settings.journeys;
    let number = shared.declared().stage_of(&name).map_err(|problem| throw(ctx, &problem))?;
    let what = Waiting {
        stage: number,
        key: key.as_bytes().into(),
        since_ns: user.journeys.began_ns.get(),
    };
    match receive(user, ctx, &what, timeout_ns)? {
        Ok(came) => event(user, ctx, &key, &came),
        Err(gone) => Err(throw(ctx, &not_come((&name, &key), timeout_ns, gone))),
    }
}

/// The message, or how many are gone that it may have been among.
fn receive(
    user: &User,
    ctx: &Ctx<'_>,
    what: &Waiting,
    timeout_ns: u64,
) -> js::Result<Result<Arc<Message>, u64>> {
    let messages = &user.host.settings.journeys.messages;
    let (operation, timer) = (user.operation(), user.operation());
    let reply = user.host.answers.reply(user.index, operation);
    if let Some(found) = messages.find_or_wait(what, &reply) {
        return Ok(Ok(found));
    }
    user.host.set_timer(now_ns().saturating_add(timeout_ns), user.index, timer);
    let outcome = user.wait_any(|known| known == operation || known == timer);
    if let Some((_, Outcome::Answer(Answer::Event(message)))) = outcome {
        // Its timer comes to nothing.
        return Ok(Ok(message));
    }
    // It may have come with the timer.
    let found = messages.find_or_wait(what, &reply);
    let gone = messages.give_up(what, &reply);
    match outcome {
        Some(_) => Ok(found.ok_or(gone)),
        None => Err(Exception::throw_internal(ctx, "interrupted")),
    }
}

fn not_come((name, key): (&str, &str), timeout_ns: u64, gone: u64) -> String {
    let seconds = timeout_ns as f64 / SECOND_NS as f64;
    let told = format!("no event \"{name}\" with the key \"{key}\" came within {seconds} s");
    match gone {
        0 => told,
        _ => format!(
            "{told}, or it came and is not held any more: {gone} messages had to make room for \
             later ones"
        ),
    }
}

/// What the script gets.
fn event<'js>(user: &User, ctx: &Ctx<'js>, key: &str, came: &Message) -> js::Result<Object<'js>> {
    let event = message::object(user, ctx, came.stamp_ns, &came.headers, &came.body)?;
    event.set("key", key)?;
    Ok(event)
}
