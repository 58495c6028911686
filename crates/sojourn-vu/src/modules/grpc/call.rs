//! One call: prepared, started, accounted for.

use std::rc::Rc;
use std::sync::Arc;

use prost_reflect::MethodDescriptor;
use sojourn_k6::metrics::{MetricId, SystemTag, TagSet, builtin};
use sojourn_script::js::{self, Ctx, Object, Value};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Sender, channel};

use super::client::Connection;
use super::params::CallParams;
use crate::host::OperationId;
use crate::sockets::grpc::{self, Call, Metadata, Order, Status, code};
use crate::sockets::{Link, ORDERS_MAX, UNSENT_BYTES_MAX};
use crate::user::User;

/// A call under way.
pub(super) struct Running {
    pub(super) user: Rc<User>,
    pub(super) operation: OperationId,
    pub(super) method: MethodDescriptor,
    tags: Arc<TagSet>,
    link: Arc<Link>,
    orders: Sender<Order>,
    send_bytes_max: usize,
}

impl Running {
    pub(super) fn start(
        user: &Rc<User>,
        connection: &Connection,
        method: MethodDescriptor,
        params: CallParams,
    ) -> Result<Self, String> {
        let path = path(&method);
        let tags = tags(user, connection, &method, &path, &params);
        let call = Call {
            path,
            metadata: params.metadata,
            timeout: params.timeout,
            user_agent: user_agent(user),
        };
        let (operation, link, orders) = begin(user, connection, call)?;
        let send_bytes_max = connection.send_bytes_max;
        let user = Rc::clone(user);
        Ok(Self { user, operation, method, tags, link, orders, send_bytes_max })
    }

    /// Hands on a message. The error is the status that the call ends with for it.
    pub(super) fn send(&self, message: Vec<u8>) -> Result<(), Status> {
        let refused = |told| Status::new(code::RESOURCE_EXHAUSTED, told);
        let (bytes, bytes_max) = (message.len(), self.send_bytes_max);
        if bytes > bytes_max {
            let told = format!("trying to send message larger than max ({bytes} vs. {bytes_max})");
            return Err(refused(told));
        }
        if !self.link.reserve(bytes) {
            let told = format!("more than {UNSENT_BYTES_MAX} bytes wait to be sent");
            return Err(refused(told));
        }
        match self.orders.try_send(Order::Message(message)) {
            Err(TrySendError::Full(_)) => {
                self.link.written(bytes);
                Err(refused(format!("more than {ORDERS_MAX} messages wait to be sent")))
            }
            // A call that has ended has said so.
            Err(TrySendError::Closed(_)) | Ok(()) => Ok(()),
        }
    }

    /// There will be no more messages.
    pub(super) fn end_sending(&self) {
        if let Err(TrySendError::Full(_)) = self.orders.try_send(Order::End) {
            // The server could not be told that this is all.
            self.user.links.end(self.operation);
        }
    }

    /// The call is over: its account.
    pub(super) fn over(&self, status: &Status, at_ns: u64) {
        self.user.links.end(self.operation);
        // As with k6, which accounts for no call that it gave up.
        if status.is_late {
            return;
        }
        let took_ns = at_ns.saturating_sub(status.began_ns);
        let took_ms = if status.began_ns == 0 { 0.0 } else { took_ns as f64 / 1e6 };
        self.add(builtin::GRPC_REQ_DURATION, Some(status.code), at_ns, took_ms);
    }

    /// Accounts for a sample with the call's tags.
    pub(super) fn add(&self, metric: MetricId, status: Option<u32>, at_ns: u64, value: f64) {
        let user = &self.user;
        let status = status.filter(|_| user.host.settings.system_tags.has(SystemTag::Status));
        let tags = match status {
            Some(status) => {
                let pair = (SystemTag::Status.as_str(), status.to_string());
                user.host.tags(&self.tags, &[(pair.0, &pair.1)])
            }
            None => Arc::clone(&self.tags),
        };
        user.add_tagged(metric, &tags, at_ns, value);
    }
}

/// Starts a call's task, whatever the call is for.
pub(super) fn begin(
    user: &Rc<User>,
    connection: &Connection,
    call: Call,
) -> Result<(OperationId, Arc<Link>, Sender<Order>), String> {
    let operation = user.operation();
    let link = user.host.inbox.link(user.index, operation);
    let (orders, coming) = channel(ORDERS_MAX);
    let task = grpc::run(Arc::clone(&connection.channel), call, Arc::clone(&link), coming);
    user.links.start(&user.host.settings.sockets, &link, task)?;
    Ok((operation, link, orders))
}

pub(super) fn user_agent(user: &User) -> String {
    let own = concat!("Sojourn/", env!("CARGO_PKG_VERSION"));
    user.host.settings.options.user_agent.as_deref().unwrap_or(own).to_owned()
}

/// `/package.Service/Method`.
fn path(method: &MethodDescriptor) -> String {
    format!("/{}/{}", method.parent_service().full_name(), method.name())
}

fn tags(
    user: &User,
    connection: &Connection,
    method: &MethodDescriptor,
    path: &str,
    params: &CallParams,
) -> Arc<TagSet> {
    let system = user.host.settings.system_tags;
    let url = format!("{}{path}", connection.address);
    let service = method.parent_service();
    let own = [
        (SystemTag::Url, url.as_str()),
        (SystemTag::Name, path),
        (SystemTag::Service, service.full_name()),
        (SystemTag::Method, method.name()),
    ];
    let own = own.iter().filter(|(tag, _)| system.has(*tag));
    let mut pairs: Vec<(&str, &str)> = own.map(|(tag, value)| (tag.as_str(), *value)).collect();
    pairs.extend(params.tags.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    user.host.tags(&user.tags.borrow(), &pairs)
}

/// The error of a status as scripts see it; null of the good one.
pub(super) fn error<'js>(ctx: &Ctx<'js>, status: &Status) -> js::Result<Value<'js>> {
    if status.code == code::OK {
        return Ok(Value::new_null(ctx.clone()));
    }
    let error = Object::new(ctx.clone())?;
    error.set("code", status.code)?;
    error.set("message", status.message.as_str())?;
    error.set("details", Vec::<String>::new())?;
    Ok(error.into_value())
}

/// Metadata as scripts see it: lists of values by name.
pub(super) fn metadata<'js>(ctx: &Ctx<'js>, metadata: &Metadata) -> js::Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    for (name, value) in metadata {
        let known: Option<js::Array<'js>> = object.get(name.as_str())?;
        let list = known.map_or_else(|| js::Array::new(ctx.clone()), Ok)?;
        list.set(list.len(), String::from_utf8_lossy(value).into_owned())?;
        object.set(name.as_str(), list)?;
    }
    Ok(object)
}
