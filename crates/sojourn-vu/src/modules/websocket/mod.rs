//! `k6/ws` and `k6/websockets`: what both have in common, from parameters to samples.
//!
//! `blocking` is the first, whose `connect` holds the script until the socket is closed; `events`
//! the second, whose sockets live in the script's event loop.

mod blob;
pub(super) mod blocking;
pub(super) mod events;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use sojourn_k6::metrics::{SystemTag, TagSet, builtin};
use sojourn_script::js::{self, Coerced, Ctx, FromJs, Value};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Sender, channel};
use url::Url;

use super::go_error::throw;
use super::{http, metrics};
use crate::host::OperationId;
use crate::sockets::dial::Endpoint;
use crate::sockets::websocket::{self, Answer, Ask, Order};
use crate::sockets::{Link, ORDERS_MAX, UNSENT_BYTES_MAX};
use crate::user::User;

/// Most pings whose pongs are waited for.
const PINGS_MAX: usize = 1_024;

/// What a script says about a socket besides its URL.
#[derive(Default)]
struct Params<'js> {
    headers: Vec<(String, String)>,
    tags: Vec<(String, String)>,
    jar: Option<Value<'js>>,
    protocols: Vec<String>,
    offers_deflate: bool,
}

impl<'js> Params<'js> {
    /// Reads `{headers, tags, jar, compression}`. Strictly, there is nothing else, and nothing that
    /// says nothing.
    fn read(ctx: &Ctx<'js>, params: Option<&Value<'js>>, is_strict: bool) -> js::Result<Self> {
        let mut read = Self::default();
        let Some(params) = params.and_then(Value::as_object) else { return Ok(read) };
        for entry in params.props::<String, Value<'js>>() {
            let (key, value) = entry?;
            match key.as_str() {
                "headers" => read.headers = metrics::pairs(ctx, &value)?,
                "tags" => read.tags = metrics::pairs(ctx, &value)?,
                "jar" => read.jar = Some(value),
                "compression" => read.offers_deflate = is_deflate(ctx, &value, is_strict)?,
                other if is_strict => {
                    return Err(throw(ctx, &format!("unknown WebSocket's option {other}")));
                }
                _ => {}
            }
        }
        Ok(read)
    }
}

/// Whether the param `compression` asks for it.
fn is_deflate<'js>(ctx: &Ctx<'js>, value: &Value<'js>, is_strict: bool) -> js::Result<bool> {
    let name = Coerced::<String>::from_js(ctx, value.clone())?.0;
    match name.trim() {
        "" if !is_strict => Ok(false),
        "deflate" => Ok(true),
        other => {
            let told = format!(
                "unsupported compression algorithm '{other}', supported algorithm is 'deflate'"
            );
            Err(throw(ctx, &told))
        }
    }
}

/// One socket and its account.
struct Session {
    user: Rc<User>,
    operation: OperationId,
    link: Arc<Link>,
    orders: Sender<Order>,
    tags: RefCell<Arc<TagSet>>,
    began_ns: u64,
    is_over: Cell<bool>,
    /// When each ping was sent that has no pong yet.
    pings: RefCell<HashMap<Vec<u8>, u64>>,
    pings_sent: Cell<u64>,
}

impl Session {
    /// Begins to open a socket. `shown` is its URL as tags have it.
    fn open(
        user: &Rc<User>,
        ctx: &Ctx<'_>,
        url: &Url,
        shown: &str,
        params: Params<'_>,
        is_named: bool,
    ) -> js::Result<Rc<Self>> {
        let began_ns = sojourn_clock::now_ns();
        let tags = tags(user, shown, &params, is_named);
        let ask = ask(user, url, params).map_err(|problem| throw(ctx, &problem))?;
        let operation = user.operation();
        let link = user.host.inbox.link(user.index, operation);
        let (orders, coming) = channel(ORDERS_MAX);
        let task = websocket::run(ask, Arc::clone(&link), coming, user.links.traffic());
        user.links
            .start(&user.host.settings.sockets, &link, task)
            .map_err(|problem| throw(ctx, &problem))?;
        Ok(Rc::new(Self {
            user: Rc::clone(user),
            operation,
            link,
            orders,
            tags: RefCell::new(tags),
            began_ns,
            is_over: Cell::new(false),
            pings: RefCell::default(),
            pings_sent: Cell::new(0),
        }))
    }

    /// Hands on what is to be sent. Throws when too much waits already.
    fn send(&self, ctx: &Ctx<'_>, order: Order) -> js::Result<()> {
        if !self.link.reserve(order.len()) {
            let told = format!("more than {UNSENT_BYTES_MAX} bytes wait to be sent on the socket");
            return Err(throw(ctx, &told));
        }
        match self.orders.try_send(order) {
            Err(TrySendError::Full(order)) => {
                self.link.written(order.len());
                let told = format!("more than {ORDERS_MAX} messages wait to be sent on the socket");
                Err(throw(ctx, &told))
            }
            // A task that has ended has said so.
            Err(TrySendError::Closed(_)) | Ok(()) => Ok(()),
        }
    }

