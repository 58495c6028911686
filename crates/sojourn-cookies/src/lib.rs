//! Cookies: whoever asks keeps those that answers set, in a jar (RFC 6265).
//!
//! No list of public suffixes is known: a host may set a cookie for any domain that it is within.

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use url::Url;

/// Most cookies of a jar that names no bound of its own; the oldest goes.
const COOKIES_MAX: usize = 3_000;

/// One cookie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cookie {
    /// Its name; not empty.
    pub name: String,
    /// Its value, without quotes around it.
    pub value: String,
    /// Host or domain; as given.
    pub domain: String,
    /// As given; empty where the server gave none.
    pub path: String,
    /// Not for scripts of pages.
    pub is_http_only: bool,
    /// Not over plain HTTP, but to this machine.
    pub is_secure: bool,
    /// Seconds; 0 where the server gave none.
    pub max_age_s: i64,
    /// Seconds since 1970.
    pub expires_s: Option<i64>,
}

impl Cookie {
    /// Reads a `Set-Cookie` header; `None` for one without a name.
    pub fn parse(header: &str) -> Option<Self> {
        let mut parts = header.split(';');
        let (name, value) = parts.next()?.split_once('=')?;
        let value = value.trim();
        let value =
            value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
        let name = name.trim();
        if name.is_empty() {
            return None;
        }
        let mut cookie = Self { name: name.into(), value: value.into(), ..Self::default() };
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            cookie.set(key.trim(), value.trim());
        }
        Some(cookie)
    }

    fn set(&mut self, key: &str, value: &str) {
        match key.to_ascii_lowercase().as_str() {
            "domain" => value.clone_into(&mut self.domain),
            "path" => value.clone_into(&mut self.path),
            "secure" => self.is_secure = true,
            "httponly" => self.is_http_only = true,
            // None at all is another thing than one that is over.
            "max-age" => {
                let seconds = value.parse::<i64>();
                self.max_age_s =
                    seconds.map_or(0, |seconds| if seconds > 0 { seconds } else { -1 });
            }
            "expires" => self.expires_s = http_date_s(value),
            _ => {}
        }
    }
}

/// A date of a header, seconds since 1970.
pub fn http_date_s(text: &str) -> Option<i64> {
    let text = text.replace('-', " ").replace("GMT", "+0000");
    rfc2822::DateTimeParser::new().parse_timestamp(text).ok().map(Timestamp::as_second)
}

/// A jar's cookie: to which hosts it goes.
#[derive(Clone, Debug)]
struct Kept {
    cookie: Cookie,
    host: String,
    /// Goes to this host alone.
    is_host_only: bool,
    path: String,
    /// Seconds since 1970.
    until_s: Option<i64>,
}

/// Somebody's cookies.
#[derive(Debug)]
pub struct Jar {
    kept: Vec<Kept>,
    cookies_max: usize,
}

impl Default for Jar {
    fn default() -> Self {
        Self::bounded(COOKIES_MAX)
    }
}

