//! `k6/x/redis` and, by its older name, `k6/experimental/redis`: a client of Redis whose commands
//! are promises.
//!
//! `options` is what scripts say of a server, `commands` which methods there are, `values` what
//! goes to the server and comes back; `client` is the class.

mod client;
mod commands;
mod options;
mod values;

use std::rc::Rc;

use sojourn_script::js::{self, Ctx, Object};

use crate::user::User;

pub(super) fn make<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("Client", client::constructor(ctx, user)?)?;
    Ok(module)
}
