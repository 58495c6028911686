//! `redis.Client`: commands as promises.

use std::rc::Rc;
use std::sync::Arc;

use sojourn_script::js::class::{JsClass, Readable, Trace, Tracer};
use sojourn_script::js::function::Constructor;
use sojourn_script::js::prelude::{Opt, Rest, This};
use sojourn_script::js::{
    self, Class, Coerced, Ctx, Exception, FromJs, Function, JsLifetime, Object, Persistent,
    Promise, Value,
};

use super::commands::{Gives, METHODS, Takes};
use super::options::ServerOptions;
use super::values;
use crate::modules::go_error::throw;
use crate::modules::{function, grpc};
use crate::sockets::Event;
use crate::sockets::dial::Endpoint;
use crate::sockets::redis::{Command, Pool, Server};
use crate::user::{Outcome, Phase, User};

/// See the module's page.
pub(super) struct Client {
    state: Rc<State>,
}

struct State {
    user: Rc<User>,
    /// Made with the first command: at the top level options are not known yet.
    pool: std::cell::OnceCell<Result<Arc<Pool>, String>>,
    options: ServerOptions,
}

pub(super) fn constructor<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Function<'js>> {
    let user = Rc::clone(user);
    let construct = move |ctx: Ctx<'js>, given: Opt<Value<'js>>| {
        let given = given.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
        let options = ServerOptions::read(&ctx, &given)?;
        let options = options
            .map_err(|problem| throw(&ctx, &format!("invalid options; reason: {problem}")))?;
        let (user, pool) = (Rc::clone(&user), std::cell::OnceCell::new());
        let state = Rc::new(State { user, pool, options });
        Class::instance(ctx, Client { state })
    };
    Ok(Function::new(ctx.clone(), construct)?.with_name("Client")?.with_constructor(true))
}

impl State {
    fn pool(&self) -> Result<Arc<Pool>, String> {
        self.pool.get_or_init(|| self.prepare().map(Arc::new)).clone()
    }

    fn prepare(&self) -> Result<Pool, String> {
        let settings = &self.user.host.settings;
        let ServerOptions { host, port, tls, .. } = &self.options;
        let mut endpoint = Endpoint::new(&settings.options, host, *port);
        if let Some(params) = tls {
            let base = settings.sockets.tls_without_protocol(&settings.tls, host)?;
            endpoint.tls = Some(grpc::tls_config(base, Some(params), &settings.tls)?);
        }
        let server = Server {
            endpoint,
            greeting: self.options.greeting(),
            dial_timeout: self.options.dial_timeout,
            reply_timeout: self.options.reply_timeout,
            connections_max: self.options.connections_max,
        };
        Ok(Pool::new(server, self.user.links.traffic()))
    }

    /// A promise of what the server replies.
    fn call<'js>(
        &self,
        ctx: &Ctx<'js>,
        command: Result<Command, String>,
        gives: Gives,
    ) -> js::Result<Promise<'js>> {
        let (promise, resolve, reject) = ctx.promise()?;
        let begun = command.and_then(|command| self.begin(command));
        match begun {
            Err(problem) => reject.call::<_, ()>((error(ctx, &problem)?,))?,
            Ok(operation) => {
                let user = Rc::clone(&self.user);
                let resolve = Persistent::save(ctx, resolve);
                let reject = Persistent::save(ctx, reject);
                let callback = move |ctx: &Ctx<'_>, outcome: Outcome| {
                    user.links.end(operation);
                    let Outcome::Socket(arrival) = outcome else { return Ok(()) };
                    let Event::Redis(answer) = arrival.event else { return Ok(()) };
                    let value = match answer {
                        Ok(reply) => values::value(ctx, reply, gives)?,
                        Err(problem) => Err(problem),
                    };
                    match value {
                        Ok(value) => resolve.restore(ctx)?.call::<_, ()>((value,)),
                        Err(problem) => {
                            reject.restore(ctx)?.call::<_, ()>((error(ctx, &problem)?,))
                        }
                    }
                };
                self.user.when_done(operation, Box::new(callback));
            }
        }
        Ok(promise)
    }

    fn begin(&self, command: Command) -> Result<crate::host::OperationId, String> {
        let user = &self.user;
        if user.phase.get() == Phase::Init {
            let told = "connecting to a redis server in the init context is not supported";
            return Err(told.to_owned());
        }
        let pool = self.pool()?;
        let operation = user.operation();
        let link = user.host.inbox.link(user.index, operation);
        let task = pool.run(Arc::clone(&link), command);
        user.links.start(&user.host.settings.sockets, &link, task)?;
        Ok(operation)
    }

    fn close(&self) {
        if let Some(Ok(pool)) = self.pool.get() {
            pool.close();
        }
    }
}

/// What a promise is rejected with.
fn error<'js>(ctx: &Ctx<'js>, problem: &str) -> js::Result<Exception<'js>> {
    let error = Exception::from_message(ctx.clone(), problem)?;
    // As text it is its message alone.
    error.as_object().set("name", "")?;
    Ok(error)
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
        for method in METHODS {
            let call = move |ctx: Ctx<'js>, own: Own<'js>, rest: Rest<Value<'js>>| {
                let command = values::command(&ctx, method.command, method.takes, &rest.0)?;
                state(&own).call(&ctx, command, method.gives)
            };
            function(&proto, method.name, call)?;
        }
        let send = |ctx: Ctx<'js>, own: Own<'js>, name: Opt<Value<'js>>, rest: Rest<Value<'js>>| {
            let name = name.0.filter(Value::is_string);
            let name = name.map(|name| Coerced::<String>::from_js(&ctx, name)).transpose()?;
            let command = match name {
                Some(name) => values::command(&ctx, &name.0, Takes::Values(0), &rest.0)?,
                None => Err("sendCommand: the command's name must be a string".to_owned()),
            };
            state(&own).call(&ctx, command, Gives::Anything)
        };
        function(&proto, "sendCommand", send)?;
        function(&proto, "isConnected", |own: Own<'js>| {
            matches!(state(&own).pool.get(), Some(Ok(_)))
        })?;
        function(&proto, "close", |own: Own<'js>| state(&own).close())?;
        Ok(Some(proto))
    }

    fn constructor(_: &Ctx<'js>) -> js::Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}