impl Jar {
    /// An empty jar for so many cookies: of more the oldest goes.
    pub fn bounded(cookies_max: usize) -> Self {
        Self { kept: Vec::new(), cookies_max }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// The header field `Cookie` of a request to `url`; `None` where no cookie goes there.
    pub fn header(&self, url: &Url, now_s: i64) -> Option<String> {
        let pairs = self.of(url, now_s);
        let pairs: Vec<_> = pairs.iter().map(|it| format!("{}={}", it.name, it.value)).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }

    /// Takes a cookie that an answer from `url` has set, or that a script sets for it.
    pub fn set(&mut self, url: &Url, cookie: Cookie, now_s: i64) {
        let Some(host) = url.host_str().map(str::to_ascii_lowercase) else { return };
        let domain = cookie.domain.trim_start_matches('.').to_ascii_lowercase();
        if !domain.is_empty() && !is_within(&host, &domain) {
            return;
        }
        let is_host_only = domain.is_empty();
        let path = match cookie.path.as_str() {
            path if path.starts_with('/') => path.to_owned(),
            _ => default_path(url.path()),
        };
        let until_s = match cookie.max_age_s {
            0 => cookie.expires_s,
            negative if negative < 0 => Some(i64::MIN),
            seconds => Some(now_s.saturating_add(seconds)),
        };
        let host = if is_host_only { host } else { domain };
        let is_same =
            |kept: &Kept| kept.cookie.name == cookie.name && kept.host == host && kept.path == path;
        let place = self.kept.iter().position(is_same);
        if until_s.is_some_and(|until_s| until_s <= now_s) {
            if let Some(place) = place {
                self.kept.remove(place);
            }
            return;
        }
        let kept = Kept { cookie, host, is_host_only, path, until_s };
        match place {
            Some(place) => self.kept[place] = kept,
            None => self.kept.push(kept),
        }
        if self.kept.len() > self.cookies_max {
            self.kept.remove(0);
        }
    }

    /// Cookies that go with a request to `url`: longer paths first, then older ones.
    pub fn of(&self, url: &Url, now_s: i64) -> Vec<&Cookie> {
        let host = url.host_str().unwrap_or_default().to_ascii_lowercase();
        let is_secure = url.scheme() == "https" || is_local(&host);
        let mut found: Vec<_> = self
            .kept
            .iter()
            .filter(|kept| kept.until_s.is_none_or(|until_s| until_s > now_s))
            .filter(|kept| is_secure || !kept.cookie.is_secure)
            .filter(|kept| {
                if kept.is_host_only { host == kept.host } else { is_within(&host, &kept.host) }
            })
            .filter(|kept| is_below(url.path(), &kept.path))
            .collect();
        found.sort_by_key(|kept| std::cmp::Reverse(kept.path.len()));
        found.into_iter().map(|kept| &kept.cookie).collect()
    }

    /// Forgets the cookies that go to `url`.
    pub fn clear(&mut self, url: &Url) {
        self.remove(url, |_| true);
    }

    /// Forgets one of them.
    pub fn delete(&mut self, url: &Url, name: &str) {
        self.remove(url, |cookie| cookie.name == name);
    }

    fn remove(&mut self, url: &Url, is_meant: impl Fn(&Cookie) -> bool) {
        let host = url.host_str().unwrap_or_default().to_ascii_lowercase();
        // As in k6, only where the cookie's path is what a cookie from `url` has by default.
        let path = default_path(url.path());
        let goes = |kept: &Kept| is_within(&host, &kept.host) && kept.path == path;
        self.kept.retain(|kept| !(goes(kept) && is_meant(&kept.cookie)));
    }
}

/// Secure cookies go to this machine without TLS, too.
fn is_local(host: &str) -> bool {
    host == "localhost" || host == "[::1]" || host.starts_with("127.")
}

fn is_within(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// RFC 6265 §5.1.4.
fn is_below(path: &str, of: &str) -> bool {
    path.strip_prefix(of)
        .is_some_and(|rest| rest.is_empty() || of.ends_with('/') || rest.starts_with('/'))
}

fn default_path(path: &str) -> String {
    match path.rfind('/') {
        None | Some(0) => "/".to_owned(),
        Some(last) => path[..last].to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    fn names(jar: &Jar, text: &str) -> Vec<String> {
        jar.of(&url(text), 100).iter().map(|cookie| cookie.name.clone()).collect()
    }

    #[test]
    fn cookies_go_where_they_belong() {
        let mut jar = Jar::default();
        let mut set = |at: &str, header: &str| {
            jar.set(&url(at), Cookie::parse(header).expect("a cookie"), 100);
        };
        set("http://a.example/x/y", "own=1");
        set("http://a.example/", "wide=\"2\"; Domain=example; Path=/; HttpOnly");
        set("http://a.example/", "safe=3; Secure");
        set("http://a.example/", "foreign=4; Domain=other.example");
        set("http://a.example/", "brief=5; Max-Age=10");
        set("http://a.example/", "over=7; Max-Age=0");
        set("http://a.example/", "gone=6; Expires=Thu, 01 Jan 1970 00:00:50 GMT");
        assert_eq!(names(&jar, "http://a.example/x/z"), ["own", "wide", "brief"]);
        assert_eq!(names(&jar, "http://a.example/xx"), ["wide", "brief"]);
        assert_eq!(names(&jar, "https://a.example/"), ["wide", "safe", "brief"]);
        assert_eq!(names(&jar, "http://b.example/"), ["wide"]);
        assert_eq!(jar.of(&url("http://b.example/"), 100)[0].value, "2");
        assert!(jar.of(&url("http://a.example/"), 111).iter().all(|cookie| cookie.name != "brief"));
        jar.delete(&url("http://a.example/x/y"), "wide");
        assert_eq!(names(&jar, "http://b.example/"), ["wide"], "its path is another");
        jar.delete(&url("http://a.example/"), "wide");
        assert_eq!(names(&jar, "http://b.example/"), Vec::<String>::new());
        jar.clear(&url("http://a.example/"));
        assert_eq!(names(&jar, "https://a.example/x/y"), ["own"]);
        jar.clear(&url("http://a.example/x/z"));
        assert_eq!(names(&jar, "https://a.example/x/y"), Vec::<String>::new());
    }

    #[test]
    fn a_jar_is_bounded_and_says_what_goes_with_a_request() {
        let mut jar = Jar::bounded(2);
        assert!(jar.is_empty() && jar.header(&url("http://a/"), 1).is_none());
        for name in ["a", "b", "c"] {
            let cookie = Cookie::parse(&format!("{name}=1; Path=/")).expect("a cookie");
            jar.set(&url("http://a/"), cookie, 1);
        }
        assert_eq!(jar.header(&url("http://a/"), 1).as_deref(), Some("b=1; c=1"));
    }

    #[test]
    fn dates_of_headers() {
        assert_eq!(http_date_s("Wed, 21 Oct 2015 07:28:00 GMT"), Some(1_445_412_480));
        assert_eq!(http_date_s("Wed, 21-Oct-2015 07:28:00 GMT"), Some(1_445_412_480));
        assert_eq!(http_date_s("soon"), None);
    }
}
