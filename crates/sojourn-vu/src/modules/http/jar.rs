//! Jars as scripts see them.

use std::cell::RefCell;
use std::rc::Rc;

use sojourn_cookies::{Cookie, Jar, http_date_s};
use sojourn_script::js::class::{JsClass, Readable, Trace, Tracer};
use sojourn_script::js::function::Constructor;
use sojourn_script::js::prelude::{Opt, This};
use sojourn_script::js::{
    self, Array, Class, Coerced, Ctx, Exception, FromJs, JsLifetime, Object, Value,
};
use url::{ParseError, Url};

use crate::modules::coerced::Text;
use crate::modules::function;
use crate::user::User;

/// A jar that a script holds.
pub(super) struct Held {
    jar: Rc<RefCell<Jar>>,
}

/// The jar in a value, if it is one.
pub(super) fn of(value: &Value<'_>) -> Option<Rc<RefCell<Jar>>> {
    let class = Class::<Held>::from_value(value).ok()?;
    let held = class.borrow();
    Some(Rc::clone(&held.jar))
}

/// The header `Cookie` for a URL, from the jar given or else the user's.
pub(crate) fn cookies_for(user: &User, jar: Option<&Value<'_>>, url: &Url) -> Option<String> {
    let jar = jar.and_then(of).unwrap_or_else(|| Rc::clone(&user.http.jar.borrow()));
    let jar = jar.borrow();
    jar.header(url, now_s())
}

/// The object for a jar.
pub(super) fn object<'js>(ctx: &Ctx<'js>, jar: Rc<RefCell<Jar>>) -> js::Result<Value<'js>> {
    Ok(Class::instance(ctx.clone(), Held { jar })?.into_value())
}

impl<'js> Trace<'js> for Held {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

// SAFETY: nothing in it has the lifetime of an engine.
#[allow(unsafe_code)]
unsafe impl<'js> JsLifetime<'js> for Held {
    type Changed<'to> = Self;
}

type Own<'js> = This<Class<'js, Held>>;

impl<'js> JsClass<'js> for Held {
    const NAME: &'static str = "CookieJar";
    type Mutable = Readable;

    fn prototype(ctx: &Ctx<'js>) -> js::Result<Option<Object<'js>>> {
        let proto = Object::new(ctx.clone())?;
        function(&proto, "cookiesForURL", |ctx: Ctx<'js>, own: Own<'js>, url: Text| {
            let all = Object::new(ctx.clone())?;
            let Some(url) = parsed(&ctx, &url.0)? else { return Ok(all) };
            let held = own.0.borrow();
            let jar = held.jar.borrow();
            for cookie in jar.of(&url, now_s()) {
                let known: Option<Array<'js>> = all.get(cookie.name.as_str())?;
                let list = known.map_or_else(|| Array::new(ctx.clone()), Ok)?;
                list.set(list.len(), cookie.value.as_str())?;
                all.set(cookie.name.as_str(), list)?;
            }
            Ok::<_, js::Error>(all)
        })?;
        function(
            &proto,
            "set",
            |ctx: Ctx<'js>,
             own: Own<'js>,
             url: Text,
             name: Text,
             value: Text,
             options: Opt<Value<'js>>| {
                let Some(url) = parsed(&ctx, &url.0)? else { return Ok(true) };
                let mut cookie = Cookie { name: name.0, value: value.0, ..Cookie::default() };
                if let Some(options) = options.0.as_ref().and_then(|options| options.as_object()) {
                    read(&ctx, options, &mut cookie)?;
                }
                own.0.borrow().jar.borrow_mut().set(&url, cookie, now_s());
                Ok::<_, js::Error>(true)
            },
        )?;
        function(&proto, "clear", |ctx: Ctx<'js>, own: Own<'js>, url: Text| {
            if let Some(url) = parsed(&ctx, &url.0)? {
                own.0.borrow().jar.borrow_mut().clear(&url);
            }
            Ok::<_, js::Error>(())
        })?;
        function(&proto, "delete", |ctx: Ctx<'js>, own: Own<'js>, url: Text, name: Text| {
            if name.0.is_empty() {
                return Err(Exception::throw_message(&ctx, "cookie: is null"));
            }
            if let Some(url) = parsed(&ctx, &url.0)? {
                own.0.borrow().jar.borrow_mut().delete(&url, &name.0);
            }
            Ok::<_, js::Error>(())
        })?;
        Ok(Some(proto))
    }

    fn constructor(_: &Ctx<'js>) -> js::Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

/// `{domain, path, expires, max_age, secure, http_only}`.
fn read<'js>(ctx: &Ctx<'js>, options: &Object<'js>, cookie: &mut Cookie) -> js::Result<()> {
    for entry in options.props::<String, Value<'js>>() {
        let (key, value) = entry?;
        let text = || Coerced::<String>::from_js(ctx, value.clone()).map(|text| text.0);
        let held = || Coerced::<bool>::from_js(ctx, value.clone()).map(|held| held.0);
        match key.as_str() {
            "domain" => cookie.domain = text()?,
            "path" => cookie.path = text()?,
            "secure" => cookie.is_secure = held()?,
            "http_only" => cookie.is_http_only = held()?,
            "max_age" => cookie.max_age_s = Coerced::<f64>::from_js(ctx, value)?.0 as i64,
            "expires" => {
                let text = text()?;
                cookie.expires_s = http_date_s(&text);
                if cookie.expires_s.is_none() && !text.is_empty() {
                    let layout = "Mon, 02 Jan 2006 15:04:05 MST";
                    let told = format!(
                        "unable to parse \"expires\" date string \"{text}\": parsing time \
                         \"{text}\" as \"{layout}\": cannot parse \"{text}\" as \"Mon\""
                    );
                    return Err(Exception::throw_message(ctx, &told));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// `None` for a URL without a host, to which no cookie belongs.
fn parsed(ctx: &Ctx<'_>, url: &str) -> js::Result<Option<Url>> {
    match Url::parse(url) {
        Ok(url) => Ok(Some(url)),
        Err(ParseError::RelativeUrlWithoutBase) => Ok(None),
        Err(error) => Err(Exception::throw_message(ctx, &format!("{url}: {error}"))),
    }
}

fn now_s() -> i64 {
    jiff::Timestamp::now().as_second()
}
