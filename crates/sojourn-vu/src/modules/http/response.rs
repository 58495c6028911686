//! An answer as scripts see it. What they do not look at is not made.

use sojourn_http::{Completion, Peer, Timings};
use sojourn_script::js::class::{JsClass, Readable, Trace, Tracer};
use sojourn_script::js::function::{Constructor, IntoJsFunc};
use sojourn_script::js::object::Accessor;
use sojourn_script::js::prelude::{Opt, This};
use sojourn_script::js::{
    self, Array, ArrayBuffer, Class, Ctx, Exception, Function, IntoJs, JsLifetime, Object, Value,
};

use super::account::{self, ms};
use super::cookies;
use super::error_code::{self, Told};
use super::request::{Request, ResponseType};
use super::state::Target;
use crate::modules::coerced;
use sojourn_cookies::Cookie;

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Response {
    url: String,
    method: String,
    request_headers: Vec<(String, String)>,
    request_body: Vec<u8>,
    status: u16,
    head: Vec<u8>,
    body: Vec<u8>,
    /// How the body is given; `None` gives null.
    form: Option<ResponseType>,
    timings: Timings,
    error: String,
    error_code: u16,
    /// The header `Cookie` that was sent.
    cookies_sent: Option<String>,
    /// Where the answer came from.
    peer: Peer,
}

impl Response {
    pub(super) fn new(
        request: &Request,
        target: &Target,
        method: &str,
        cookies_sent: Option<String>,
        (completion, peer): (Completion, Peer),
        told: Option<Told>,
    ) -> Self {
        let mut response = Self {
            url: target.shown.clone(),
            method: method.to_owned(),
            request_headers: request.headers.clone(),
            request_body: request.plain_body.as_ref().unwrap_or(&request.body).clone(),
            cookies_sent,
            timings: completion.timings,
            ..Self::default()
        };
        if let Ok(answer) = completion.outcome {
            response.status = answer.status;
            response.peer = peer;
            response.error_code = error_code::of_status(answer.status);
            response.head = answer.head;
            response.body = answer.body;
            response.form = Some(request.response_type).filter(|form| *form != ResponseType::None);
        }
        if let Some(told) = told {
            response.error_code = told.code;
            response.error = told.short;
        }
        response
    }

    /// A request that could not be sent at all.
    pub(super) fn unsent(url: &str, error: String, error_code: u16) -> Self {
        Self { url: url.to_owned(), error, error_code, ..Self::default() }
    }

    pub(super) fn is_failed(&self) -> bool {
        self.status == 0
    }

    /// (text, URL) of a page; `None` where there is no body.
    pub(super) fn page(&self) -> Option<(String, String)> {
        self.form.map(|_| (String::from_utf8_lossy(&self.body).into_owned(), self.url.clone()))
    }

