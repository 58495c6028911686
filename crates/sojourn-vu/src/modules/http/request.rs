//! What a script asks for, as a request.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sojourn_k6::metrics::TagSet;
use sojourn_script::js::{self, Coerced, Ctx, Exception, FromJs, Object, Value};

use super::body;
use super::cookies::{Cookie, Jar};
use super::expected::Expected;
use super::state::Target;
use crate::modules::metrics;
use crate::user::User;

/// How long a request may take where the script does not say.
const TIMEOUT_NS: u64 = 60 * sojourn_clock::SECOND_NS;

/// What becomes of an answer's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseType {
    Text,
    Binary,
    None,
}

/// A request, ready to be sent.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) target: Rc<Target>,
    /// The tag `name`, where the script gives it.
    pub(super) name: Option<String>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// Cookies of this request alone: replaced or added to the jar's.
    pub(super) cookies: Vec<(String, String, bool)>,
    pub(super) jar: Rc<RefCell<Jar>>,
    pub(super) timeout_ns: u64,
    pub(super) redirects_left: u32,
    pub(super) tags: Arc<TagSet>,
    pub(super) response_type: ResponseType,
    pub(super) expected: Rc<Expected>,
    pub(super) throws: bool,
}

/// A URL as scripts give it: a string, or what http.url`…` makes of one.
pub(super) struct Address {
    url: String,
    name: Option<String>,
}

impl Address {
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn read<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> js::Result<Self> {
        if let Some(object) = value.as_object()
            && let (Ok(Some(name)), Ok(Some(url))) =
                (object.get::<_, Option<String>>("name"), object.get::<_, Option<String>>("url"))
        {
            return Ok(Self { url, name: Some(name) });
        }
        Ok(Self { url: Coerced::<String>::from_js(ctx, value.clone())?.0, name: None })
    }
}

