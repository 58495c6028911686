//! `k6/x/kafka`: Kafka's clients for scripts, by the interfaces of versions 1 and 2.
//!
//! ```text
//!  Writer, Producer ──> one producer of the process for all with the same settings
//!  Reader, Consumer ──> a thread of its own from its first use on
//!  Connection, AdminClient, SchemaRegistry ──> the threads for whatever blocks
//!  LoadJKS ──> files beside the test
//! ```
//!
//! Version 2 is version 1 under other names, with a few methods more. Whatever waits suspends the
//! user, never its thread.

mod access;
mod admin;
mod aws;
mod azure;
mod config;
mod constants;
mod jks;
mod messages;
mod meters;
mod partitions;
mod protobuf;
mod reader;
mod registry;
mod serdes;
mod shared;
mod waiting;
mod writer;

use std::rc::Rc;

use sojourn_script::js::{self, Ctx, Function, Object, Value};

use super::{function, go_error};
use crate::user::User;
use meters::Meters;
pub(crate) use shared::Kafka;

pub(super) fn make<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    let meters = Rc::new(Meters::declare(ctx, user)?);
    constants::set(&module)?;
    for name in ["Writer", "Producer"] {
        let (user, meters) = (Rc::clone(user), Rc::clone(&meters));
        class(&module, name, move |ctx, config| writer::make(ctx, &user, &meters, name, config))?;
    }
    for name in ["Reader", "Consumer"] {
        let (user, meters) = (Rc::clone(user), Rc::clone(&meters));
        class(&module, name, move |ctx, config| reader::make(ctx, &user, &meters, name, config))?;
    }
    for name in ["Connection", "AdminClient"] {
        let user = Rc::clone(user);
        class(&module, name, move |ctx, config| admin::make(ctx, &user, name, config))?;
    }
    let own = Rc::clone(user);
    class(&module, "SchemaRegistry", move |ctx, config| registry::make(ctx, &own, config))?;
    let own = Rc::clone(user);
    function(&module, "LoadJKS", move |ctx: Ctx<'js>, config: js::prelude::Opt<Value<'js>>| {
        let config = config.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
        jks::load(&ctx, &own, &config)
    })?;
    Ok(module)
}

/// A constructor that makes an object of methods.
fn class<'js>(
    module: &Object<'js>,
    name: &str,
    make: impl Fn(&Ctx<'js>, Value<'js>) -> js::Result<Object<'js>> + 'js,
) -> js::Result<()> {
    let construct = move |ctx: Ctx<'js>, config: js::prelude::Opt<Value<'js>>| {
        let config = config.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
        make(&ctx, config)
    };
    let constructor = Function::new(module.ctx().clone(), construct)?.with_name(name)?;
    module.set(name, constructor.with_constructor(true))
}
