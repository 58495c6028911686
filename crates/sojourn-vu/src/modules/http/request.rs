//! What a script asks for, as a request.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sojourn_k6::metrics::TagSet;
use sojourn_script::js::{self, Coerced, Ctx, Exception, FromJs, Object, Value};

use super::body;
use super::coding;
use super::cookies;
use super::expected::Expected;
use super::state::Target;
use crate::modules::{go_type, metrics};
use crate::user::User;
use sojourn_cookies::{Cookie, Jar};

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
    /// The body before it was compressed.
    pub(super) plain_body: Option<Vec<u8>>,
    /// Cookies of this request alone: replaced or added to the jar's.
    pub(super) cookies: Vec<(String, String, bool)>,
    pub(super) jar: Rc<RefCell<Jar>>,
    pub(super) timeout_ns: u64,
    pub(super) redirects_left: u32,
    pub(super) tags: Arc<TagSet>,
    pub(super) response_type: ResponseType,
    pub(super) expected: Rc<Expected>,
    pub(super) throws: bool,
    /// Answers a server's challenge, instead of telling user and password at once.
    pub(super) is_digest: bool,
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
        let discards = options.discard_response_bodies == Some(true);
        let mut request = Self {
            method: method.to_owned(),
            plain_body: None,
            name: address.name.clone(),
            headers: Vec::new(),
            body: Vec::new(),
            cookies: Vec::new(),
            jar: Rc::clone(&user.http.jar.borrow()),
            timeout_ns: TIMEOUT_NS,
            redirects_left: user.http.redirects_max.get(),
            tags: Arc::clone(&user.tags.borrow()),
            response_type: if discards { ResponseType::None } else { ResponseType::Text },
            expected: Rc::clone(&user.http.expected.borrow()),
            throws: options.throw == Some(true),
            is_digest: false,
            target,
        };
        match request.read_rest(user, ctx, body, params) {
            Ok(content_type) => {
                request.add_headers(options.user_agent.as_deref(), content_type);
                Ok(Ok(request))
            }
            // Whether this request throws is one of the parameters that can't be understood.
            Err(error) if options.throw == Some(true) => Err(error),
            // What can't be understood is a request that failed.
            Err(error) => match ctx.catch().into_exception() {
                Some(thrown) => Ok(Err(thrown.message().unwrap_or_default())),
                None => Err(error),
            },
        }
    }

    /// Body and parameters; the body's content type.
    fn read_rest<'js>(
        &mut self,
        user: &User,
        ctx: &Ctx<'js>,
        body: Option<&Value<'js>>,
        params: Option<&Value<'js>>,
    ) -> js::Result<Option<String>> {
        let body = match body {
            Some(body) => body::of(ctx, body)?,
            None => body::Body::default(),
        };
        self.body = body.bytes;
        if let Some(params) = params.and_then(|params| params.as_object()) {
            self.read_params(user, ctx, params)?;
        }
        self.take_length(user);
        Ok(body.content_type)
    }

    /// The length is the body's, whatever the script says.
    fn take_length(&mut self, user: &User) {
        let is_length = |(name, _): &(String, String)| name.eq_ignore_ascii_case("content-length");
        let Some(at) = self.headers.iter().position(is_length) else { return };
        let (_, given) = self.headers.remove(at);
        let length = self.body.len();
        if given != length.to_string() {
            user.host.settings.console.warn(&format!(
                "The specified Content-Length header \"{given}\" in the {} request for {} doesn't \
                 match the actual request body length of {length}, so it will be ignored!",
                self.method, self.target.shown
            ));
        }
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
            // Of one name in two spellings the later counts.
            self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
            self.headers.push((name, Coerced::<String>::from_js(ctx, value)?.0));
        }
        Ok(())
    }

    fn read_cookies<'js>(&mut self, ctx: &Ctx<'js>, value: &Value<'js>) -> js::Result<()> {
        let Some(cookies) = value.as_object() else { return Ok(()) };
        for entry in cookies.props::<String, Value<'js>>() {
            let (name, value) = entry?;
            if value.is_null() || value.is_undefined() {
                continue;
            }
            let text = |value| Coerced::<String>::from_js(ctx, value).map(|text| text.0);
            let object = value.as_object();
            if object.is_none() || go_type::name(ctx, &value)? != go_type::OBJECT {
                self.cookies.push((name, text(value)?, false));
                continue;
            }
            let (mut value_text, mut replaces) = (String::new(), false);
            for entry in object.into_iter().flat_map(|object| object.props()) {
                let (key, member): (String, Value<'js>) = entry?;
                match key.as_str() {
                    "value" => value_text = text(member)?,
                    "replace" => replaces = Coerced::<bool>::from_js(ctx, member)?.0,
                    _ => {}
                }
            }
            self.cookies.push((name, value_text, replaces));
        }
        Ok(())
    }

    fn read_tags<'js>(
        &mut self,
        user: &User,
        ctx: &Ctx<'js>,
        value: &Value<'js>,
    ) -> js::Result<()> {
        let mut pairs = metrics::pairs(ctx, value).map_err(|error| {
            let Some(thrown) = ctx.catch().into_exception() else { return error };
            let problem = thrown.message().unwrap_or_default();
            Exception::throw_message(ctx, &format!("invalid HTTP request metric tags: {problem}"))
        })?;
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
            "digest" => {
                self.is_digest = true;
                if self.target.login.is_some() {
                    let mut target = Target::clone(&self.target);
                    target.shown = target.url.to_string();
                    self.target = Rc::new(target);
                }
                Ok(())
            }
            "ntlm" => {
                let told = "the auth \"ntlm\" is not supported: basic and digest are";
                Err(Exception::throw_message(ctx, told))
            }
            _ => Ok(()),
        }
    }

    /// Compresses the body, by each coding in turn.
    fn compress<'js>(&mut self, ctx: &Ctx<'js>, value: &Value<'js>) -> js::Result<()> {
        let codings = Coerced::<String>::from_js(ctx, value.clone())?.0;
        if codings.is_empty() {
            return Ok(());
        }
        let compressed = coding::compress(&codings, &self.body);
        let body = compressed.map_err(|told| Exception::throw_message(ctx, &told))?;
        self.plain_body = Some(std::mem::replace(&mut self.body, body));
        self.headers.push(("Content-Encoding".to_owned(), codings));
        Ok(())
    }

    pub(super) fn has_header(&self, wanted: &str) -> bool {
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
            && !self.is_digest
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
            own.iter().map(|(name, value, _)| cookies::pair(name, value)).collect();
        let others = kept.into_iter().filter(|cookie| !is_replaced(cookie));
        pairs.extend(others.map(|cookie| cookies::pair(&cookie.name, &cookie.value)));
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }
}

fn timeout_ns<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> js::Result<u64> {
    let wrong = || Exception::throw_message(ctx, "invalid timeout value");
    let wrong_text = |text: &str| {
        let told = format!("invalid timeout value: time: invalid duration \"{text}\"");
        Exception::throw_message(ctx, &told)
    };
    if let Some(ms) = value.as_number() {
        return Ok((ms.max(0.0) * 1e6) as u64);
    }
    let text = value.as_string().ok_or_else(wrong)?.to_string()?;
    let parsed = sojourn_k6::duration::Nanos::parse(&text).map_err(|_| wrong_text(&text))?;
    Ok(parsed.ns())
}

fn response_type<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> js::Result<ResponseType> {
    match Coerced::<String>::from_js(ctx, value.clone())?.0.as_str() {
        "text" | "" => Ok(ResponseType::Text),
        "binary" => Ok(ResponseType::Binary),
        "none" => Ok(ResponseType::None),
        other => {
            let told = format!("{other} does not belong to ResponseType values");
            Err(Exception::throw_message(ctx, &told))
        }
    }
}
