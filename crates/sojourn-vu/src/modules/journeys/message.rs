//! A message as scripts get it.

use std::sync::Arc;

use sojourn_script::js::{self, Ctx, Object, Value};

use super::function;
use crate::user::User;

/// When it was received, its headers, its body.
pub(super) fn object<'js>(
    user: &User,
    ctx: &Ctx<'js>,
    stamp_ns: u64,
    headers: &[(String, String)],
    body: &Arc<[u8]>,
) -> js::Result<Object<'js>> {
    let message = Object::new(ctx.clone())?;
    message.set("at", user.host.unix_ns(stamp_ns) as f64 / 1e6)?;
    let shown = Object::new(ctx.clone())?;
    for (name, value) in headers {
        shown.set(name.as_str(), value.as_str())?;
    }
    message.set("headers", shown)?;
    message.set("body", String::from_utf8_lossy(body).as_ref())?;
    let body = Arc::clone(body);
    function(&message, "json", move |ctx: Ctx<'js>| -> js::Result<Value<'js>> {
        ctx.json_parse(body.to_vec())
    })?;
    Ok(message)
}
