//! `grpc.Stream`: a call with many messages, as events.

use std::cell::Cell;
use std::rc::Rc;

use sojourn_clock::now_ns;
use sojourn_script::js::class::{JsClass, Readable, Trace, Tracer};
use sojourn_script::js::function::{Constructor, IntoArgs};
use sojourn_script::js::object::Property;
use sojourn_script::js::prelude::{Rest, This};
use sojourn_script::js::{
    self, Array, Class, Coerced, Ctx, Exception, FromJs, Function, JsLifetime, Object, Persistent,
    Value,
};

use super::super::function;
use super::super::go_error::throw;
use super::call::{self, Running};
use super::client::{Client, json_of};
use super::params::CallParams;
use super::{StreamMetrics, message};
use crate::sockets::grpc::{Event, Status, code};
use crate::sockets::{Arrival, Event as Any};
use crate::user::{Outcome, Phase};

/// k6 takes handlers of `status` and calls none.
const EVENTS: [&str; 4] = ["data", "error", "end", "status"];

/// What the script holds. Its handlers are properties of its object, so that the engine sees them.
struct Stream {
    state: Rc<State>,
}

struct State {
    running: Running,
    metrics: StreamMetrics,
    /// Nothing more is sent.
    has_ended: Cell<bool>,
    is_over: Cell<bool>,
}

pub(super) fn constructor<'js>(
    ctx: &Ctx<'js>,
    metrics: StreamMetrics,
) -> js::Result<Function<'js>> {
    let construct =
        move |ctx: Ctx<'js>, arguments: Rest<Value<'js>>| construct(&ctx, metrics, &arguments.0);
    Ok(Function::new(ctx.clone(), construct)?.with_name("Stream")?.with_constructor(true))
}

fn construct<'js>(
    ctx: &Ctx<'js>,
    metrics: StreamMetrics,
    arguments: &[Value<'js>],
) -> js::Result<Class<'js, Stream>> {
    let fail = |told: String| throw(ctx, &told);
    let client = arguments.first().and_then(|it| Class::<Client>::from_value(it).ok());
    let Some(client) = client else {
        return Err(fail("invalid GRPC Stream's client: empty gRPC client".to_owned()));
    };
    let client = Rc::clone(&client.borrow().state);
    if client.user.phase.get() == Phase::Init {
        let told = "creating a gRPC stream in the init context is not supported";
        return Err(fail(told.to_owned()));
    }
    let connection = client.connection().map_err(fail)?;
    let name = arguments.get(1).map(|it| Coerced::<String>::from_js(ctx, it.clone()));
    let name = name.transpose()?.map_or_else(|| "undefined".to_owned(), |name| name.0);
    let method = client.method(&name);
    let method = method.map_err(|why| fail(format!("invalid GRPC Stream's method: {why}")))?;
    let params = CallParams::of_stream(ctx, arguments.get(2))?;
    let params = params.map_err(|why| fail(format!("invalid GRPC Stream's parameters: {why}")))?;
    let running = Running::start(&client.user, &connection, method, params).map_err(fail)?;
    running.add(metrics.streams, None, now_ns(), 1.0);
    let (has_ended, is_over) = (Cell::new(false), Cell::new(false));
    let state = Rc::new(State { running, metrics, has_ended, is_over });
    let stream = Class::instance(ctx.clone(), Stream { state: Rc::clone(&state) })?;
    state.listen(Persistent::save(ctx, stream.clone().into_inner()));
    Ok(stream)
}

type Kept = Persistent<Object<'static>>;

