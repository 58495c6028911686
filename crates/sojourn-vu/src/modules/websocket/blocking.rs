//! `k6/ws`: a socket that holds the script until it is closed.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use sojourn_clock::now_ns;
use sojourn_script::js::class::{JsClass, Readable, Trace, Tracer};
use sojourn_script::js::function::{Constructor, IntoArgs};
use sojourn_script::js::object::Property;
use sojourn_script::js::prelude::{Opt, Rest, This};
use sojourn_script::js::{
    self, ArrayBuffer, Class, Coerced, Ctx, Exception, Function, JsLifetime, Object, Persistent,
    Value,
};
use url::Url;

use super::super::go_error::throw;
use super::super::{coerced, function};
use super::{Params, Session};
use crate::host::OperationId;
use crate::sockets::websocket::{ABNORMAL, Answer, Event, Order};
use crate::sockets::{Arrival, Event as Any};
use crate::user::{Outcome, User};

/// The code of a close without one: going away.
const CODE: u16 = 1001;

type Kept = Persistent<Function<'static>>;

pub(in crate::modules) fn make<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    let user = Rc::clone(user);
    function(&module, "connect", move |ctx: Ctx<'js>, arguments: Rest<Value<'js>>| {
        connect(&user, &ctx, &arguments.0)
    })?;
    Ok(module)
}

/// `connect(url, [params], callback)`: what the handshake was answered with, once it is all over.
fn connect<'js>(
    user: &Rc<User>,
    ctx: &Ctx<'js>,
    arguments: &[Value<'js>],
) -> js::Result<Object<'js>> {
    user.not_at_init(ctx, "using websockets")?;
    let [url, middle @ .., last] = arguments else {
        return Err(throw(ctx, "invalid number of arguments to ws.connect"));
    };
    let Some(callback) = last.as_function() else {
        return Err(throw(ctx, "last argument to ws.connect must be a function"));
    };
    let shown = <Coerced<String> as js::FromJs<'js>>::from_js(ctx, url.clone())?.0;
    let params = Params::read(ctx, middle.first(), false)?;
    let url = Url::parse(&shown).ok().filter(|url| matches!(url.scheme(), "ws" | "wss"));
    let Some(url) = url else {
        return response(ctx, "", &Answer::default(), "malformed ws or wss URL");
    };
    let session = Session::open(user, ctx, &url, &shown, params, false)?;
    let state = Rc::new(State {
        session,
        handlers: RefCell::default(),
        timers: RefCell::default(),
        is_closed: Cell::new(false),
    });
    let result = state.live(ctx, &shown, callback);
    // What the script was told of holds the socket, and the socket it.
    state.handlers.borrow_mut().clear();
    state.timers.borrow_mut().clear();
    let session = &state.session;
    session.over(now_ns());
    if state.is_closed.get() {
        user.links.release(session.operation);
    } else {
        user.links.end(session.operation);
    }
    result
}

/// What `connect` returns.
fn response<'js>(
    ctx: &Ctx<'js>,
    url: &str,
    answer: &Answer,
    error: &str,
) -> js::Result<Object<'js>> {
    let response = Object::new(ctx.clone())?;
    response.set("url", url)?;
    response.set("status", answer.status)?;
    let headers = Object::new(ctx.clone())?;
    for (name, value) in &answer.headers {
        headers.set(super::super::http::canonical(name), value.as_str())?;
    }
    response.set("headers", headers)?;
    response.set("body", String::from_utf8_lossy(&answer.body).into_owned())?;
    response.set("error", error)?;
    Ok(response)
}

/// A socket while `connect` runs.
struct State {
    session: Rc<Session>,
    handlers: RefCell<Vec<(String, Kept)>>,
    /// What is called when, and again after how long.
    timers: RefCell<HashMap<OperationId, (Kept, Option<u64>)>>,
    is_closed: Cell<bool>,
}