    /// The object that scripts get.
    pub(super) fn into_value<'js>(self, ctx: &Ctx<'js>) -> js::Result<Value<'js>> {
        Ok(Class::instance(ctx.clone(), self)?.into_value())
    }

    /// (name in Go's canonical case, values joined), in order of names' first appearance.
    fn headers(&self) -> Vec<(String, String)> {
        let mut headers: Vec<(String, String)> = Vec::new();
        let lines = self.head.split(|byte| *byte == b'\n').skip(1);
        for line in lines {
            let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
            let name = canonical(&String::from_utf8_lossy(&line[..colon]));
            let value = String::from_utf8_lossy(line[colon + 1..].trim_ascii()).into_owned();
            match headers.iter_mut().find(|(known, _)| *known == name) {
                Some((_, values)) => {
                    values.push_str(", ");
                    values.push_str(&value);
                }
                None => headers.push((name, value)),
            }
        }
        headers
    }

    fn cookies<'js>(&self, ctx: &Ctx<'js>) -> js::Result<Object<'js>> {
        let all = Object::new(ctx.clone())?;
        for line in self.head.split(|byte| *byte == b'\n').skip(1) {
            let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
            if !line[..colon].eq_ignore_ascii_case(b"set-cookie") {
                continue;
            }
            let text = String::from_utf8_lossy(line[colon + 1..].trim_ascii());
            let Some(cookie) = Cookie::parse(&text) else { continue };
            let known: Option<Array<'js>> = all.get(cookie.name.as_str())?;
            let list = match known {
                Some(list) => list,
                None => {
                    let list = Array::new(ctx.clone())?;
                    all.set(cookie.name.as_str(), list.clone())?;
                    list
                }
            };
            list.set(list.len(), of_cookie(ctx, &cookie)?)?;
        }
        Ok(all)
    }

    fn body<'js>(&self, ctx: &Ctx<'js>) -> js::Result<Value<'js>> {
        match self.form {
            Some(ResponseType::Text) => String::from_utf8_lossy(&self.body).into_js(ctx),
            Some(ResponseType::Binary) => {
                sojourn_script::buffers(ctx)?;
                ArrayBuffer::new_copy(ctx.clone(), &self.body[..]).map(ArrayBuffer::into_value)
            }
            _ => Ok(Value::new_null(ctx.clone())),
        }
    }

    fn timings<'js>(&self, ctx: &Ctx<'js>) -> js::Result<Object<'js>> {
        let took = &self.timings;
        let object = Object::new(ctx.clone())?;
        object.set("duration", ms(took.send_ns + took.wait_ns + took.receive_ns))?;
        object.set("blocked", ms(took.blocked_ns))?;
        object.set("looking_up", ms(took.dns_ns))?;
        object.set("connecting", ms(took.connect_ns))?;
        object.set("tls_handshaking", ms(took.tls_ns))?;
        object.set("sending", ms(took.send_ns))?;
        object.set("waiting", ms(took.wait_ns))?;
        object.set("receiving", ms(took.receive_ns))?;
        Ok(object)
    }

    fn request<'js>(&self, ctx: &Ctx<'js>) -> js::Result<Object<'js>> {
        let object = Object::new(ctx.clone())?;
        object.set("method", self.method.as_str())?;
        object.set("url", self.url.as_str())?;
        let headers = Object::new(ctx.clone())?;
        for (name, value) in &self.request_headers {
            headers.set(canonical(name), vec![value.as_str()])?;
        }
        if let Some(cookies) = &self.cookies_sent {
            headers.set("Cookie", vec![cookies.as_str()])?;
        }
        object.set("headers", headers)?;
        object.set("body", String::from_utf8_lossy(&self.request_body).into_js(ctx)?)?;
        object.set("cookies", self.request_cookies(ctx)?)?;
        Ok(object)
    }

    /// `{name: [{name, value, replace}]}` of those that were sent.
    fn request_cookies<'js>(&self, ctx: &Ctx<'js>) -> js::Result<Object<'js>> {
        let all = Object::new(ctx.clone())?;
        for pair in self.cookies_sent.iter().flat_map(|sent| sent.split("; ")) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let known: Option<Array<'js>> = all.get(name)?;
            let list = known.map_or_else(|| Array::new(ctx.clone()), Ok)?;
            let cookie = Object::new(ctx.clone())?;
            cookie.set("name", name)?;
            cookie.set("value", cookies::unquoted(value))?;
            cookie.set("replace", false)?;
            list.set(list.len(), cookie)?;
            all.set(name, list)?;
        }
        Ok(all)
    }

    fn json<'js>(&self, ctx: &Ctx<'js>, selector: Option<String>) -> js::Result<Value<'js>> {
        if self.form.is_none() {
            let told = "the body is null so we can't transform it to JSON - this likely was \
                        because of a request error getting the response";
            return Err(Exception::throw_message(ctx, told));
        }
        match selector {
            None => super::json::whole(ctx, &self.body),
            Some(path) if path.is_empty() => Ok(Value::new_undefined(ctx.clone())),
            Some(path) => super::json::select(ctx, &self.body, &path),
        }
    }
}

/// How k6 shows an instant that is not given: Go's zero time.
const NO_TIME_MS: f64 = -6_795_364_578_871.0;

/// What is known of a certificate's state, which is not asked for.
fn ocsp<'js>(ctx: &Ctx<'js>, has_tls: bool) -> js::Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    for name in ["produced_at", "this_update", "next_update", "revoked_at"] {
        object.set(name, 0)?;
    }
    object.set("revocation_reason", "")?;
    object.set("status", if has_tls { "unknown" } else { "" })?;
    Ok(object)
}

fn of_cookie<'js>(ctx: &Ctx<'js>, cookie: &Cookie) -> js::Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("name", cookie.name.as_str())?;
    object.set("value", cookie.value.as_str())?;
    object.set("domain", cookie.domain.as_str())?;
    object.set("path", cookie.path.as_str())?;
    object.set("http_only", cookie.is_http_only)?;
    object.set("secure", cookie.is_secure)?;
    object.set("max_age", cookie.max_age_s as f64)?;
    object.set("expires", cookie.expires_s.map_or(NO_TIME_MS, |seconds| seconds as f64 * 1e3))?;
    Ok(object)
}

/// Status and phrase of a head.
pub(super) fn status_text(head: &[u8]) -> String {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line.trim_ascii());
    let phrase = line.splitn(3, ' ').skip(1).collect::<Vec<_>>().join(" ");
    // HTTP/2 has no phrases: Go adds the usual one.
    match phrase.parse::<u16>() {
        Ok(status) => format!("{status} {}", usual_phrase(status)),
        Err(_) => phrase,
    }
}

/// The phrases of RFC 9110 that are seen most.
fn usual_phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        206 => "Partial Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        410 => "Gone",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "",
    }
}

