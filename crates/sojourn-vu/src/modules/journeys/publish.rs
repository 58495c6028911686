//! `publish(tap, message)`.

use std::rc::Rc;

use sojourn_clock::SECOND_NS;
use sojourn_script::js::{self, Coerced, Ctx, FromJs, Object, Value};

use super::{duration_ns, key, name_of, only_running, text, throw};
use crate::journeys::{Answer, Order};
use crate::modules::bytes;
use crate::user::{Outcome, User};

/// How long an acknowledgement is waited for unless the script says.
const TIMEOUT_NS: u64 = 10 * SECOND_NS;
/// Header that says which run a message belongs to, as in journey files.
const MARKER_HEADER: &str = "sojourn-run";

pub(super) fn publish<'js>(
    user: &Rc<User>,
    ctx: &Ctx<'js>,
    tap: Option<&Value<'js>>,
    message: Option<&Object<'js>>,
) -> js::Result<()> {
    only_running(user, ctx, "publish()", true)?;
    let tap = tap.ok_or_else(|| throw(ctx, "publish(): a tap comes first"))?;
    let name = name_of(ctx, tap)?;
    let empty = Object::new(ctx.clone())?;
    let order = order(user, ctx, &name, message.unwrap_or(&empty))?;
    let operation = order.1;
    let live = user.host.settings.journeys.live.get();
    let live = live.ok_or_else(|| throw(ctx, "publish(): nothing is published here"))?;
    let told = |why: &str| throw(ctx, &format!("publish() to \"{name}\": {why}"));
    live.publishing.publish(order.0).map_err(|why| told(&why))?;
    match user.wait_or_throw(ctx, operation)? {
        Outcome::Answer(Answer::Published(Ok(()))) => Ok(()),
        Outcome::Answer(Answer::Published(Err(why))) => Err(told(&why)),
        _ => Err(told("another answer came than was asked for")),
    }
}

fn order<'js>(
    user: &User,
    ctx: &Ctx<'js>,
    name: &str,
    message: &Object<'js>,
) -> js::Result<(Order, u32)> {
    let field = |name: &str| -> js::Result<Option<Value<'js>>> {
        let given = message.get::<_, Value<'js>>(name)?;
        Ok(Some(given).filter(|value| !value.is_undefined() && !value.is_null()))
    };
    let settings = &user.host.settings;
    let (tap, usual_topic) = {
        let declared = settings.journeys.declared();
        let tap = declared.tap_of(name).map_err(|problem| throw(ctx, &problem))?;
        let channel = declared.channel(tap);
        if let Some(only) = channel.filter(|channel| !channel.connector.publishes()) {
            let word = only.connector.word();
            let told = format!("publish(): a {word} tap such as \"{name}\" can only listen");
            return Err(throw(ctx, &told));
        }
        let topic = channel.and_then(|channel| channel.connector.usual_topic());
        (tap, topic.map(str::to_owned))
    };
    let topic = match field("topic")? {
        Some(topic) => text(&topic).ok_or_else(|| throw(ctx, "publish(): its topic is no text"))?,
        None => usual_topic.ok_or_else(|| {
            throw(ctx, &format!("publish(): \"{name}\" names no single topic: give one"))
        })?,
    };
    let key = field("key")?.map(|own| key(ctx, Some(&own))).transpose()?;
    let timeout_ns = match field("timeout")? {
        Some(timeout) => duration_ns(ctx, &timeout, "timeout")?,
        None => TIMEOUT_NS,
    };
    let mut headers = headers(ctx, field("headers")?)?;
    let is_marked = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(MARKER_HEADER));
    if let (Some(live), false) = (settings.journeys.live.get(), is_marked) {
        headers.push((MARKER_HEADER.to_owned(), live.run_id.clone().into_bytes()));
    }
    let payload = match field("body")? {
        Some(body) => payload(ctx, body)?,
        None => Vec::new(),
    };
    let operation = user.operation();
    let reply = user.host.answers.reply(user.index, operation);
    let key = key.map(String::into_bytes);
    Ok((Order { tap, topic, key, headers, payload, timeout_ns, reply }, operation))
}

fn headers<'js>(ctx: &Ctx<'js>, given: Option<Value<'js>>) -> js::Result<Vec<(String, Vec<u8>)>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    let Some(given) = given.as_object() else {
        return Err(throw(ctx, "publish(): its headers are no object"));
    };
    let mut headers = Vec::new();
    for entry in given.props::<String, Value<'js>>() {
        let (name, value) = entry?;
        headers.push((name, Coerced::<String>::from_js(ctx, value)?.0.into_bytes()));
    }
    Ok(headers)
}

/// A text, bytes, or whatever else as JSON.
fn payload<'js>(ctx: &Ctx<'js>, body: Value<'js>) -> js::Result<Vec<u8>> {
    if let Some(bytes) = bytes::of(&body) {
        return Ok(bytes);
    }
    let json = ctx.json_stringify(body)?;
    let json = json.ok_or_else(|| throw(ctx, "publish(): its body is nothing that can be sent"))?;
    Ok(json.to_string()?.into_bytes())
}
