//! `grpc.Client`: loads services, connects, calls.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use prost_reflect::{DescriptorPool, MethodDescriptor};
use sojourn_script::js::class::{JsClass, Readable, Trace, Tracer};
use sojourn_script::js::function::Constructor;
use sojourn_script::js::prelude::{Rest, This};
use sojourn_script::js::{
    self, Array, Class, Coerced, Ctx, Exception, FromJs, Function, JsLifetime, Object, Persistent,
    Promise, Value,
};

use super::super::coerced::Text;
use super::super::function;
use super::super::go_error::throw;
use super::call::{self, Running};
use super::params::{CallParams, ConnectParams};
use super::{message, protos, reflection, status_word, wire};
use crate::sockets::dial::Endpoint;
use crate::sockets::grpc::{Call, Channel, Event, Metadata, Order, Status, code};
use crate::sockets::{Arrival, Event as Any};
use crate::user::{Outcome, Phase, User};

/// See the module's page.
pub(super) struct Client {
    pub(super) state: Rc<State>,
}

pub(super) struct State {
    pub(super) user: Rc<User>,
    pools: RefCell<Vec<DescriptorPool>>,
    connection: RefCell<Option<Rc<Connection>>>,
}

/// Where calls go.
pub(super) struct Connection {
    pub(super) channel: Arc<Channel>,
    /// As the script gave it.
    pub(super) address: String,
    pub(super) send_bytes_max: usize,
}

pub(super) fn constructor<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Function<'js>> {
    let user = Rc::clone(user);
    let construct = move |ctx: Ctx<'js>| {
        let user = Rc::clone(&user);
        let (pools, connection) = (RefCell::default(), RefCell::default());
        let state = Rc::new(State { user, pools, connection });
        Class::instance(ctx, Client { state })
    };
    Ok(Function::new(ctx.clone(), construct)?.with_name("Client")?.with_constructor(true))
}

impl State {
    fn only_at_init(&self, ctx: &Ctx<'_>, what: &str) -> js::Result<()> {
        if self.user.phase.get() == Phase::Init {
            return Ok(());
        }
        Err(throw(ctx, &format!("{what} must be called in the init context")))
    }

