//! `k6/net/grpc`: calls of gRPC services.
//!
//! `protos` finds services, `message` turns objects into messages and back, `params` reads what
//! scripts say besides, `call` is one call, of which `client` makes answers and `stream` events.

mod call;
mod client;
pub(in crate::modules) mod message;
mod params;
mod protos;
mod reflection;
mod stream;
mod tls;
mod wire;

use std::rc::Rc;
use std::sync::PoisonError;

use sojourn_k6::metrics::{Contains, MetricId, MetricKind};
use sojourn_script::js::{self, Ctx, Exception, Object};

use crate::user::User;

pub(in crate::modules) use params::TlsParams;
pub(crate) use protos::Protos;
#[cfg(feature = "kafka")]
pub(in crate::modules) use protos::compile_texts;
pub(in crate::modules) use tls::config as tls_config;

/// Codes of statuses, and what health checks tell.
const CONSTANTS: [(&str, u32); 21] = [
    ("StatusOK", 0),
    ("StatusCanceled", 1),
    ("StatusUnknown", 2),
    ("StatusInvalidArgument", 3),
    ("StatusDeadlineExceeded", 4),
    ("StatusNotFound", 5),
    ("StatusAlreadyExists", 6),
    ("StatusPermissionDenied", 7),
    ("StatusResourceExhausted", 8),
    ("StatusFailedPrecondition", 9),
    ("StatusAborted", 10),
    ("StatusOutOfRange", 11),
    ("StatusUnimplemented", 12),
    ("StatusInternal", 13),
    ("StatusUnavailable", 14),
    ("StatusDataLoss", 15),
    ("StatusUnauthenticated", 16),
    ("HealthCheckUnknown", 0),
    ("HealthCheckServing", 1),
    ("HealthCheckNotServing", 2),
    ("HealthCheckServiceUnkown", 3),
];

/// A status as gRPC's library for Go, and so k6, writes it: `NotFound`.
fn status_word(code: u32) -> String {
    let names = CONSTANTS.iter().filter(|(_, own)| *own == code);
    let found = names.filter_map(|(name, _)| name.strip_prefix("Status")).next();
    found.map_or_else(|| format!("Code({code})"), str::to_owned)
}

/// Metrics of streams, which are there when the module is.
#[derive(Clone, Copy)]
struct StreamMetrics {
    streams: MetricId,
    sent: MetricId,
    received: MetricId,
}

pub(super) fn make<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    for (name, value) in CONSTANTS {
        module.set(name, value)?;
    }
    let declare = |name| {
        let registry = &user.host.settings.registry;
        let mut registry = registry.lock().unwrap_or_else(PoisonError::into_inner);
        let declared = registry.declare(name, MetricKind::Counter, Contains::Default);
        declared.map_err(|error| Exception::throw_message(ctx, &error.to_string()))
    };
    let metrics = StreamMetrics {
        streams: declare("grpc_streams")?,
        sent: declare("grpc_streams_msgs_sent")?,
        received: declare("grpc_streams_msgs_received")?,
    };
    module.set("Client", client::constructor(ctx, user)?)?;
    module.set("Stream", stream::constructor(ctx, metrics)?)?;
    Ok(module)
}
