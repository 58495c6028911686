//! `k6/websockets`: sockets that live in the script's event loop.
//!
//! Handlers are properties of the socket's object, so that the engine sees who holds whom and frees
//! them together.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use sojourn_clock::now_ns;
use sojourn_script::js::class::{JsClass, Readable, Trace, Tracer};
use sojourn_script::js::function::Constructor;
use sojourn_script::js::object::{Accessor, Property};
use sojourn_script::js::prelude::{Opt, Rest, This};
use sojourn_script::js::{
    self, Array, ArrayBuffer, Class, Coerced, Ctx, Exception, FromJs, Function, JsLifetime, Object,
    Persistent, Value,
};
use url::Url;

use super::super::go_error::throw;
use super::super::{bytes, function};
use super::{Params, Session, blob, extensions, protocol};
use crate::sockets::websocket::{ABNORMAL, Event, Order};
use crate::sockets::{Arrival, Event as Any};
use crate::user::{Outcome, User};

const CONNECTING: u8 = 0;
const OPEN: u8 = 1;
const CLOSING: u8 = 2;
const CLOSED: u8 = 3;

const EVENTS: [&str; 6] = ["open", "message", "error", "close", "ping", "pong"];

pub(in crate::modules) fn make<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("Blob", blob::constructor(ctx)?)?;
    let user = Rc::clone(user);
    let construct =
        move |ctx: Ctx<'js>, arguments: Rest<Value<'js>>| construct(&user, &ctx, &arguments.0);
    let constructor = Function::new(ctx.clone(), construct)?.with_name("WebSocket")?;
    module.set("WebSocket", constructor.with_constructor(true))?;
    Ok(module)
}

/// `new WebSocket(url, protocols, params)`.
fn construct<'js>(
    user: &Rc<User>,
    ctx: &Ctx<'js>,
    arguments: &[Value<'js>],
) -> js::Result<Class<'js, Socket>> {
    user.not_at_init(ctx, "using websockets")?;
    let Some(given) = arguments.first() else {
        return Err(throw(ctx, "WebSocket requires a url"));
    };
    let shown = Coerced::<String>::from_js(ctx, given.clone())?.0;
    let url = parsed(ctx, &shown)?;
    let mut params = Params::read(ctx, arguments.get(2), true)?;
    params.protocols = protocols(ctx, arguments.get(1))?;
    let session = Session::open(user, ctx, &url, &shown, params, true)?;
    let state = Rc::new(State {
        session,
        url: shown,
        ready: Cell::new(CONNECTING),
        has_blobs: Cell::new(true),
        protocol: RefCell::default(),
        extensions: RefCell::default(),
    });
    let socket = Class::instance(ctx.clone(), Socket { state: Rc::clone(&state) })?;
    let object = socket.clone().into_inner();
    state.listen(Persistent::save(ctx, object));
    Ok(socket)
}

fn parsed(ctx: &Ctx<'_>, text: &str) -> js::Result<Url> {
    let url = Url::parse(text).ok();
    let scheme = url.as_ref().map_or("", Url::scheme);
    let Some(url) = url.as_ref().filter(|_| matches!(scheme, "ws" | "wss")) else {
        let told = format!("WebSocket requires url with scheme ws or wss, but got \"{scheme}\"");
        return Err(throw(ctx, &told));
    };
    if let Some(fragment) = url.fragment() {
        let told = format!("WebSocket requires no url fragment, but got \"{fragment}\"");
        return Err(throw(ctx, &told));
    }
    Ok(url.clone())
}

/// One subprotocol, or a list of them.
fn protocols<'js>(ctx: &Ctx<'js>, value: Option<&Value<'js>>) -> js::Result<Vec<String>> {
    let Some(value) = value.filter(|value| !value.is_null() && !value.is_undefined()) else {
        return Ok(Vec::new());
    };
    match value.as_array() {
        Some(array) => array.iter::<Coerced<String>>().map(|name| Ok(name?.0)).collect(),
        None => Ok(vec![Coerced::<String>::from_js(ctx, value.clone())?.0]),
    }
}

struct State {
    session: Rc<Session>,
    url: String,
    ready: Cell<u8>,
    /// Whether binary messages come as blobs; else as buffers.
    has_blobs: Cell<bool>,
    protocol: RefCell<String>,
    extensions: RefCell<Vec<String>>,
}

type Kept = Persistent<Object<'static>>;

