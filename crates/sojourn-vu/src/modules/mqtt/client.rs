//! `Client`: connecting, calls that wait and calls that promise, and what comes.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use sojourn_broker_mqtt::session::{self, Hello};
use sojourn_clock::now_ns;
use sojourn_script::js::class::{JsClass, Readable, Trace, Tracer};
use sojourn_script::js::function::Constructor;
use sojourn_script::js::object::{Accessor, Property};
use sojourn_script::js::prelude::{Opt, Rest, This};
use sojourn_script::js::{
    self, ArrayBuffer, Class, Ctx, Exception, Function, JsLifetime, Object, Persistent, Promise,
    Value,
};

use super::super::coerced::Text;
use super::super::{function, promise};
use super::calls::{self, interrupted};
use super::connection::{Connection, ENDED, Promises};
use super::events::{self, Failure};
use super::meters::{Account, Meters};
use super::options::{Address, CallOptions, ClientOptions, ConnectOptions, OwnWill, Tags};
use crate::sockets::dial::Endpoint;
use crate::sockets::mqtt::{Ask, Event, Server};
use crate::sockets::{Arrival, Event as Any};
use crate::user::{Outcome, User};

/// Where the function lies that says who we are: a property, so that the engine sees it.
const PROVIDER: &str = "__credentials_provider";

/// What the script holds.
pub(super) struct Client {
    state: Rc<State>,
}

/// What is behind it.
pub(super) struct State {
    pub(super) user: Rc<User>,
    meters: Meters,
    client_id: String,
    name: Option<String>,
    password: Option<String>,
    will: Option<OwnWill>,
    tags: Tags,
    pub(super) current: RefCell<Option<Rc<Connection>>>,
    /// How `connect` was called last.
    last: RefCell<Option<ConnectOptions>>,
}

pub(super) fn constructor<'js>(
    ctx: &Ctx<'js>,
    user: &Rc<User>,
    meters: Meters,
) -> js::Result<Function<'js>> {
    let user = Rc::clone(user);
    let construct = move |ctx: Ctx<'js>, given: Opt<Value<'js>>| -> js::Result<_> {
        let options = ClientOptions::read(&ctx, given.0.as_ref())?;
        let ClientOptions { client_id, user: name, password, provider, will, tags } = options;
        let (user, current, last) = (Rc::clone(&user), RefCell::default(), RefCell::default());
        let state =
            Rc::new(State { user, meters, client_id, name, password, will, tags, current, last });
        let client = Class::instance(ctx, Client { state })?;
        if let Some(provider) = provider {
            client.as_inner().prop(PROVIDER, Property::from(provider))?;
        }
        Ok(client)
    };
    Ok(Function::new(ctx.clone(), construct)?.with_name("Client")?.with_constructor(true))
}

type Kept = Persistent<Object<'static>>;

/// What a call came to: in words for the script, or the exception of a handler.
type Told<T> = js::Result<Result<T, String>>;

impl State {
    /// Where a call's samples go.
    pub(super) fn account(&self, tags: &Tags) -> Account {
        Account::new(&self.user, self.meters, &[&self.tags, tags])
    }

    fn open_connection(&self) -> Option<Rc<Connection>> {
        let current = self.current.borrow();
        current.as_ref().filter(|connection| connection.is_open()).cloned()
    }

    fn connect<'js>(
        self: &Rc<Self>,
        ctx: &Ctx<'js>,
        object: &Object<'js>,
        arguments: &[Value<'js>],
    ) -> js::Result<()> {
        self.user.not_at_init(ctx, "connecting to an MQTT broker")?;
        let options = ConnectOptions::read(ctx, arguments)?;
        *self.last.borrow_mut() = Some(options.clone());
        let account = self.account(&options.tags);
        account.called();
        let told = match self.open_connection() {
            Some(_) => Err("the client is connected already".to_owned()),
            None => self.open(ctx, object, &options, &account)?,
        };
        self.report(ctx, object, "connect", told, &account)
    }