impl State {
    fn live<'js>(
        self: &Rc<Self>,
        ctx: &Ctx<'js>,
        url: &str,
        callback: &Function<'js>,
    ) -> js::Result<Object<'js>> {
        let session = &self.session;
        let first = self.arrival(ctx)?;
        let response = match first.event {
            Any::WebSocket(Event::Opened(answer)) => {
                session.answered(&answer, first.at_ns);
                response(ctx, url, &answer, "")?
            }
            Any::WebSocket(Event::Refused { answer, error }) => {
                session.answered(&answer, first.at_ns);
                let error = if answer.status > 0 { "" } else { error.as_str() };
                return response(ctx, "", &answer, error);
            }
            _ => return Err(throw(ctx, "the socket was closed before it was open")),
        };
        let socket = Class::instance(ctx.clone(), Socket { state: Rc::clone(self) })?;
        callback.call::<_, ()>((socket,))?;
        self.emit(ctx, "open", ())?;
        while !self.is_closed.get() {
            self.turn(ctx)?;
        }
        Ok(response)
    }

    /// The next arrival of the socket itself.
    fn arrival(&self, ctx: &Ctx<'_>) -> js::Result<Arrival> {
        let user = &self.session.user;
        match user.wait_or_throw(ctx, self.session.operation)? {
            Outcome::Socket(arrival) => Ok(*arrival),
            _ => Err(Exception::throw_internal(ctx, "an outcome of another kind")),
        }
    }

    /// Waits for the socket or a timer, and hands on what has come.
    fn turn(&self, ctx: &Ctx<'_>) -> js::Result<()> {
        let session = &self.session;
        let is_meant = |operation| {
            operation == session.operation || self.timers.borrow().contains_key(&operation)
        };
        let Some((operation, outcome)) = session.user.wait_any(is_meant) else {
            return Err(Exception::throw_internal(ctx, "interrupted"));
        };
        match outcome {
            Outcome::Timer => self.fire(ctx, operation),
            Outcome::Socket(arrival) => self.on_arrival(ctx, *arrival),
            Outcome::Http(_) | Outcome::Answer(_) => Ok(()),
        }
    }

    fn on_arrival(&self, ctx: &Ctx<'_>, arrival: Arrival) -> js::Result<()> {
        let Arrival { event, at_ns, .. } = arrival;
        let Any::WebSocket(event) = event else { return Ok(()) };
        match event {
            Event::Text(text) => {
                self.session.received(at_ns);
                self.emit(ctx, "message", (text.as_str(),))
            }
            Event::Binary(bytes) => {
                self.session.received(at_ns);
                sojourn_script::buffers(ctx)?;
                let buffer = ArrayBuffer::new_copy(ctx.clone(), &bytes[..])?;
                self.emit(ctx, "binaryMessage", (buffer,))
            }
            Event::Ping => self.emit(ctx, "ping", ()),
            Event::Pong(payload) => {
                self.session.ponged(&payload, at_ns);
                self.emit(ctx, "pong", ())
            }
            Event::Closed { code, .. } => self.closed(ctx, code.unwrap_or(1005)),
            Event::Lost { error } => {
                self.fail(ctx, &error)?;
                self.closed(ctx, ABNORMAL)
            }
            Event::Opened(_) | Event::Refused { .. } => Ok(()),
        }
    }

    fn closed(&self, ctx: &Ctx<'_>, code: u16) -> js::Result<()> {
        if self.is_closed.replace(true) {
            return Ok(());
        }
        self.session.over(now_ns());
        self.emit(ctx, "close", (code,))
    }

    fn close(&self, ctx: &Ctx<'_>, code: Option<i64>) -> js::Result<()> {
        if self.is_closed.get() {
            return Ok(());
        }
        let code = code.map_or(CODE, |code| u16::try_from(code).unwrap_or(CODE));
        self.session.send(ctx, Order::Close { code, reason: String::new() })?;
        self.closed(ctx, code)
    }

    /// Whether anything can be sent still; if not, the script's handlers are told.
    fn is_open(&self, ctx: &Ctx<'_>) -> js::Result<bool> {
        if self.is_closed.get() {
            self.fail(ctx, "websocket: close sent")?;
        }
        Ok(!self.is_closed.get())
    }

    /// Calls the handlers of `error`, with an object that tells it.
    fn fail(&self, ctx: &Ctx<'_>, error: &str) -> js::Result<()> {
        let object = Object::new(ctx.clone())?;
        let text = error.to_owned();
        function(&object, "error", move || text.clone())?;
        let text = error.to_owned();
        let shown = Function::new(ctx.clone(), move || text.clone())?;
        object.prop("toString", Property::from(shown))?;
        self.emit(ctx, "error", (object,))
    }

    fn emit<'js, A: IntoArgs<'js> + Clone>(
        &self,
        ctx: &Ctx<'js>,
        event: &str,
        arguments: A,
    ) -> js::Result<()> {
        let handlers: Vec<Kept> = {
            let all = self.handlers.borrow();
            all.iter().filter(|(name, _)| name == event).map(|(_, kept)| kept.clone()).collect()
        };
        for handler in handlers {
            handler.restore(ctx)?.call::<_, ()>(arguments.clone())?;
        }
        Ok(())
    }

    fn set_timer<'js>(
        &self,
        ctx: &Ctx<'js>,
        name: &str,
        call: Function<'js>,
        ms: f64,
    ) -> js::Result<()> {
        if ms.is_nan() || ms <= 0.0 {
            let told = format!("{name} requires a >0 timeout parameter, received {ms:.2}");
            return Err(throw(ctx, &told));
        }
        let after_ns = (ms * 1e6) as u64;
        let every_ns = (name == "setInterval").then_some(after_ns);
        self.start_timer(Persistent::save(ctx, call), after_ns, every_ns);
        Ok(())
    }

    fn start_timer(&self, call: Kept, after_ns: u64, every_ns: Option<u64>) {
        let user = &self.session.user;
        let operation = user.operation();
        user.host.set_timer(now_ns().saturating_add(after_ns), user.index, operation);
        self.timers.borrow_mut().insert(operation, (call, every_ns));
    }

    fn fire(&self, ctx: &Ctx<'_>, operation: OperationId) -> js::Result<()> {
        let timer = self.timers.borrow_mut().remove(&operation);
        let Some((call, every_ns)) = timer else { return Ok(()) };
        if let Some(every_ns) = every_ns {
            self.start_timer(call.clone(), every_ns, Some(every_ns));
        }
        call.restore(ctx)?.call(())
    }
}

