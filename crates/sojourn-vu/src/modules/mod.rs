//! The modules that scripts import.

pub(crate) mod bytes;
pub(crate) mod coerced;
mod crypto;
mod csv;
mod data;
mod encoding;
mod execution;
mod fs;
mod go_error;
mod go_type;
pub(crate) mod grpc;
pub(crate) mod html;
pub(crate) mod http;
mod journeys;
pub(crate) mod jslib;
mod k6;
#[cfg(feature = "kafka")]
pub(crate) mod kafka;
pub(crate) mod lazy;
mod metrics;
#[cfg(feature = "mqtt")]
mod mqtt;
mod promise;
mod redis;
mod secrets;
mod streams;
mod text;
pub(crate) mod timers;
pub(crate) mod webcrypto;
mod websocket;

use std::rc::Rc;

use sojourn_script::Builtins;
use sojourn_script::js::{self, Ctx, Exception, Function, Object};

use crate::globals;
use crate::user::User;

/// What one user's script can import.
pub(crate) struct Modules {
    user: Rc<User>,
}

impl Modules {
    pub(crate) fn new(user: Rc<User>) -> Self {
        Self { user }
    }
}

/// Modules that hand out no buffers, or see to those themselves: most users import no others, and
/// then need no memory for the globals of buffers.
const WITHOUT_BUFFERS: [&str; 8] = [
    "k6",
    "k6/http",
    "k6/metrics",
    "k6/data",
    "k6/execution",
    "k6/timers",
    "k6/experimental/streams",
    "sojourn",
];

/// Modules that there are in k6 and not here, and why.
fn refusal(name: &str) -> Option<String> {
    let reason = match name {
        "k6/browser" | "k6/experimental/browser" => {
            "browsers are not driven here; load the pages' requests instead"
        }
        "k6/x/mqtt" => "this build has no MQTT: build sojourn with `--features script,mqtt`",
        "k6/x/kafka" => "this build has no Kafka: build sojourn with `--features script,kafka`",
        _ if name.starts_with("k6/x/") => {
            "it is an extension of k6 written in Go, which has no equivalent here"
        }
        _ if name.starts_with("k6/") => "there is no such module here",
        _ => return None,
    };
    Some(format!("the module \"{name}\" can't be imported: {reason}"))
}

impl Builtins for Modules {
    fn has(&self, name: &str) -> bool {
        name == "k6" || name.starts_with("k6/") || name == "sojourn"
    }

    fn make<'js>(&self, ctx: &Ctx<'js>, name: &str) -> js::Result<Object<'js>> {
        let user = &self.user;
        if !WITHOUT_BUFFERS.contains(&name) {
            sojourn_script::buffers(ctx)?;
        }
        match name {
            "k6" => k6::make(ctx, user),
            "k6/http" => http::make(ctx, user),
            "k6/metrics" => metrics::make(ctx, user),
            "k6/data" => data::make(ctx, user),
            "k6/execution" => execution::make(ctx, user),
            "k6/crypto" => crypto::make(ctx),
            "k6/encoding" => encoding::make(ctx),
            "k6/html" => html::make(ctx),
            "sojourn" => journeys::make(ctx, user),
            "k6/secrets" => secrets::make(ctx, user),
            "k6/experimental/csv" => csv::make(ctx, user),
            "k6/experimental/fs" => fs::make(ctx, user),
            "k6/experimental/streams" => streams::make(ctx),
            "k6/experimental/webcrypto" => lazy::webcrypto(ctx),
            "k6/timers" | "k6/experimental/timers" => timers::make(ctx, user),
            "k6/ws" => websocket::blocking::make(ctx, user),
            "k6/websockets" => websocket::events::make(ctx, user),
            "k6/experimental/websockets" => {
                deprecated(user, name, "k6/websockets");
                websocket::events::make(ctx, user)
            }
            "k6/net/grpc" => grpc::make(ctx, user),
            "k6/x/redis" => redis::make(ctx, user),
            "k6/experimental/redis" => {
                deprecated(user, name, "k6/x/redis");
                redis::make(ctx, user)
            }
            #[cfg(feature = "mqtt")]
            "k6/x/mqtt" => mqtt::make(ctx, user),
            #[cfg(feature = "kafka")]
            "k6/x/kafka" => kafka::make(ctx, user),
            "k6/experimental/grpc" => {
                deprecated(user, name, "k6/net/grpc");
                grpc::make(ctx, user)
            }
            _ => {
                let told = refusal(name).unwrap_or_default();
                Err(Exception::throw_message(ctx, &told))
            }
        }
    }

    fn warn(&self, told: &str) {
        self.user.host.settings.console.warn(told);
    }

    fn may_require(&self, ctx: &Ctx<'_>) -> js::Result<()> {
        globals::only_at_init(&self.user, ctx, "require")
    }

    fn globals<'js>(&self, ctx: &Ctx<'js>) -> js::Result<()> {
        globals::set(ctx, &self.user)?;
        lazy::set(ctx)
    }
}

/// Warns of a module's old name, once.
fn deprecated(user: &User, name: &str, new: &str) {
    if !user.host.settings.bundle_is_frozen() {
        user.host.settings.console.warn(&format!(
            "{name} is deprecated and will be removed in a future release. Please use {new} \
             instead."
        ));
    }
}

/// Adds a function to a module's object.
pub(crate) fn function<'js, P, F>(object: &Object<'js>, name: &str, call: F) -> js::Result<()>
where
    F: js::function::IntoJsFunc<'js, P> + 'js,
{
    let function = Function::new(object.ctx().clone(), call)?.with_name(name)?;
    object.set(name, function)
}