    /// `load(paths, ...files)`: all methods of the files.
    fn load<'js>(&self, ctx: &Ctx<'js>, arguments: &[Value<'js>]) -> js::Result<Array<'js>> {
        self.only_at_init(ctx, "load")?;
        let paths = arguments.first().and_then(Value::as_array);
        let texts = |it: &Array<'js>| it.iter::<String>().collect::<js::Result<Vec<_>>>();
        let paths = paths.map(texts).transpose()?.unwrap_or_default();
        let files = arguments.get(1..).unwrap_or_default().iter();
        let text = |it: &Value<'js>| Coerced::<String>::from_js(ctx, it.clone()).map(|it| it.0);
        let files = files.map(text).collect::<js::Result<Vec<_>>>()?;
        let settings = &self.user.host.settings;
        let key = format!("{paths:?}{files:?}").into_bytes();
        let pool = settings
            .protos
            .get(key, || protos::compile(&settings.bundle, &settings.folder, &paths, &files));
        self.keep(ctx, pool)
    }

    /// `loadProtoset(file)`: all methods of an encoded set of descriptors.
    fn load_set<'js>(&self, ctx: &Ctx<'js>, file: &str) -> js::Result<Array<'js>> {
        self.only_at_init(ctx, "loadProtoset")?;
        let settings = &self.user.host.settings;
        let path = settings.folder.join(file);
        let pool = settings.protos.get(format!("protoset {file}").into_bytes(), || {
            let wrong = |error| format!("couldn't open protoset: open {file}: {error}");
            let content = settings.bundle.open(&path).map_err(wrong)?;
            let broken = |error| format!("couldn't unmarshal protoset file {file}: {error}");
            protos::decode(&content).map_err(broken)
        });
        self.keep(ctx, pool)
    }

    fn keep<'js>(
        &self,
        ctx: &Ctx<'js>,
        pool: Result<DescriptorPool, String>,
    ) -> js::Result<Array<'js>> {
        let pool = pool.map_err(|problem| throw(ctx, &problem))?;
        let list = Array::new(ctx.clone())?;
        for service in pool.services() {
            for method in service.methods() {
                list.set(list.len(), described(ctx, &method)?)?;
            }
        }
        self.pools.borrow_mut().push(pool);
        Ok(list)
    }

    pub(super) fn connection(&self) -> Result<Rc<Connection>, String> {
        let connection = self.connection.borrow().clone();
        connection.ok_or_else(|| "no gRPC connection, you must call connect first".to_owned())
    }

    pub(super) fn method(&self, name: &str) -> Result<MethodDescriptor, String> {
        if name.is_empty() {
            return Err("method to invoke cannot be empty".to_owned());
        }
        let path = if name.starts_with('/') { name.to_owned() } else { format!("/{name}") };
        protos::method(&self.pools.borrow(), &path)
            .ok_or_else(|| format!("method \"{path}\" not found in file descriptors"))
    }

    fn connect<'js>(&self, ctx: &Ctx<'js>, arguments: &[Value<'js>]) -> js::Result<bool> {
        if self.user.phase.get() == Phase::Init {
            let told = "connecting to a gRPC server in the init context is not supported";
            return Err(throw(ctx, told));
        }
        let address = arguments.first().filter(|it| !it.is_undefined());
        let address = address.map(|it| Coerced::<String>::from_js(ctx, it.clone())).transpose()?;
        let address = address.map(|it| it.0).unwrap_or_default();
        let fail = |problem: String| throw(ctx, &problem);
        let params = ConnectParams::read(ctx, arguments.get(1))?
            .map_err(|why| fail(format!("invalid grpc.connect() parameters: {why}")))?;
        let connection = self.prepare(&address, &params).map_err(fail)?;
        let user = &self.user;
        let operation = user.operation();
        let link = user.host.inbox.link(user.index, operation);
        let task = Arc::clone(&connection.channel).connect(Arc::clone(&link), params.timeout);
        user.links.start(&user.host.settings.sockets, &link, task).map_err(fail)?;
        let outcome = user.wait_or_throw(ctx, operation)?;
        user.links.end(operation);
        if let Outcome::Socket(arrival) = outcome
            && let Any::Grpc(Event::Connected(Err(problem))) = arrival.event
        {
            return Err(fail(problem));
        }
        let connection = Rc::new(connection);
        if params.reflects {
            let pool = reflection::fetch(ctx, user, &connection, &params.reflect_metadata)?;
            self.pools.borrow_mut().push(pool.map_err(fail)?);
        }
        *self.connection.borrow_mut() = Some(connection);
        Ok(true)
    }

    fn prepare(&self, address: &str, params: &ConnectParams) -> Result<Connection, String> {
        let settings = &self.user.host.settings;
        let options = &settings.options;
        let plain = address.strip_prefix("dns:///").unwrap_or(address);
        let dialing = |why: &str| {
            format!("connection error: desc = \"transport: error while dialing: {why}\"")
        };
        let (host, port) =
            plain.rsplit_once(':').ok_or_else(|| dialing("missing port in address"))?;
        let port = port.parse().map_err(|_| dialing(&format!("invalid port \"{port}\"")))?;
        let mut endpoint = Endpoint::new(options, host, port);
        if !params.is_plaintext {
            let base = settings.sockets.tls_of_grpc(&settings.tls, host)?;
            endpoint.tls = Some(super::tls::config(base, params.tls.as_ref(), &settings.tls)?);
            endpoint.tls_name = params
                .authority
                .as_deref()
                .map(|name| name.rsplit_once(':').map_or(name, |(host, _)| host).to_owned());
        }
        let authority = params.authority.clone().unwrap_or_else(|| plain.to_owned());
        let traffic = self.user.links.traffic();
        let channel = Channel::new(endpoint, authority, params.receive_bytes_max, traffic);
        Ok(Connection {
            channel: Arc::new(channel),
            address: address.to_owned(),
            send_bytes_max: params.send_bytes_max,
        })
    }

    /// Sends a unary call.
    fn call<'js>(
        &self,
        ctx: &Ctx<'js>,
        arguments: &[Value<'js>],
    ) -> js::Result<Result<Unary, String>> {
        let connection = match self.connection() {
            Ok(connection) => connection,
            Err(problem) => return Ok(Err(problem)),
        };
        let name = arguments.first().map(|it| Coerced::<String>::from_js(ctx, it.clone()));
        let name = name.transpose()?.map(|name| name.0).unwrap_or_default();
        let method = match self.method(&name) {
            Ok(method) => method,
            Err(problem) => return Ok(Err(problem)),
        };
        let request = arguments.get(1).filter(|request| !request.is_undefined());
        let Some(request) = request else {
            return Ok(Err("request cannot be nil".to_owned()));
        };
        if request.is_null() {
            let told = "Cannot convert undefined or null to object";
            return Err(Exception::throw_type(ctx, told));
        }
        let params = match CallParams::of_call(ctx, arguments.get(2))? {
            Ok(params) => params,
            Err(why) => {
                return Ok(Err(format!("invalid GRPC's client.invoke() parameters: {why}")));
            }
        };
        let json = json_of(ctx, request)?;
        let bytes = match message::encode(&method.input(), &json) {
            Ok(bytes) => bytes,
            Err(why) => {
                let told = "unable to serialise request object to protocol buffer";
                return Ok(Err(format!("{told}: {why}")));
            }
        };
        let discards = params.discards;
        let running = Running::start(&self.user, &connection, method, params);
        Ok(running.map(|running| Unary::new(running, discards, bytes)))
    }

    fn invoke<'js>(&self, ctx: &Ctx<'js>, arguments: &[Value<'js>]) -> js::Result<Object<'js>> {
        let called = self.call(ctx, arguments)?;
        let mut unary = called.map_err(|problem| throw(ctx, &problem))?;
        loop {
            if let Some(status) = unary.refused.take() {
                return unary.answer(ctx, status, sojourn_clock::now_ns());
            }
            let outcome = self.user.wait_or_throw(ctx, unary.running.operation)?;
            let Outcome::Socket(arrival) = outcome else { continue };
            let at_ns = arrival.at_ns;
            if let Some(status) = unary.on_arrival(*arrival) {
                return unary.answer(ctx, status, at_ns);
            }
        }
    }

    fn invoke_async<'js>(
        &self,
        ctx: &Ctx<'js>,
        arguments: &[Value<'js>],
    ) -> js::Result<Promise<'js>> {
        let (promise, resolve, reject) = ctx.promise()?;
        match self.call(ctx, arguments)? {
            Err(problem) => {
                let error = Exception::from_message(ctx.clone(), &problem)?;
                // As text it is its message alone.
                error.as_object().set("name", "")?;
                reject.call::<_, ()>((error,))?;
            }
            Ok(mut unary) => match unary.refused.take() {
                Some(status) => {
                    let answer = unary.answer(ctx, status, sojourn_clock::now_ns())?;
                    resolve.call::<_, ()>((answer,))?;
                }
                None => unary.carry(Persistent::save(ctx, resolve)),
            },
        }
        Ok(promise)
    }

    /// `healthCheck(service)`: what the server says of itself (grpc.health.v1).
    fn health<'js>(&self, ctx: &Ctx<'js>, service: &str) -> js::Result<Object<'js>> {
        let fail = |problem: String| throw(ctx, &problem);
        let connection = self.connection().map_err(fail)?;
        let call = Call {
            path: "/grpc.health.v1.Health/Check".to_owned(),
            metadata: Vec::new(),
            timeout: Some(std::time::Duration::from_secs(60)),
            user_agent: call::user_agent(&self.user),
        };
        let (operation, _, orders) = call::begin(&self.user, &connection, call).map_err(fail)?;
        let request = if service.is_empty() { Vec::new() } else { wire::text(1, service) };
        orders.try_send(Order::Message(request)).ok();
        orders.try_send(Order::End).ok();
        let mut serving = 0;
        loop {
            let outcome = self.user.wait_or_throw(ctx, operation)?;
            let Outcome::Socket(arrival) = outcome else { continue };
            match arrival.event {
                Any::Grpc(Event::Message(bytes)) => {
                    for (number, value) in wire::fields(&bytes) {
                        if let (1, wire::Wire::Varint(value)) = (number, value) {
                            serving = value;
                        }
                    }
                }
                Any::Grpc(Event::Ended(status)) => {
                    self.user.links.end(operation);
                    if status.code != code::OK {
                        let (word, message) = (status_word(status.code), status.message);
                        return Err(fail(format!("rpc error: code = {word} desc = {message}")));
                    }
                    let answer = Object::new(ctx.clone())?;
                    answer.set("status", serving as f64)?;
                    return Ok(answer);
                }
                _ => {}
            }
        }
    }
}