impl State {
    /// The socket's next arrival goes to its handlers.
    fn listen(self: &Rc<Self>, object: Kept) {
        let state = Rc::clone(self);
        let callback = move |ctx: &Ctx<'_>, outcome: Outcome| {
            let Outcome::Socket(arrival) = outcome else { return Ok(()) };
            let is_last = matches!(
                &arrival.event,
                Any::WebSocket(Event::Refused { .. } | Event::Closed { .. } | Event::Lost { .. })
            );
            if !is_last {
                state.listen(object.clone());
            }
            let object = object.restore(ctx)?;
            let handled = state.on_arrival(ctx, &object, *arrival);
            if handled.is_err() && !is_last {
                state.give_up(ctx, &object);
            }
            handled
        };
        let session = &self.session;
        session.user.when_done(session.operation, Box::new(callback));
    }

    /// A handler threw: the socket is closed, and the script's function will fail.
    fn give_up<'js>(&self, ctx: &Ctx<'js>, object: &Object<'js>) {
        let thrown = ctx.catch();
        let session = &self.session;
        session.user.forget(session.operation);
        session.user.links.end(session.operation);
        self.ready.set(CLOSED);
        session.over(now_ns());
        // What it throws in turn is of less interest than what it threw before.
        if self.emit(ctx, object, "close", now_ns(), |_| Ok(())).is_err() {
            ctx.catch();
        }
        ctx.throw(thrown);
    }

    fn on_arrival<'js>(
        &self,
        ctx: &Ctx<'js>,
        object: &Object<'js>,
        arrival: Arrival,
    ) -> js::Result<()> {
        let Arrival { event, at_ns, .. } = arrival;
        let Any::WebSocket(event) = event else { return Ok(()) };
        let session = &self.session;
        match event {
            Event::Opened(answer) => {
                session.answered(&answer, at_ns);
                protocol(&answer).clone_into(&mut self.protocol.borrow_mut());
                self.extensions.replace(extensions(&answer));
                if self.ready.get() != CONNECTING {
                    return Ok(());
                }
                self.ready.set(OPEN);
                self.emit(ctx, object, "open", at_ns, |_| Ok(()))
            }
            Event::Refused { answer, error } => {
                session.answered(&answer, at_ns);
                self.extensions.replace(extensions(&answer));
                session.user.links.release(session.operation);
                self.ready.set(CLOSED);
                self.fail(ctx, object, at_ns, &error)?;
                self.emit(ctx, object, "close", at_ns, |event| event.set("reason", ""))
            }
            Event::Text(text) => {
                session.received(at_ns);
                let text = text.as_str();
                self.emit(ctx, object, "message", at_ns, |event| event.set("data", text))
            }
            Event::Binary(bytes) => {
                session.received(at_ns);
                let data = if self.has_blobs.get() {
                    blob::object(ctx, bytes)?
                } else {
                    sojourn_script::buffers(ctx)?;
                    ArrayBuffer::new_copy(ctx.clone(), &bytes[..])?.into_value()
                };
                self.emit(ctx, object, "message", at_ns, |event| event.set("data", data))
            }
            Event::Ping => self.emit(ctx, object, "ping", at_ns, |_| Ok(())),
            Event::Pong(payload) => {
                session.ponged(&payload, at_ns);
                self.emit(ctx, object, "pong", at_ns, |_| Ok(()))
            }
            Event::Closed { code, reason } => {
                self.closed(ctx, object, at_ns, code.unwrap_or(1005), &reason)
            }
            Event::Lost { error } => {
                if self.ready.get() != CLOSING {
                    self.fail(ctx, object, at_ns, &error)?;
                }
                self.closed(ctx, object, at_ns, ABNORMAL, "unexpected EOF")
            }
        }
    }

    fn closed<'js>(
        &self,
        ctx: &Ctx<'js>,
        object: &Object<'js>,
        at_ns: u64,
        code: u16,
        reason: &str,
    ) -> js::Result<()> {
        let session = &self.session;
        session.user.links.release(session.operation);
        self.ready.set(CLOSED);
        session.over(at_ns);
        self.emit(ctx, object, "close", at_ns, |event| {
            event.set("code", code)?;
            event.set("reason", reason)
        })
    }

    fn fail<'js>(
        &self,
        ctx: &Ctx<'js>,
        object: &Object<'js>,
        at_ns: u64,
        error: &str,
    ) -> js::Result<()> {
        self.emit(ctx, object, "error", at_ns, |event| event.set("error", error))
    }

    /// Calls the handlers of an event; `fill` adds what only this kind of event has.
    fn emit<'js>(
        &self,
        ctx: &Ctx<'js>,
        object: &Object<'js>,
        name: &str,
        at_ns: u64,
        fill: impl FnOnce(&Object<'js>) -> js::Result<()>,
    ) -> js::Result<()> {
        let mut handlers: Vec<Function<'js>> = Vec::new();
        handlers.extend(object.get::<_, Option<Function<'js>>>(handler_key(name))?);
        let listeners: Option<Array<'js>> = object.get(listeners_key(name))?;
        for listener in listeners.iter().flat_map(Array::iter) {
            handlers.push(listener?);
        }
        if handlers.is_empty() {
            return Ok(());
        }
        let event = Object::new(ctx.clone())?;
        event.set("type", name)?;
        event.set("target", object.clone())?;
        event.set("timestamp", self.session.user.host.unix_ns(at_ns) as f64 / 1e6)?;
        fill(&event)?;
        for handler in handlers {
            handler.call::<_, ()>((event.clone(),))?;
        }
        Ok(())
    }

    fn send<'js>(&self, ctx: &Ctx<'js>, data: &Value<'js>) -> js::Result<()> {
        if self.ready.get() == CONNECTING {
            return Err(throw(ctx, "InvalidStateError"));
        }
        let order = match bytes::of(data) {
            Some(_) if data.is_string() => {
                Order::Text(Coerced::<String>::from_js(ctx, data.clone())?.0)
            }
            Some(bytes) => Order::Binary(bytes),
            None => {
                let told = format!("unsupported send type {}", kind(data));
                return Err(throw(ctx, &told));
            }
        };
        if self.ready.get() == OPEN {
            self.session.send(ctx, order)?;
            self.session.sent();
        }
        Ok(())
    }

    fn ping(&self, ctx: &Ctx<'_>) -> js::Result<()> {
        match self.ready.get() {
            CONNECTING => Err(throw(ctx, "InvalidStateError")),
            OPEN => {
                self.session.ping(ctx)?;
                self.session.sent();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn close(&self, ctx: &Ctx<'_>, code: Option<i64>, reason: String) -> js::Result<()> {
        let code = match code {
            None | Some(0) => 1000,
            Some(code @ (1000 | 3000..=4999)) => code as u16,
            Some(code) => {
                let told = format!(
                    "InvalidAccessError: Failed to execute 'close' on 'WebSocket': The close code \
                     must be either 1000, or between 3000 and 4999. {code} is neither"
                );
                return Err(throw(ctx, &told));
            }
        };
        if reason.len() > 123 {
            let told = "SyntaxError: Failed to execute 'close' on 'WebSocket': the reason must not \
                        be longer than 123 bytes";
            return Err(throw(ctx, told));
        }
        if self.ready.get() >= CLOSING {
            return Ok(());
        }
        self.ready.set(CLOSING);
        self.session.send(ctx, Order::Close { code, reason })?;
        self.session.sent();
        Ok(())
    }
}

/// How k6 calls what can't be sent: by the types that its engine gives values.
fn kind(value: &Value<'_>) -> &'static str {
    if value.is_int() {
        "int64"
    } else if value.is_number() {
        "float64"
    } else if value.is_bool() {
        "bool"
    } else if value.is_array() {
        "[]interface {}"
    } else if value.is_null() || value.is_undefined() {
        "nil"
    } else {
        "map[string]interface {}"
    }
}

fn handler_key(event: &str) -> String {
    format!("__on{event}")
}

fn listeners_key(event: &str) -> String {
    format!("__listeners_{event}")
}

/// What the script holds.
struct Socket {
    state: Rc<State>,
}

impl<'js> Trace<'js> for Socket {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

// SAFETY: nothing in it has the lifetime of an engine.
#[allow(unsafe_code)]
unsafe impl<'js> JsLifetime<'js> for Socket {
    type Changed<'to> = Self;
}

type Own<'js> = This<Class<'js, Socket>>;

fn state(own: &Own<'_>) -> Rc<State> {
    Rc::clone(&own.0.borrow().state)
}

impl<'js> JsClass<'js> for Socket {
    const NAME: &'static str = "WebSocket";
    type Mutable = Readable;

    fn prototype(ctx: &Ctx<'js>) -> js::Result<Option<Object<'js>>> {
        let proto = Object::new(ctx.clone())?;
        properties(&proto)?;
        for event in EVENTS {
            handler(&proto, event)?;
        }
        function(&proto, "addEventListener", add_listener)?;
        function(&proto, "send", |ctx: Ctx<'js>, own: Own<'js>, data: Opt<Value<'js>>| {
            let data = data.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
            state(&own).send(&ctx, &data)
        })?;
        function(&proto, "ping", |ctx: Ctx<'js>, own: Own<'js>| state(&own).ping(&ctx))?;
        function(
            &proto,
            "close",
            |ctx: Ctx<'js>,
             own: Own<'js>,
             code: Opt<Option<Coerced<i64>>>,
             reason: Opt<Option<Coerced<String>>>| {
                let code = code.0.flatten().map(|code| code.0);
                let reason = reason.0.flatten().map(|reason| reason.0).unwrap_or_default();
                state(&own).close(&ctx, code, reason)
            },
        )?;
        function(&proto, "toJSON", |ctx: Ctx<'js>, own: Own<'js>| plain(&ctx, &own))?;
        Ok(Some(proto))
    }

    fn constructor(_: &Ctx<'js>) -> js::Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

fn properties<'js>(proto: &Object<'js>) -> js::Result<()> {
    let url = Accessor::new_get(|own: Own<'js>| state(&own).url.clone());
    proto.prop("url", url.enumerable())?;
    let ready = Accessor::new_get(|own: Own<'js>| state(&own).ready.get());
    proto.prop("readyState", ready.enumerable())?;
    let unsent = Accessor::new_get(|own: Own<'js>| {
        let link = &state(&own).session.link;
        link.unsent_bytes.load(std::sync::atomic::Ordering::Acquire)
    });
    proto.prop("bufferedAmount", unsent.enumerable())?;
    let extensions = Accessor::new_get(|own: Own<'js>| state(&own).extensions.borrow().clone());
    proto.prop("extensions", extensions.enumerable())?;
    let protocol = Accessor::new_get(|own: Own<'js>| state(&own).protocol.borrow().clone());
    proto.prop("protocol", protocol.enumerable())?;
    let get = |own: Own<'js>| if state(&own).has_blobs.get() { "blob" } else { "arraybuffer" };
    let set = |ctx: Ctx<'js>, own: Own<'js>, kind: Coerced<String>| {
        let has_blobs = match kind.0.as_str() {
            "blob" => true,
            "arraybuffer" => false,
            other => {
                let told = format!(
                    "unknown binaryType {other}, the supported ones are \"blob\" and \
                     \"arraybuffer\""
                );
                return Err(throw(&ctx, &told));
            }
        };
        state(&own).has_blobs.set(has_blobs);
        Ok(())
    };
    proto.prop("binaryType", Accessor::new(get, set).enumerable())
}

/// `onopen` and its like.
fn handler<'js>(proto: &Object<'js>, event: &'static str) -> js::Result<()> {
    let get = move |own: This<Object<'js>>| own.0.get::<_, Value<'js>>(handler_key(event));
    let set = move |ctx: Ctx<'js>, own: This<Object<'js>>, call: Value<'js>| {
        let is_none = call.is_null() || call.is_undefined();
        if !is_none && !call.is_function() {
            let told = format!("a value for 'on{event}' should be callable");
            return Err(throw(&ctx, &told));
        }
        own.0.prop(handler_key(event), Property::from(call).configurable())
    };
    proto.prop(format!("on{event}"), Accessor::new(get, set).enumerable())
}

fn add_listener<'js>(
    ctx: Ctx<'js>,
    own: Own<'js>,
    event: String,
    call: Opt<Value<'js>>,
) -> js::Result<()> {
    if !EVENTS.contains(&event.as_str()) {
        let console = &state(&own).session.user.host.settings.console;
        console.warn(&format!("can't add event handler: unknown event type: {event}"));
        return Ok(());
    }
    let Some(call) = call.0.and_then(Value::into_function) else {
        return Err(Exception::throw_type(&ctx, "an event's listener must be a function"));
    };
    let object = own.0.as_inner();
    let key = listeners_key(&event);
    let known: Option<Array<'js>> = object.get(key.as_str())?;
    match known {
        Some(known) => known.set(known.len(), call),
        None => {
            let first = Array::new(ctx)?;
            first.set(0, call)?;
            object.prop(key, Property::from(first))
        }
    }
}

/// What `JSON.stringify` shows.
fn plain<'js>(ctx: &Ctx<'js>, own: &Own<'js>) -> js::Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    for name in ["url", "readyState", "bufferedAmount", "extensions", "protocol", "binaryType"] {
        object.set(name, own.0.get::<_, Value<'js>>(name)?)?;
    }
    Ok(object)
}