/// `content-type` as Go writes it: `Content-Type`.
pub(crate) fn canonical(name: &str) -> String {
    let name = name.trim();
    if name.contains(' ') {
        // No header's name: Go leaves it as it is.
        return name.to_owned();
    }
    let mut starts = true;
    let letter = |letter: char| {
        let shown = if starts { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() };
        starts = letter == '-';
        shown
    };
    name.chars().map(letter).collect()
}

impl<'js> Trace<'js> for Response {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

// SAFETY: nothing in it has the lifetime of an engine.
#[allow(unsafe_code)]
unsafe impl<'js> JsLifetime<'js> for Response {
    type Changed<'to> = Self;
}

type Own<'js> = This<Class<'js, Response>>;

impl<'js> JsClass<'js> for Response {
    const NAME: &'static str = "Response";
    type Mutable = Readable;

    fn prototype(ctx: &Ctx<'js>) -> js::Result<Option<Object<'js>>> {
        let proto = Object::new(ctx.clone())?;
        getter(&proto, "url", |own: Own<'js>| own.0.borrow().url.clone())?;
        getter(&proto, "status", |own: Own<'js>| own.0.borrow().status)?;
        getter(&proto, "status_text", |own: Own<'js>| status_text(&own.0.borrow().head))?;
        getter(&proto, "proto", |own: Own<'js>| account::proto(&own.0.borrow().head))?;
        getter(&proto, "error", |own: Own<'js>| own.0.borrow().error.clone())?;
        getter(&proto, "error_code", |own: Own<'js>| own.0.borrow().error_code)?;
        getter(&proto, "body", |ctx: Ctx<'js>, own: Own<'js>| own.0.borrow().body(&ctx))?;
        getter(&proto, "timings", |ctx: Ctx<'js>, own: Own<'js>| own.0.borrow().timings(&ctx))?;
        getter(&proto, "cookies", |ctx: Ctx<'js>, own: Own<'js>| own.0.borrow().cookies(&ctx))?;
        getter(&proto, "request", |ctx: Ctx<'js>, own: Own<'js>| own.0.borrow().request(&ctx))?;
        getter(&proto, "remote_ip", |own: Own<'js>| {
            own.0.borrow().peer.address.map(|address| address.ip().to_string()).unwrap_or_default()
        })?;
        getter(&proto, "remote_port", |own: Own<'js>| {
            own.0.borrow().peer.address.map_or(0, |address| address.port())
        })?;
        getter(&proto, "tls_version", |own: Own<'js>| {
            own.0.borrow().peer.tls.map_or("", |agreed| account::tls_version(agreed.version))
        })?;
        getter(&proto, "tls_cipher_suite", |own: Own<'js>| {
            own.0.borrow().peer.tls.map_or("", |agreed| agreed.suite)
        })?;
        getter(&proto, "ocsp", |ctx: Ctx<'js>, own: Own<'js>| {
            ocsp(&ctx, own.0.borrow().peer.tls.is_some())
        })?;
        getter(&proto, "headers", |ctx: Ctx<'js>, own: Own<'js>| {
            let object = Object::new(ctx)?;
            for (name, value) in own.0.borrow().headers() {
                object.set(name, value)?;
            }
            Ok::<_, js::Error>(object)
        })?;
        crate::modules::function(
            &proto,
            "json",
            |ctx: Ctx<'js>, own: Own<'js>, selector: Opt<Value<'js>>| {
                let selector = selector.0.map(|path| coerced::text(&ctx, &path)).transpose()?;
                own.0.borrow().json(&ctx, selector)
            },
        )?;
        crate::modules::function(&proto, "toJSON", |ctx: Ctx<'js>, own: Own<'js>| {
            plain(&ctx, &own.0)
        })?;
        super::page::add(&proto)?;
        Ok(Some(proto))
    }

    fn constructor(_: &Ctx<'js>) -> js::Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

/// All properties that `JSON.stringify` shows.
const SHOWN: [&str; 16] = [
    "remote_ip",
    "remote_port",
    "url",
    "status",
    "status_text",
    "proto",
    "headers",
    "cookies",
    "body",
    "timings",
    "tls_version",
    "tls_cipher_suite",
    "ocsp",
    "error",
    "error_code",
    "request",
];

/// The answer as a plain object.
fn plain<'js>(ctx: &Ctx<'js>, own: &Class<'js, Response>) -> js::Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    for name in SHOWN {
        object.set(name, own.get::<_, Value<'js>>(name)?)?;
    }
    Ok(object)
}

fn getter<'js, P, F>(proto: &Object<'js>, name: &str, get: F) -> js::Result<()>
where
    F: IntoJsFunc<'js, P> + 'js,
{
    let _: Option<Function<'js>> = None;
    proto.prop(name, Accessor::new_get(get).enumerable().configurable())
}