    fn reconnect<'js>(self: &Rc<Self>, ctx: &Ctx<'js>, object: &Object<'js>) -> js::Result<()> {
        self.user.not_at_init(ctx, "connecting to an MQTT broker")?;
        let last = self.last.borrow().clone();
        let account = self.account(last.as_ref().map_or(&Tags::new(), |last| &last.tags));
        account.called();
        let told = match last {
            None => Err("there is nothing to reconnect to: call connect first".to_owned()),
            Some(options) => {
                if let Some(connection) = self.open_connection() {
                    let promises = connection.promises();
                    connection.leave();
                    connection.wait_over(true).ok_or_else(|| interrupted(ctx))?;
                    promises.map_or(Ok(()), |promises| self.reject_all(ctx, &promises, ENDED))?;
                }
                events::emit_soon(&self.user, ctx, object, events::RECONNECT, None);
                self.open(ctx, object, &options, &account)?
            }
        };
        self.report(ctx, object, "reconnect", told, &account)
    }

    /// Waits until there is a session; its handlers are called from the event loop.
    fn open<'js>(
        self: &Rc<Self>,
        ctx: &Ctx<'js>,
        object: &Object<'js>,
        options: &ConnectOptions,
        account: &Account,
    ) -> Told<()> {
        let began_ns = now_ns();
        account.add(self.meters.connects, began_ns, 1.0);
        let begun = self.ask(object, options)?.and_then(|ask| Connection::begin(&self.user, ask));
        let connection = match begun {
            Ok(connection) => connection,
            Err(problem) => return Ok(Err(problem)),
        };
        let promises = connection.new_promises();
        self.listen(&connection, promises, Persistent::save(ctx, object.clone()));
        match connection.wait_connected() {
            None => Err(interrupted(ctx)),
            Some(Err(problem)) => {
                connection.forget();
                Ok(Err(problem))
            }
            Some(Ok(at_ns)) => {
                let took_ns = at_ns.saturating_sub(began_ns);
                account.add(self.meters.connect_time, at_ns, took_ns as f64 / 1e6);
                *self.current.borrow_mut() = Some(connection);
                Ok(Ok(()))
            }
        }
    }

    fn ask(&self, object: &Object<'_>, options: &ConnectOptions) -> Told<Ask> {
        let addresses = options.servers.iter().map(|server| Address::parse(server));
        let addresses: Vec<Address> = match addresses.collect() {
            Ok(addresses) => addresses,
            Err(problem) => return Ok(Err(problem)),
        };
        let (mut name, mut password) = (self.name.clone(), self.password.clone());
        if let Some(provider) = object.get::<_, Option<Function<'_>>>(PROVIDER)? {
            let given: Object<'_> = provider.call(())?;
            name = given.get("username")?;
            password = given.get("password")?;
        } else if let Some(first) = addresses.first().filter(|_| name.is_none()) {
            (name, password) = (first.user.clone(), password.or_else(|| first.password.clone()));
        }
        let hello = session::connect(&Hello {
            client_id: &self.client_id,
            is_clean: options.is_clean,
            keep_alive_s: options.keep_alive_s,
            user: name.as_deref(),
            password: password.as_deref(),
            will: self.will.as_ref().map(OwnWill::as_will),
        });
        let servers = addresses.into_iter().map(|address| self.server(address));
        let seconds = u64::from(options.keep_alive_s);
        let whole = servers.collect::<Result<Vec<_>, _>>().and_then(|servers| {
            Ok(Ask {
                servers,
                hello: hello?,
                keep_alive: (seconds > 0).then(|| Duration::from_secs(seconds)),
                timeout: options.timeout,
            })
        });
        Ok(whole)
    }

    fn server(&self, address: Address) -> Result<Server, String> {
        let settings = &self.user.host.settings;
        let Address { host, port, is_secure, websocket: url, .. } = address;
        let mut endpoint = Endpoint::new(&settings.options, &host, port);
        if url.is_some() {
            endpoint = endpoint.through(&settings.options, &settings.proxies, is_secure);
        }
        if is_secure {
            let (sockets, tls) = (&settings.sockets, &settings.tls);
            endpoint.tls = Some(match &url {
                Some(_) => sockets.tls(tls, &host)?,
                None => sockets.tls_without_protocol(tls, &host)?,
            });
        }
        Ok(Server { endpoint, url })
    }

    /// The session's next arrival goes where it belongs.
    fn listen(self: &Rc<Self>, connection: &Rc<Connection>, promises: Rc<Promises>, object: Kept) {
        let (state, session) = (Rc::clone(self), Rc::clone(connection));
        let callback = move |ctx: &Ctx<'_>, outcome: Outcome| {
            let Outcome::Socket(arrival) = outcome else { return Ok(()) };
            let Arrival { event: Any::Mqtt(event), at_ns, .. } = *arrival else { return Ok(()) };
            let is_last = matches!(event, Event::Closed | Event::Lost { .. });
            if !is_last {
                state.listen(&session, Rc::clone(&promises), object.clone());
            }
            let object = object.restore(ctx)?;
            let handled = match event {
                Event::Closed => state.over(ctx, &object, (&*session, &*promises), None),
                Event::Lost { error } | Event::Refused { error } => {
                    state.over(ctx, &object, (&*session, &*promises), Some(error))
                }
                event => state.on_event(ctx, &object, &promises, event, at_ns),
            };
            if handled.is_err() && !is_last {
                // A handler threw: the script's function fails, and nothing is left behind.
                session.forget();
            }
            handled
        };
        self.user.when_done(connection.operation, Box::new(callback));
    }

    fn on_event<'js>(
        &self,
        ctx: &Ctx<'js>,
        object: &Object<'js>,
        promises: &Promises,
        event: Event,
        at_ns: u64,
    ) -> js::Result<()> {
        match event {
            Event::Connected => events::emit(object, events::CONNECT, ()),
            Event::Message { topic, payload } => {
                self.account(&Tags::new()).received(payload.len(), at_ns);
                let payload = ArrayBuffer::new_copy(ctx.clone(), &payload[..])?;
                events::emit(object, events::MESSAGE, (topic, payload))
            }
            Event::Done { id } => self.answered(ctx, promises, id, &[]),
            Event::Granted { id, refused } => self.answered(ctx, promises, id, &refused),
            Event::Closed | Event::Lost { .. } | Event::Refused { .. } => Ok(()),
        }
    }

    /// The last event, with what went wrong.
    fn over<'js>(
        &self,
        ctx: &Ctx<'js>,
        object: &Object<'js>,
        (session, promises): (&Connection, &Promises),
        error: Option<String>,
    ) -> js::Result<()> {
        session.is_over();
        self.reject_all(ctx, promises, error.as_deref().unwrap_or(ENDED))?;
        let of_the_end = std::mem::take(&mut *promises.of_the_end.borrow_mut());
        for (resolve, _) in of_the_end {
            resolve.restore(ctx)?.call::<_, ()>(())?;
        }
        if let Some(told) = error {
            self.account(&Tags::new()).failed();
            let failure = Failure { method: "connection", told };
            events::emit(object, events::ERROR, (failure.to_js(ctx)?,))?;
        }
        events::emit(object, events::END, ())
    }

    fn end(&self, ctx: &Ctx<'_>, tags: &Tags) -> js::Result<()> {
        self.account(tags).called();
        let Some(connection) = self.open_connection() else { return Ok(()) };
        connection.leave();
        connection.wait_over(false).ok_or_else(|| interrupted(ctx))
    }

    fn end_later<'js>(&self, ctx: &Ctx<'js>, tags: &Tags) -> js::Result<Promise<'js>> {
        self.account(tags).called();
        let Some(connection) = self.open_connection() else { return promise::of(ctx, Ok(())) };
        let (promise, resolve, reject) = ctx.promise()?;
        let settling = (Persistent::save(ctx, resolve), Persistent::save(ctx, reject));
        if let Some(promises) = connection.promises() {
            promises.of_the_end.borrow_mut().push(settling);
        }
        connection.leave();
        Ok(promise)
    }

    /// What went wrong goes to the handlers of errors; without any, it is thrown.
    pub(super) fn report<'js>(
        &self,
        ctx: &Ctx<'js>,
        object: &Object<'js>,
        method: &'static str,
        told: Result<(), String>,
        account: &Account,
    ) -> js::Result<()> {
        let Err(told) = told else { return Ok(()) };
        account.failed();
        let failure = Failure { method, told };
        if !events::is_heard(object, events::ERROR)? {
            return Err(failure.throw(ctx));
        }
        events::emit_soon(&self.user, ctx, object, events::ERROR, Some(failure));
        Ok(())
    }
}