/// The JSON that an object of a script stands for.
pub(super) fn json_of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> js::Result<String> {
    let json = ctx.json_stringify(value.clone())?;
    json.map_or_else(|| Ok("null".to_owned()), |json| json.to_string())
}

/// A unary call and what has come of it.
struct Unary {
    running: Running,
    discards: bool,
    /// Why it was not even sent.
    refused: Option<Status>,
    headers: Metadata,
    message: Option<bytes::Bytes>,
}

impl Unary {
    fn new(running: Running, discards: bool, request: Vec<u8>) -> Self {
        let refused = running.send(request).err();
        running.end_sending();
        Self { running, discards, refused, headers: Vec::new(), message: None }
    }

    /// How the call ended, if that is what has come.
    fn on_arrival(&mut self, arrival: Arrival) -> Option<Status> {
        match arrival.event {
            Any::Grpc(Event::Headers(headers)) => self.headers = headers,
            Any::Grpc(Event::Message(bytes)) => {
                let told = "cardinality violation: expected <EOF> for non server-streaming RPCs, \
                            but received another message";
                let is_second = self.message.replace(bytes).is_some();
                return is_second.then(|| Status::new(code::INTERNAL, told));
            }
            Any::Grpc(Event::Ended(status)) => return Some(*status),
            _ => {}
        }
        None
    }

