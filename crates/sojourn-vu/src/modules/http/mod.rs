//! `k6/http`: requests.
//!
//! `request` reads what a script asks for, `transfer` carries it over its redirects, `account`
//! makes the samples of each hop, `response` is what the script gets.

mod account;
mod batch;
mod body;
mod coding;
mod cookies;
mod debug;
mod digest;
mod error_code;
mod expected;
mod jar;
mod json;
mod page;
mod path;
pub(crate) mod places;
mod request;
mod response;
mod state;
mod transfer;

use std::rc::Rc;

use sojourn_script::js::prelude::{Opt, Rest};
use sojourn_script::js::{
    self, Array, Coerced, Ctx, Exception, FromJs, Function, Object, Persistent, Promise, Value,
};

use self::expected::Expected;
use self::request::{Address, Request};
use self::response::Response;
use self::transfer::{Next, Transfer};
use super::coerced::{self, Any};
use super::function;
use crate::host::OperationId;
use crate::user::{Outcome, User};

pub(crate) use jar::cookies_for;
pub(crate) use response::canonical;
pub(crate) use state::HttpState;

/// The code of a URL that is none.
const BAD_URL: u16 = 1020;

/// Constants of TLS and of certificates' states.
const CONSTANTS: [(&str, &str); 18] = [
    ("TLS_1_0", "tls1.0"),
    ("TLS_1_1", "tls1.1"),
    ("TLS_1_2", "tls1.2"),
    ("TLS_1_3", "tls1.3"),
    ("OCSP_STATUS_GOOD", "good"),
    ("OCSP_STATUS_REVOKED", "revoked"),
    ("OCSP_STATUS_SERVER_FAILED", "server_failed"),
    ("OCSP_STATUS_UNKNOWN", "unknown"),
    ("OCSP_REASON_AA_COMPROMISE", "aa_compromise"),
    ("OCSP_REASON_AFFILIATION_CHANGED", "affiliation_changed"),
    ("OCSP_REASON_CA_COMPROMISE", "ca_compromise"),
    ("OCSP_REASON_CERTIFICATE_HOLD", "certificate_hold"),
    ("OCSP_REASON_CESSATION_OF_OPERATION", "cessation_of_operation"),
    ("OCSP_REASON_KEY_COMPROMISE", "key_compromise"),
    ("OCSP_REASON_PRIVILEGE_WITHDRAWN", "privilege_withdrawn"),
    ("OCSP_REASON_REMOVE_FROM_CRL", "remove_from_crl"),
    ("OCSP_REASON_SUPERSEDED", "superseded"),
    ("OCSP_REASON_UNSPECIFIED", "unspecified"),
];

/// Methods without a body: `get(url, params)`.
const WITHOUT_BODY: [(&str, &str); 2] = [("get", "GET"), ("head", "HEAD")];

/// Methods with one: `post(url, body, params)`.
const WITH_BODY: [(&str, &str); 5] = [
    ("post", "POST"),
    ("put", "PUT"),
    ("patch", "PATCH"),
    ("del", "DELETE"),
    ("options", "OPTIONS"),
];

pub(super) fn make<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    for (name, method) in WITHOUT_BODY {
        let user = Rc::clone(user);
        function(&module, name, move |ctx: Ctx<'js>, arguments: Rest<Value<'js>>| {
            without_body(&user, &ctx, name, method, &arguments.0)
        })?;
    }
    for (name, method) in WITH_BODY {
        let user = Rc::clone(user);
        function(
            &module,
            name,
            move |ctx: Ctx<'js>,
                  url: Value<'js>,
                  body: Opt<Value<'js>>,
                  params: Opt<Value<'js>>| {
                blocking(&user, &ctx, method, &url, body.0.as_ref(), params.0.as_ref())
            },
        )?;
    }
    let own = Rc::clone(user);
    function(&module, "request", move |ctx: Ctx<'js>, rest: Rest<Value<'js>>| {
        let method = method_of(&ctx, rest.0.first())?;
        let undefined = Value::new_undefined(ctx.clone());
        let url = rest.0.get(1).unwrap_or(&undefined);
        blocking(&own, &ctx, &method, url, rest.0.get(2), rest.0.get(3))
    })?;
    let own = Rc::clone(user);
    function(&module, "asyncRequest", move |ctx: Ctx<'js>, rest: Rest<Value<'js>>| {
        asynchronous(&own, &ctx, &rest.0)
    })?;
    let own = Rc::clone(user);
    function(&module, "batch", move |ctx: Ctx<'js>, requests: Opt<Value<'js>>| {
        let undefined = || Value::new_undefined(ctx.clone());
        batch::run(&own, &ctx, &requests.0.unwrap_or_else(undefined))
    })?;
    settings(&module, user)?;
    Ok(module)
}

