//! Handlers of a client's events. They are properties of its object, so that the engine sees who
//! holds whom and frees them together.

use sojourn_script::js::function::IntoArgs;
use sojourn_script::js::object::Property;
use sojourn_script::js::{self, Array, Ctx, Exception, Function, Object, Persistent};

use crate::user::{Outcome, User};

pub(super) const CONNECT: &str = "connect";
pub(super) const MESSAGE: &str = "message";
pub(super) const END: &str = "end";
pub(super) const RECONNECT: &str = "reconnect";
pub(super) const ERROR: &str = "error";

const ALL: [&str; 5] = [CONNECT, MESSAGE, END, RECONNECT, ERROR];

/// What went wrong, and in which of the client's methods.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) method: &'static str,
    pub(super) told: String,
}

impl Failure {
    /// As scripts see it.
    pub(super) fn to_js<'js>(&self, ctx: &Ctx<'js>) -> js::Result<Exception<'js>> {
        let error = Exception::from_message(ctx.clone(), &self.told)?;
        error.as_object().set("name", "MQTTError")?;
        error.as_object().set("method", self.method)?;
        Ok(error)
    }

    pub(super) fn throw(&self, ctx: &Ctx<'_>) -> js::Error {
        match self.to_js(ctx) {
            Ok(error) => error.throw(),
            Err(error) => error,
        }
    }
}

/// Keeps a handler. Those of no event that there is are refused.
pub(super) fn listen<'js>(
    ctx: &Ctx<'js>,
    object: &Object<'js>,
    event: &str,
    handler: Function<'js>,
) -> js::Result<()> {
    if !ALL.contains(&event) {
        let told = format!("a client has no event \"{event}\": they are {}", ALL.join(", "));
        return Err(Failure { method: "on", told }.throw(ctx));
    }
    let key = key(event);
    let known: Option<Array<'js>> = object.get(key.as_str())?;
    match known {
        Some(known) => known.set(known.len(), handler),
        None => {
            let first = Array::new(ctx.clone())?;
            first.set(0, handler)?;
            object.prop(key, Property::from(first))
        }
    }
}

/// Whether anybody listens.
pub(super) fn is_heard(object: &Object<'_>, event: &str) -> js::Result<bool> {
    let handlers: Option<Array<'_>> = object.get(key(event))?;
    Ok(handlers.is_some_and(|handlers| !handlers.is_empty()))
}

/// Calls the handlers, in the order in which they were given.
pub(super) fn emit<'js, A: IntoArgs<'js> + Clone>(
    object: &Object<'js>,
    event: &str,
    arguments: A,
) -> js::Result<()> {
    let handlers: Option<Array<'js>> = object.get(key(event))?;
    for handler in handlers.iter().flat_map(Array::iter::<Function<'js>>) {
        handler?.call::<_, ()>(arguments.clone())?;
    }
    Ok(())
}

/// Likewise, from the event loop, with the failure if there is one.
pub(super) fn emit_soon<'js>(
    user: &User,
    ctx: &Ctx<'js>,
    object: &Object<'js>,
    event: &'static str,
    failure: Option<Failure>,
) {
    let object = Persistent::save(ctx, object.clone());
    let callback = move |ctx: &Ctx<'_>, _: Outcome| {
        let object = object.restore(ctx)?;
        match failure {
            Some(failure) => emit(&object, event, (failure.to_js(ctx)?,)),
            None => emit(&object, event, ()),
        }
    };
    user.call_soon(Box::new(callback));
}

fn key(event: &str) -> String {
    format!("__on_{event}")
}