/// What the script holds.
struct Socket {
    state: Rc<State>,
}

impl<'js> Trace<'js> for Socket {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

// SAFETY: what it keeps of an engine is in `Persistent`, which is of no lifetime.
#[allow(unsafe_code)]
unsafe impl<'js> JsLifetime<'js> for Socket {
    type Changed<'to> = Self;
}

type Own<'js> = This<Class<'js, Socket>>;

fn state(own: &Own<'_>) -> Rc<State> {
    Rc::clone(&own.0.borrow().state)
}

impl<'js> JsClass<'js> for Socket {
    const NAME: &'static str = "Socket";
    type Mutable = Readable;

    fn prototype(ctx: &Ctx<'js>) -> js::Result<Option<Object<'js>>> {
        let proto = Object::new(ctx.clone())?;
        function(
            &proto,
            "on",
            |ctx: Ctx<'js>, own: Own<'js>, name: coerced::Text, call: coerced::Any<'js>| {
                if let Some(call) = call.0.into_function() {
                    let kept = Persistent::save(&ctx, call);
                    state(&own).handlers.borrow_mut().push((name.0, kept));
                }
            },
        )?;
        function(&proto, "send", |ctx: Ctx<'js>, own: Own<'js>, text: Opt<Coerced<String>>| {
            let state = state(&own);
            if !state.is_open(&ctx)? {
                return Ok(());
            }
            let text = text.0.map(|text| text.0).unwrap_or_default();
            state.session.send(&ctx, Order::Text(text))?;
            state.session.sent();
            Ok::<_, js::Error>(())
        })?;
        function(&proto, "sendBinary", send_binary)?;
        function(&proto, "ping", |ctx: Ctx<'js>, own: Own<'js>| {
            let state = state(&own);
            if state.is_open(&ctx)? {
                state.session.ping(&ctx)?;
            }
            Ok::<_, js::Error>(())
        })?;
        function(
            &proto,
            "close",
            |ctx: Ctx<'js>, own: Own<'js>, code: Opt<Option<Coerced<i64>>>| {
                state(&own).close(&ctx, code.0.flatten().map(|code| code.0))
            },
        )?;
        for name in ["setTimeout", "setInterval"] {
            let set =
                move |ctx: Ctx<'js>, own: Own<'js>, call: Function<'js>, ms: coerced::Number| {
                    state(&own).set_timer(&ctx, name, call, ms.0)
                };
            function(&proto, name, set)?;
        }
        Ok(Some(proto))
    }

    fn constructor(_: &Ctx<'js>) -> js::Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

fn send_binary<'js>(ctx: Ctx<'js>, own: Own<'js>, data: Opt<Value<'js>>) -> js::Result<()> {
    let Some(data) = data.0.filter(|data| !data.is_undefined()) else {
        return Err(throw(&ctx, "missing argument, expected ArrayBuffer"));
    };
    let bytes = super::super::bytes::of(&data).filter(|_| !data.is_string());
    let Some(bytes) = bytes else {
        let kind = match data.type_of() {
            js::Type::String => "String".to_owned(),
            other => other.to_string(),
        };
        return Err(throw(&ctx, &format!("expected ArrayBuffer as argument, received: {kind}")));
    };
    let state = state(&own);
    if state.is_open(&ctx)? {
        state.session.send(&ctx, Order::Binary(bytes))?;
        state.session.sent();
    }
    Ok(())
}