/// `get(url, params)`; what is given beyond is not used.
fn without_body<'js>(
    user: &User,
    ctx: &Ctx<'js>,
    name: &str,
    method: &str,
    arguments: &[Value<'js>],
) -> js::Result<Value<'js>> {
    if arguments.len() > 2 {
        user.host.settings.console.warn(&format!(
            "http.{name} only accepts a url and a params argument (2 arguments), but {} were given",
            arguments.len()
        ));
    }
    let undefined = Value::new_undefined(ctx.clone());
    blocking(user, ctx, method, arguments.first().unwrap_or(&undefined), None, arguments.get(1))
}

/// Everything that sends nothing.
fn settings<'js>(module: &Object<'js>, user: &Rc<User>) -> js::Result<()> {
    for (name, value) in CONSTANTS {
        module.set(name, value)?;
    }
    function(module, "url", |ctx: Ctx<'js>, parts: Opt<Array<'js>>, values: Rest<Value<'js>>| {
        template(&ctx, parts.0, &values.0)
    })?;
    function(
        module,
        "file",
        |ctx: Ctx<'js>, data: Any<'js>, name: Opt<Value<'js>>, kind: Opt<Value<'js>>| {
            body::file(&ctx, data.0, name, kind)
        },
    )?;
    function(module, "expectedStatuses", |ctx: Ctx<'js>, statuses: Rest<Value<'js>>| {
        Expected::make(&ctx, &statuses.0)
    })?;
    let own = Rc::clone(user);
    function(module, "setResponseCallback", move |ctx: Ctx<'js>, callback: Any<'js>| {
        let expected = match callback.0.is_undefined() {
            true => Expected::Unjudged,
            false => Expected::read(&ctx, &callback.0)?,
        };
        *own.http.expected.borrow_mut() = Rc::new(expected);
        Ok::<_, js::Error>(())
    })?;
    let own = Rc::clone(user);
    function(module, "cookieJar", move |ctx: Ctx<'js>| {
        own.not_at_init(&ctx, "Making cookie jars")?;
        let jar = Rc::clone(&own.http.jar.borrow());
        jar::object(&ctx, jar)
    })?;
    let constructor =
        Function::new(module.ctx().clone(), |ctx: Ctx<'js>| jar::object(&ctx, Rc::default()))?;
    module.set("CookieJar", constructor.with_name("CookieJar")?.with_constructor(true))
}

/// The method as it is given; an empty one is sent as GET.
fn method_of<'js>(ctx: &Ctx<'js>, value: Option<&Value<'js>>) -> js::Result<String> {
    value.map_or_else(|| Ok(String::new()), |value| coerced::text(ctx, value))
}

/// http.url`a/${b}`: the URL, and a name that is the same for all values.
fn template<'js>(
    ctx: &Ctx<'js>,
    parts: Option<Array<'js>>,
    values: &[Value<'js>],
) -> js::Result<Object<'js>> {
    let (mut name, mut url) = (String::new(), String::new());
    let parts = parts.iter().flat_map(|parts| parts.iter::<Coerced<String>>());
    for (at, part) in parts.enumerate() {
        let part = part?.0;
        name.push_str(&part);
        url.push_str(&part);
        if let Some(value) = values.get(at) {
            name.push_str("${}");
            url.push_str(&Coerced::<String>::from_js(ctx, value.clone())?.0);
        }
    }
    let object = Object::new(ctx.clone())?;
    object.set("name", name)?;
    object.set("url", url.as_str())?;
    function(&object, "toString", move || url.clone())?;
    Ok(object)
}