impl<'js> Trace<'js> for Client {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

// SAFETY: nothing in it has the lifetime of an engine.
#[allow(unsafe_code)]
unsafe impl<'js> JsLifetime<'js> for Client {
    type Changed<'to> = Self;
}

pub(super) type Own<'js> = This<Class<'js, Client>>;

pub(super) fn state(own: &Own<'_>) -> Rc<State> {
    Rc::clone(&own.0.borrow().state)
}

impl<'js> JsClass<'js> for Client {
    const NAME: &'static str = "Client";
    type Mutable = Readable;

    fn prototype(ctx: &Ctx<'js>) -> js::Result<Option<Object<'js>>> {
        let proto = Object::new(ctx.clone())?;
        let connected = Accessor::new_get(|own: Own<'js>| state(&own).open_connection().is_some());
        proto.prop("connected", connected.enumerable())?;
        function(&proto, "on", |ctx: Ctx<'js>, own: Own<'js>, event: Text, call: Value<'js>| {
            let Some(call) = call.into_function() else {
                return Err(Exception::throw_type(&ctx, "an event's handler must be a function"));
            };
            events::listen(&ctx, own.0.as_inner(), &event.0, call)
        })?;
        function(&proto, "connect", |ctx: Ctx<'js>, own: Own<'js>, given: Rest<Value<'js>>| {
            state(&own).connect(&ctx, own.0.as_inner(), &given.0)
        })?;
        function(&proto, "reconnect", |ctx: Ctx<'js>, own: Own<'js>| {
            state(&own).reconnect(&ctx, own.0.as_inner())
        })?;
        calls::methods(&proto)?;
        let tags = |ctx: &Ctx<'js>, given: Opt<Value<'js>>| {
            CallOptions::read(ctx, given.0.as_ref()).map(|options| options.tags)
        };
        function(&proto, "end", move |ctx: Ctx<'js>, own: Own<'js>, given: Opt<Value<'js>>| {
            state(&own).end(&ctx, &tags(&ctx, given)?)
        })?;
        function(
            &proto,
            "endAsync",
            move |ctx: Ctx<'js>, own: Own<'js>, given: Opt<Value<'js>>| {
                state(&own).end_later(&ctx, &tags(&ctx, given)?)
            },
        )?;
        Ok(Some(proto))
    }

    fn constructor(_: &Ctx<'js>) -> js::Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}