    fn answer<'js>(&self, ctx: &Ctx<'js>, status: Status, at_ns: u64) -> js::Result<Object<'js>> {
        let running = &self.running;
        running.over(&status, at_ns);
        let mut status = status;
        let message = if self.discards {
            Value::new_null(ctx.clone())
        } else {
            let bytes = self.message.as_deref().unwrap_or_default();
            let decoded = message::decode(&running.method.output(), bytes);
            match decoded {
                Ok(json) => ctx.json_parse(json.to_string())?,
                Err(why) => {
                    status = Status::new(code::INTERNAL, format!("grpc: {why}"));
                    Value::new_null(ctx.clone())
                }
            }
        };
        let answer = Object::new(ctx.clone())?;
        answer.set("message", message)?;
        answer.set("error", call::error(ctx, &status)?)?;
        answer.set("headers", call::metadata(ctx, &self.headers)?)?;
        answer.set("trailers", call::metadata(ctx, &status.trailers)?)?;
        answer.set("status", status.code)?;
        Ok(answer)
    }

    /// Carries the call on from the script's event loop.
    fn carry(mut self, resolve: Persistent<Function<'static>>) {
        let (user, operation) = (Rc::clone(&self.running.user), self.running.operation);
        let callback = move |ctx: &Ctx<'_>, outcome: Outcome| {
            let Outcome::Socket(arrival) = outcome else { return Ok(()) };
            let at_ns = arrival.at_ns;
            match self.on_arrival(*arrival) {
                Some(status) => {
                    let answer = self.answer(ctx, status, at_ns)?;
                    resolve.restore(ctx)?.call::<_, ()>((answer,))
                }
                None => {
                    self.carry(resolve);
                    Ok(())
                }
            }
        };
        user.when_done(operation, Box::new(callback));
    }
}

fn described<'js>(ctx: &Ctx<'js>, method: &MethodDescriptor) -> js::Result<Object<'js>> {
    let service = method.parent_service();
    let object = Object::new(ctx.clone())?;
    object.set("package", service.package_name())?;
    object.set("service", service.name())?;
    object.set("full_method", format!("/{}/{}", service.full_name(), method.name()))?;
    object.set("name", method.name())?;
    object.set("is_client_stream", method.is_client_streaming())?;
    object.set("is_server_stream", method.is_server_streaming())?;
    Ok(object)
}

impl<'js> Trace<'js> for Client {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

// SAFETY: nothing in it has the lifetime of an engine.
#[allow(unsafe_code)]
unsafe impl<'js> JsLifetime<'js> for Client {
    type Changed<'to> = Self;
}

type Own<'js> = This<Class<'js, Client>>;

fn state(own: &Own<'_>) -> Rc<State> {
    Rc::clone(&own.0.borrow().state)
}

impl<'js> JsClass<'js> for Client {
    const NAME: &'static str = "Client";
    type Mutable = Readable;

    fn prototype(ctx: &Ctx<'js>) -> js::Result<Option<Object<'js>>> {
        let proto = Object::new(ctx.clone())?;
        function(&proto, "load", |ctx: Ctx<'js>, own: Own<'js>, rest: Rest<Value<'js>>| {
            state(&own).load(&ctx, &rest.0)
        })?;
        function(&proto, "loadProtoset", |ctx: Ctx<'js>, own: Own<'js>, file: Text| {
            state(&own).load_set(&ctx, &file.0)
        })?;
        function(&proto, "connect", |ctx: Ctx<'js>, own: Own<'js>, rest: Rest<Value<'js>>| {
            state(&own).connect(&ctx, &rest.0)
        })?;
        function(&proto, "invoke", |ctx: Ctx<'js>, own: Own<'js>, rest: Rest<Value<'js>>| {
            state(&own).invoke(&ctx, &rest.0)
        })?;
        function(&proto, "asyncInvoke", |ctx: Ctx<'js>, own: Own<'js>, rest: Rest<Value<'js>>| {
            state(&own).invoke_async(&ctx, &rest.0)
        })?;
        function(&proto, "healthCheck", |ctx: Ctx<'js>, own: Own<'js>, service: Text| {
            state(&own).health(&ctx, &service.0)
        })?;
        function(&proto, "close", |own: Own<'js>| {
            state(&own).connection.borrow_mut().take();
        })?;
        Ok(Some(proto))
    }

    fn constructor(_: &Ctx<'js>) -> js::Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}