/// A request that the script waits for.
fn blocking<'js>(
    user: &User,
    ctx: &Ctx<'js>,
    method: &str,
    url: &Value<'js>,
    body: Option<&Value<'js>>,
    params: Option<&Value<'js>>,
) -> js::Result<Value<'js>> {
    user.not_at_init(ctx, "Making http requests")?;
    let address = Address::read(ctx, url)?;
    let request = match Request::read(user, ctx, method, &address, body, params)? {
        Ok(request) => request,
        Err(problem) => {
            user.host.settings.console.request_failed(&problem);
            return unsent(ctx, &address, &problem);
        }
    };
    let mut transfer = Transfer::new(request);
    let mut operation = transfer.send(user);
    loop {
        let outcome = user.wait_or_throw(ctx, operation)?;
        let Outcome::Http(completion) = outcome else { continue };
        match transfer.on_completion(user, *completion) {
            Next::Hop(next) => operation = next,
            Next::Done(response) => return answer(ctx, &transfer, *response),
        }
    }
}

/// What the script gets for a request that has ended.
fn answer<'js>(ctx: &Ctx<'js>, transfer: &Transfer, response: Response) -> js::Result<Value<'js>> {
    if response.is_failed() && transfer.throws() {
        return Err(Exception::throw_message(ctx, transfer.failed()));
    }
    response.into_value(ctx)
}

/// What the script gets for a request that is wrong in itself.
fn unsent<'js>(ctx: &Ctx<'js>, address: &Address, problem: &str) -> js::Result<Value<'js>> {
    // As in k6, only a URL's mistake has a code.
    let code = if problem.starts_with("invalid URL") { BAD_URL } else { 0 };
    Response::unsent(address.url(), problem.to_owned(), code).into_value(ctx)
}

/// `asyncRequest(method, url, body, params)`: a promise.
fn asynchronous<'js>(
    user: &Rc<User>,
    ctx: &Ctx<'js>,
    arguments: &[Value<'js>],
) -> js::Result<Promise<'js>> {
    user.not_at_init(ctx, "Making http requests")?;
    let (promise, resolve, reject) = ctx.promise()?;
    let method = method_of(ctx, arguments.first())?;
    let undefined = Value::new_undefined(ctx.clone());
    let address = Address::read(ctx, arguments.get(1).unwrap_or(&undefined))?;
    let (body, params) = (arguments.get(2), arguments.get(3));
    let request = match Request::read(user, ctx, &method, &address, body, params)? {
        Ok(request) => request,
        Err(problem) => {
            user.host.settings.console.request_failed(&problem);
            let response = unsent(ctx, &address, &problem)?;
            resolve.call::<_, ()>((response,))?;
            return Ok(promise);
        }
    };
    let mut transfer = Transfer::new(request);
    let operation = transfer.send(user);
    let settle =
        Settle { resolve: Persistent::save(ctx, resolve), reject: Persistent::save(ctx, reject) };
    carry(Rc::clone(user), operation, transfer, settle);
    Ok(promise)
}

/// The two ends of a promise.
struct Settle {
    resolve: Persistent<Function<'static>>,
    reject: Persistent<Function<'static>>,
}

/// Carries a transfer on from the user's event loop.
fn carry(user: Rc<User>, operation: OperationId, mut transfer: Transfer, settle: Settle) {
    let own = Rc::clone(&user);
    let callback = move |ctx: &Ctx<'_>, outcome: Outcome| {
        let Outcome::Http(completion) = outcome else { return Ok(()) };
        match transfer.on_completion(&own, *completion) {
            Next::Hop(next) => {
                carry(own, next, transfer, settle);
                Ok(())
            }
            Next::Done(response) => match answer(ctx, &transfer, *response) {
                Ok(value) => settle.resolve.restore(ctx)?.call::<_, ()>((value,)),
                Err(_) => settle.reject.restore(ctx)?.call::<_, ()>((ctx.catch(),)),
            },
        }
    };
    user.when_done(operation, Box::new(callback));
}
