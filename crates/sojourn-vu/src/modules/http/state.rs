//! What a user keeps between requests: connections, cookies, defaults.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;

use sojourn_http::{Client, Ends, Origin, OriginId, origin_host_header};
use url::Url;

use super::expected::Expected;
use super::places;
use crate::settings::Settings;
use crate::user::User;
use sojourn_cookies::Jar;

/// Most addresses remembered with what they mean.
const TARGETS_MAX: usize = 256;

/// See the module's page.
pub(crate) struct HttpState {
    /// The user's own pools of connections.
    origins: RefCell<HashMap<Origin, OriginId>>,
    targets: RefCell<HashMap<String, Rc<Target>>>,
    pub(super) jar: RefCell<Rc<RefCell<Jar>>>,
    pub(super) expected: RefCell<Rc<Expected>>,
    /// Whether the next request is the iteration's first.
    pub(super) redirects_max: Cell<u32>,
}

/// What a URL means.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) url: Url,
    pub(super) origin: OriginId,
    pub(super) host: String,
    /// Path and query.
    pub(super) path: String,
    /// As it is shown: user and password hidden.
    pub(super) shown: String,
    /// Why it may not be asked: an address or a name that the options exclude.
    pub(super) blocked: Option<String>,
    /// `Authorization` for user and password in the URL.
    pub(super) login: Option<(String, String)>,
}

impl HttpState {
    pub(crate) fn new(settings: &Settings) -> Self {
        let redirects = settings.options.max_redirects.unwrap_or(10);
        Self {
            origins: RefCell::default(),
            targets: RefCell::default(),
            jar: RefCell::default(),
            expected: RefCell::default(),
            redirects_max: Cell::new(u32::try_from(redirects).unwrap_or(0)),
        }
    }

    /// A new iteration begins without cookies.
    pub(crate) fn reset_cookies(&self) {
        // A jar that the script still holds stays as it is.
        *self.jar.borrow_mut() = Rc::default();
    }

    /// Closes the connections that no request uses.
    pub(crate) fn close_connections(&self, client: &mut Client) {
        self.origins.borrow().values().for_each(|origin| client.close_idle(*origin));
    }

    /// What a URL means, and where its connections are. The error says what is wrong with it.
    pub(super) fn target(&self, user: &User, text: &str) -> Result<Rc<Target>, String> {
        if let Some(known) = self.targets.borrow().get(text) {
            return Ok(Rc::clone(known));
        }
        let target = Rc::new(self.parse(user, text)?);
        let mut targets = self.targets.borrow_mut();
        if targets.len() >= TARGETS_MAX {
            targets.clear();
        }
        targets.insert(text.to_owned(), Rc::clone(&target));
        Ok(target)
    }

    fn parse(&self, user: &User, text: &str) -> Result<Target, String> {
        let mut url = Url::parse(text).map_err(|error| error.to_string())?;
        let origin = Origin::parse(text).map_err(|error| error.to_string())?;
        let login = (!url.username().is_empty() || url.password().is_some())
            .then(|| (decoded(url.username()), decoded(url.password().unwrap_or_default())));
        let mut shown = url.clone();
        if login.is_some() {
            // Both fail only for URLs without a host, which were refused above.
            shown.set_username("****").ok();
            shown.set_password(Some("****")).ok();
            url.set_username("").ok();
            url.set_password(None).ok();
        }
        url.set_fragment(None);
        let path = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        let host = origin_host_header(&origin);
        let shown = if login.is_some() { shown.to_string() } else { text.to_owned() };
        let options = &user.host.settings.options;
        let origin = self.origin(user, &origin, places::of(options, &url));
        let blocked = places::blocked(options, &url);
        Ok(Target { url, origin, host, path, shown, blocked, login })
    }

    fn origin(&self, user: &User, origin: &Origin, to: Option<SocketAddr>) -> OriginId {
        let mut origins = self.origins.borrow_mut();
        if let Some(known) = origins.get(origin) {
            return *known;
        }
        let local = user.host.settings.options.local_ips.as_ref();
        let local = local.map(|ips| ips.of(user.number()));
        let id = user.host.client.borrow_mut().own_origin_by(origin, Ends { local, to });
        origins.insert(origin.clone(), id);
        id
    }
}

fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}