impl Request {
    /// Reads method, address, body and parameters. A wrong URL is an `Ok(Err(…))`: k6 answers it
    /// unless told to throw.
    pub(super) fn read<'js>(
        user: &User,
        ctx: &Ctx<'js>,
        method: &str,
        address: &Address,
        body: Option<&Value<'js>>,
        params: Option<&Value<'js>>,
    ) -> js::Result<Result<Self, String>> {
        let options = &user.host.settings.options;
        let target = match user.http.target(user, &address.url) {
            Ok(target) => target,
            Err(problem) => {
                let told = format!("invalid URL: {problem}");
                if options.throw == Some(true) {
                    return Err(Exception::throw_message(ctx, &told));
                }
                return Ok(Err(told));
            }
        };
        let body = match body {
            Some(body) => body::of(ctx, body)?,
            None => body::Body::default(),
        };
        let discards = options.discard_response_bodies == Some(true);
        let mut request = Self {
            method: method.to_ascii_uppercase(),
            name: address.name.clone(),
            headers: Vec::new(),
            body: body.bytes,
            cookies: Vec::new(),
            jar: Rc::clone(&user.http.jar.borrow()),
            timeout_ns: TIMEOUT_NS,
            redirects_left: user.http.redirects_max.get(),
            tags: Arc::clone(&user.tags.borrow()),
            response_type: if discards { ResponseType::None } else { ResponseType::Text },
            expected: Rc::clone(&user.http.expected.borrow()),
            throws: options.throw == Some(true),
            target,
        };
        if let Some(params) = params.and_then(|params| params.as_object()) {
            request.read_params(user, ctx, params)?;
        }
        request.add_headers(options.user_agent.as_deref(), body.content_type);
        Ok(Ok(request))
    }

    fn read_params<'js>(
        &mut self,
        user: &User,
        ctx: &Ctx<'js>,
        params: &Object<'js>,
    ) -> js::Result<()> {
        for entry in params.props::<String, Value<'js>>() {
            let (key, value) = entry?;
            if value.is_undefined() {
                continue;
            }
            match key.as_str() {
                "headers" => self.read_headers(ctx, &value)?,
                "cookies" => self.read_cookies(ctx, &value)?,
                "tags" => self.read_tags(user, ctx, &value)?,
                "timeout" => self.timeout_ns = timeout_ns(ctx, &value)?,
                "redirects" => {
                    let most = Coerced::<f64>::from_js(ctx, value)?.0;
                    self.redirects_left = most.max(0.0) as u32;
                }
                "throw" => self.throws = Coerced::<bool>::from_js(ctx, value)?.0,
                "auth" => self.read_auth(ctx, &value)?,
                "responseType" => self.response_type = response_type(ctx, &value)?,
                "responseCallback" => self.expected = Rc::new(Expected::read(ctx, &value)?),
                "compression" => self.compress(ctx, &value)?,
                "jar" => {
                    if let Some(jar) = super::jar::of(&value) {
                        self.jar = jar;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn read_headers<'js>(&mut self, ctx: &Ctx<'js>, value: &Value<'js>) -> js::Result<()> {
        let Some(headers) = value.as_object() else { return Ok(()) };
        for entry in headers.props::<String, Value<'js>>() {
            let (name, value) = entry?;
            self.headers.push((name, Coerced::<String>::from_js(ctx, value)?.0));
        }
        Ok(())
    }

    fn read_cookies<'js>(&mut self, ctx: &Ctx<'js>, value: &Value<'js>) -> js::Result<()> {
        let Some(cookies) = value.as_object() else { return Ok(()) };
        for entry in cookies.props::<String, Value<'js>>() {
            let (name, value) = entry?;
            let text = |value| Coerced::<String>::from_js(ctx, value).map(|text| text.0);
            match value.as_object() {
                Some(object) => {
                    let replaces: Option<bool> = object.get("replace")?;
                    let value = text(object.get("value")?)?;
                    self.cookies.push((name, value, replaces.unwrap_or(false)));
                }
                None => self.cookies.push((name, text(value)?, false)),
            }
        }
        Ok(())
    }

    fn read_tags<'js>(
        &mut self,
        user: &User,
        ctx: &Ctx<'js>,
        value: &Value<'js>,
    ) -> js::Result<()> {
        let mut pairs = metrics::pairs(ctx, value)?;
        // The name also stands for the URL, see `account`.
        pairs.retain(|(key, value)| {
            let is_name = key == "name";
            if is_name {
                self.name = Some(value.clone());
            }
            !is_name
        });
        let borrowed: Vec<_> =
            pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        if !borrowed.is_empty() {
            self.tags = user.host.tags(&self.tags, &borrowed);
        }
        Ok(())
    }

    fn read_auth<'js>(&mut self, ctx: &Ctx<'js>, value: &Value<'js>) -> js::Result<()> {
        match Coerced::<String>::from_js(ctx, value.clone())?.0.as_str() {
            "basic" => Ok(()),
            other => {
                let told = format!("the auth \"{other}\" is not supported: basic is");
                Err(Exception::throw_message(ctx, &told))
            }
        }
    }

    /// Compresses the body, by each coding in turn.
    fn compress<'js>(&mut self, ctx: &Ctx<'js>, value: &Value<'js>) -> js::Result<()> {
        use std::io::Write as _;
        let codings = Coerced::<String>::from_js(ctx, value.clone())?.0;
        for coding in codings.split(',').map(str::trim) {
            let level = flate2::Compression::default();
            let fail = |_| Exception::throw_message(ctx, "the body can't be compressed");
            self.body = match coding {
                "gzip" => {
                    let mut writer = flate2::write::GzEncoder::new(Vec::new(), level);
                    writer.write_all(&self.body).and_then(|()| writer.finish()).map_err(fail)?
                }
                "deflate" => {
                    let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), level);
                    writer.write_all(&self.body).and_then(|()| writer.finish()).map_err(fail)?
                }
                other => {
                    let told = format!(
                        "the compression \"{other}\" is not supported: gzip and deflate are"
                    );
                    return Err(Exception::throw_message(ctx, &told));
                }
            };
        }
        self.headers.push(("Content-Encoding".to_owned(), codings));
        Ok(())
    }

    fn has_header(&self, wanted: &str) -> bool {
        self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted))
    }

    fn add_headers(&mut self, agent: Option<&str>, content_type: Option<String>) {
        if !self.has_header("user-agent") {
            let agent = agent.unwrap_or(concat!("Sojourn/", env!("CARGO_PKG_VERSION")));
            self.headers.push(("User-Agent".to_owned(), agent.to_owned()));
        }
        if let Some(content_type) = content_type
            && !self.has_header("content-type")
        {
            self.headers.push(("Content-Type".to_owned(), content_type));
        }
        if let Some((name, password)) = &self.target.login
            && !self.has_header("authorization")
        {
            let coded = STANDARD.encode(format!("{name}:{password}"));
            self.headers.push(("Authorization".to_owned(), format!("Basic {coded}")));
        }
    }

    /// The header `Cookie` for a hop; `None` without cookies. The first hop has the request's own.
    pub(super) fn cookie_header(&self, target: &Target, is_first: bool) -> Option<String> {
        let now_s = jiff::Timestamp::now().as_second();
        let jar = self.jar.borrow();
        let kept = jar.of(&target.url, now_s);
        let own: &[_] = if is_first { &self.cookies } else { &[] };
        let is_replaced = |cookie: &Cookie| {
            own.iter().any(|(name, _, replaces)| *replaces && *name == cookie.name)
        };
        let mut pairs: Vec<_> =
            own.iter().map(|(name, value, _)| format!("{name}={value}")).collect();
        let others = kept.into_iter().filter(|cookie| !is_replaced(cookie));
        pairs.extend(others.map(|cookie| format!("{}={}", cookie.name, cookie.value)));
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }
}

fn timeout_ns<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> js::Result<u64> {
    let wrong = || Exception::throw_message(ctx, "invalid timeout value");
    if let Some(ms) = value.as_number() {
        return Ok((ms.max(0.0) * 1e6) as u64);
    }
    let text = value.as_string().ok_or_else(wrong)?.to_string()?;
    let parsed = sojourn_k6::duration::Nanos::parse(&text).map_err(|_| wrong())?;
    Ok(parsed.ns())
}

fn response_type<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> js::Result<ResponseType> {
    match Coerced::<String>::from_js(ctx, value.clone())?.0.as_str() {
        "text" | "" => Ok(ResponseType::Text),
        "binary" => Ok(ResponseType::Binary),
        "none" => Ok(ResponseType::None),
        other => {
            let told = format!("unknown responseType \"{other}\": text, binary or none");
            Err(Exception::throw_message(ctx, &told))
        }
    }
}