impl State {
    /// The stream's next arrival goes to its handlers.
    fn listen(self: &Rc<Self>, object: Kept) {
        let state = Rc::clone(self);
        let callback = move |ctx: &Ctx<'_>, outcome: Outcome| {
            let Outcome::Socket(arrival) = outcome else { return Ok(()) };
            if !matches!(&arrival.event, Any::Grpc(Event::Ended(_))) {
                state.listen(object.clone());
            }
            let object = object.restore(ctx)?;
            state.on_arrival(ctx, &object, *arrival)
        };
        let running = &self.running;
        running.user.when_done(running.operation, Box::new(callback));
    }

    fn on_arrival<'js>(
        &self,
        ctx: &Ctx<'js>,
        object: &Object<'js>,
        arrival: Arrival,
    ) -> js::Result<()> {
        let at_ns = arrival.at_ns;
        match arrival.event {
            Any::Grpc(Event::Message(bytes)) => {
                let running = &self.running;
                running.add(self.metrics.received, Some(code::OK), at_ns, 1.0);
                match message::decode(&running.method.output(), &bytes) {
                    Ok(json) => {
                        let data: Value<'js> = ctx.json_parse(json.to_string())?;
                        let metadata = Object::new(ctx.clone())?;
                        // Whole seconds.
                        metadata
                            .set("ts", (running.user.host.unix_ns(at_ns) / 1_000_000_000) as f64)?;
                        emit(object, "data", (data, metadata))
                    }
                    Err(why) => fail(ctx, object, &Status::new(code::INTERNAL, why)),
                }
            }
            Any::Grpc(Event::Ended(status)) => {
                self.running.over(&status, at_ns);
                self.is_over.set(true);
                if status.code != code::OK {
                    fail(ctx, object, &status)?;
                }
                emit(object, "end", (Object::new(ctx.clone())?,))
            }
            _ => Ok(()),
        }
    }

    fn write<'js>(
        &self,
        ctx: &Ctx<'js>,
        object: &Object<'js>,
        value: &Value<'js>,
    ) -> js::Result<()> {
        if self.has_ended.get() || self.is_over.get() {
            return Ok(());
        }
        let running = &self.running;
        let json = json_of(ctx, value)?;
        let refused = match message::encode(&running.method.input(), &json) {
            Ok(bytes) => running.send(bytes).err(),
            Err(why) => {
                let told = format!("can't serialise request object to protocol buffer: {why}");
                Some(Status::new(code::UNKNOWN, told))
            }
        };
        if let Some(status) = refused {
            self.fail_later(ctx, object, status);
            return Ok(());
        }
        running.add(self.metrics.sent, None, now_ns(), 1.0);
        // Who sends one message has then sent all.
        if !running.method.is_client_streaming() {
            self.end();
        }
        Ok(())
    }

    fn end(&self) {
        if !self.has_ended.replace(true) {
            self.running.end_sending();
        }
    }

    /// Tells of an error once the script's own code has run.
    fn fail_later<'js>(&self, ctx: &Ctx<'js>, object: &Object<'js>, status: Status) {
        let user = &self.running.user;
        let operation = user.operation();
        let object = Persistent::save(ctx, object.clone());
        user.host.set_timer(now_ns(), user.index, operation);
        let callback = move |ctx: &Ctx<'_>, _: Outcome| {
            let object = object.restore(ctx)?;
            fail(ctx, &object, &status)
        };
        user.when_done(operation, Box::new(callback));
    }
}

/// Calls the handlers of `error`.
fn fail<'js>(ctx: &Ctx<'js>, object: &Object<'js>, status: &Status) -> js::Result<()> {
    let error = call::error(ctx, status)?;
    if let Some(error) = error.as_object() {
        let shown = format!("code: {}, message: {}", status.code, status.message);
        let text = shown.clone();
        function(error, "error", move || text.clone())?;
        let show = Function::new(ctx.clone(), move || shown.clone())?;
        error.prop("toString", Property::from(show))?;
    }
    emit(object, "error", (error,))
}

fn handlers_key(event: &str) -> String {
    format!("__on_{event}")
}

fn emit<'js, A: IntoArgs<'js> + Clone>(
    object: &Object<'js>,
    event: &str,
    arguments: A,
) -> js::Result<()> {
    let handlers: Option<Array<'js>> = object.get(handlers_key(event))?;
    for handler in handlers.iter().flat_map(Array::iter::<Function<'js>>) {
        handler?.call::<_, ()>(arguments.clone())?;
    }
    Ok(())
}

impl<'js> Trace<'js> for Stream {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

// SAFETY: nothing in it has the lifetime of an engine.
#[allow(unsafe_code)]
unsafe impl<'js> JsLifetime<'js> for Stream {
    type Changed<'to> = Self;
}

type Own<'js> = This<Class<'js, Stream>>;

fn state(own: &Own<'_>) -> Rc<State> {
    Rc::clone(&own.0.borrow().state)
}

impl<'js> JsClass<'js> for Stream {
    const NAME: &'static str = "Stream";
    type Mutable = Readable;

    fn prototype(ctx: &Ctx<'js>) -> js::Result<Option<Object<'js>>> {
        let proto = Object::new(ctx.clone())?;
        function(&proto, "on", on)?;
        function(&proto, "write", |ctx: Ctx<'js>, own: Own<'js>, value: Value<'js>| {
            state(&own).write(&ctx, own.0.as_inner(), &value)
        })?;
        function(&proto, "end", |own: Own<'js>| state(&own).end())?;
        Ok(Some(proto))
    }

    fn constructor(_: &Ctx<'js>) -> js::Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

fn on<'js>(ctx: Ctx<'js>, own: Own<'js>, event: String, call: Value<'js>) -> js::Result<()> {
    if !EVENTS.contains(&event.as_str()) {
        let console = &state(&own).running.user.host.settings.console;
        console.warn(&format!(
            "can't register {event} event handler: unknown GRPC stream's event type: {event}"
        ));
        return Ok(());
    }
    let Some(call) = call.into_function() else {
        return Err(Exception::throw_type(&ctx, "an event's handler must be a function"));
    };
    let object = own.0.as_inner();
    let key = handlers_key(&event);
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