    fn ping(&self, ctx: &Ctx<'_>) -> js::Result<()> {
        let number = self.pings_sent.get() + 1;
        self.pings_sent.set(number);
        let payload = number.to_string().into_bytes();
        let mut pings = self.pings.borrow_mut();
        if pings.len() >= PINGS_MAX {
            pings.clear();
        }
        pings.insert(payload.clone(), sojourn_clock::now_ns());
        drop(pings);
        self.send(ctx, Order::Ping(payload))
    }

    fn add(&self, metric: sojourn_k6::metrics::MetricId, at_ns: u64, value: f64) {
        let tags = Arc::clone(&self.tags.borrow());
        self.user.add_tagged(metric, &tags, at_ns, value);
    }

    fn sent(&self) {
        self.add(builtin::WS_MSGS_SENT, sojourn_clock::now_ns(), 1.0);
    }

    fn received(&self, at_ns: u64) {
        self.add(builtin::WS_MSGS_RECEIVED, at_ns, 1.0);
    }

    fn ponged(&self, payload: &[u8], at_ns: u64) {
        let sent_ns = self.pings.borrow_mut().remove(payload);
        if let Some(sent_ns) = sent_ns {
            self.add(builtin::WS_PING, at_ns, ms(at_ns.saturating_sub(sent_ns)));
        }
    }

    /// The handshake has ended, well or not.
    fn answered(&self, answer: &Answer, at_ns: u64) {
        if answer.status > 0 {
            let system = self.user.host.settings.system_tags;
            let status = answer.status.to_string();
            let mut pairs = Vec::with_capacity(2);
            if system.has(SystemTag::Status) {
                pairs.push((SystemTag::Status.as_str(), status.as_str()));
            }
            if system.has(SystemTag::Subproto) {
                pairs.push((SystemTag::Subproto.as_str(), protocol(answer)));
            }
            let tags = self.user.host.tags(&self.tags.borrow(), &pairs);
            *self.tags.borrow_mut() = tags;
        }
        self.add(builtin::WS_SESSIONS, at_ns, 1.0);
        self.add(builtin::WS_CONNECTING, at_ns, ms(at_ns.saturating_sub(self.began_ns)));
    }

    /// The session is over: once.
    fn over(&self, at_ns: u64) {
        if !self.is_over.replace(true) {
            let took_ns = at_ns.saturating_sub(self.began_ns);
            self.add(builtin::WS_SESSION_DURATION, at_ns, ms(took_ns));
        }
    }
}

/// What a server said of extensions, header by header.
fn extensions(answer: &Answer) -> Vec<String> {
    answer.values("sec-websocket-extensions").map(str::to_owned).collect()
}

/// The subprotocol that a server has chosen.
fn protocol(answer: &Answer) -> &str {
    answer.values("sec-websocket-protocol").next().unwrap_or_default()
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

fn tags(user: &User, shown: &str, params: &Params<'_>, is_named: bool) -> Arc<TagSet> {
    let system = user.host.settings.system_tags;
    let mut pairs: Vec<(&str, &str)> = Vec::with_capacity(2 + params.tags.len());
    if system.has(SystemTag::Url) {
        pairs.push((SystemTag::Url.as_str(), shown));
    }
    if is_named && system.has(SystemTag::Name) {
        pairs.push((SystemTag::Name.as_str(), shown));
    }
    pairs.extend(params.tags.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    user.host.tags(&user.tags.borrow(), &pairs)
}

fn ask(user: &User, url: &Url, params: Params<'_>) -> Result<Ask, String> {
    let settings = &user.host.settings;
    let options = &settings.options;
    let is_secure = url.scheme() == "wss";
    let host = url.host_str().ok_or("malformed ws or wss URL")?;
    let port = url.port_or_known_default().unwrap_or(if is_secure { 443 } else { 80 });
    let mut endpoint =
        Endpoint::new(options, host, port).through(options, &settings.proxies, is_secure);
    if is_secure {
        endpoint.tls = Some(settings.sockets.tls(&settings.tls, host)?);
    }
    let Params { mut headers, jar, protocols, offers_deflate, .. } = params;
    let has = |headers: &[(String, String)], wanted: &str| {
        headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted))
    };
    if !has(&headers, "user-agent") {
        let own = concat!("Sojourn/", env!("CARGO_PKG_VERSION"));
        let agent = options.user_agent.as_deref().unwrap_or(own);
        headers.push(("User-Agent".to_owned(), agent.to_owned()));
    }
    let mut of_cookies = url.clone();
    // Cookies know nothing of WebSockets. Both schemes are special ones, so this is allowed.
    of_cookies.set_scheme(if is_secure { "https" } else { "http" }).ok();
    if !has(&headers, "cookie")
        && let Some(cookies) = http::cookies_for(user, jar.as_ref(), &of_cookies)
    {
        headers.push(("Cookie".to_owned(), cookies));
    }
    let mut url = url.clone();
    url.set_fragment(None);
    Ok(Ask { endpoint, url: url.into(), headers, protocols, offers_deflate })
}
