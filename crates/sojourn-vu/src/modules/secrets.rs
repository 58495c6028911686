//! `k6/secrets`: texts that logs do not show.

use std::rc::Rc;

use sojourn_script::js::prelude::Opt;
use sojourn_script::js::{self, Coerced, Ctx, Object};

use super::{function, go_error, promise};
use crate::user::User;

pub(super) fn make<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    add_get(&module, user, None)?;
    let own = Rc::clone(user);
    function(&module, "source", move |ctx: Ctx<'js>, name: Opt<Coerced<String>>| {
        let name = name.0.map_or_else(String::new, |name| name.0);
        own.host
            .settings
            .secrets
            .check(Some(&name))
            .map_err(|problem| go_error::throw(&ctx, &problem))?;
        let source = Object::new(ctx)?;
        add_get(&source, &own, Some(name))?;
        Ok::<_, js::Error>(source)
    })?;
    Ok(module)
}

/// `get(key)`: a promise.
fn add_get<'js>(object: &Object<'js>, user: &Rc<User>, source: Option<String>) -> js::Result<()> {
    let user = Rc::clone(user);
    function(object, "get", move |ctx: Ctx<'js>, key: Coerced<String>| {
        let settings = &user.host.settings;
        let found = settings.secrets.get(source.as_deref(), &key.0);
        if let Ok(secret) = found {
            settings.console.hide(secret);
        }
        promise::of(&ctx, found.map_err(|problem| go_error::throw(&ctx, &problem)))
    })
}
