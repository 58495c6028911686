//! Which proxy a request goes through.

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::percent_decode_str;
use url::Url;

use super::{NoProxy, Tunnel, TunnelPlan};
use crate::{HostPort, Origin, RequestError};

/// The proxies of a client; none by default.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    /// For `http://` origins.
    pub http: Option<Proxy>,
    /// For `https://` origins.
    pub https: Option<Proxy>,
    /// Origins that are reached without.
    pub exceptions: NoProxy,
    /// Headers sent with each CONNECT, besides Host and Proxy-Authorization.
    pub connect_headers: Vec<(String, String)>,
}

/// A proxy.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    /// What it speaks.
    pub kind: ProxyKind,
    /// Where it is.
    pub address: HostPort,
    /// User and password, as they are; never printed.
    pub(super) user: Option<(Vec<u8>, Vec<u8>)>,
}

/// What a proxy speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyKind {
    /// HTTP/1.1 without TLS: absolute form for `http://`, CONNECT for `https://`.
    Http,
    /// SOCKS version 5 (RFC 1928): names are looked up by the proxy.
    Socks5,
}

/// Why a proxy's URL is of no use. The URL is not in the message: it may carry a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable}: {problem}")]
pub struct ProxyError {
    /// The environment variable it came from, or `proxy`.
    pub variable: String,
    problem: String,
}

impl Proxies {
    /// The proxies that an environment names by HTTP_PROXY, HTTPS_PROXY and NO_PROXY; each in lower
    /// case where the upper is not set or empty. `variable` looks one up, usually
    /// `|name| std::env::var(name).ok()`.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Self, ProxyError> {
        let get = |name: &str| {
            [name.to_owned(), name.to_ascii_lowercase()].into_iter().find_map(|name| {
                let value = variable(&name)?;
                let value = value.trim().to_owned();
                (!value.is_empty()).then_some((name, value))
            })
        };
        let proxy = |name: &str| {
            let Some((name, url)) = get(name) else { return Ok(None) };
            let named = |error| ProxyError { variable: name, ..error };
            Proxy::parse(&url).map(Some).map_err(named)
        };
        let exceptions = get("NO_PROXY").map(|(_, list)| NoProxy::parse(&list));
        Ok(Self {
            http: proxy("HTTP_PROXY")?,
            https: proxy("HTTPS_PROXY")?,
            exceptions: exceptions.unwrap_or_default(),
            connect_headers: Vec::new(),
        })
    }

    /// The making of a tunnel through one of them, for whoever has a connection to it of his own.
    /// Fails when a CONNECT header can't be sent or a name is too long for SOCKS.
    pub fn tunnel(&self, proxy: &Proxy, target: &HostPort) -> Result<Tunnel, RequestError> {
        TunnelPlan::new(self, proxy, target).map(|plan| Tunnel::new(&Arc::new(plan)))
    }

    /// The proxy that an origin is reached through.
    pub fn of(&self, origin: &Origin) -> Option<&Proxy> {
        let proxy = if origin.tls { &self.https } else { &self.http };
        proxy.as_ref().filter(|_| !self.exceptions.matches(origin))
    }
}

impl Proxy {
    /// Reads `http://user:password@host:port`, `socks5://…` (`socks5h://` is the same) or
    /// `host:port`; port 80 or 1080 where none is given, user and password percent-encoded.
    pub fn parse(url: &str) -> Result<Self, ProxyError> {
        let invalid = |problem: &str| ProxyError {
            variable: "proxy".to_owned(),
            problem: problem.to_owned(),
        };
        let url = match url.contains("://") {
            true => url.to_owned(),
            false => format!("http://{url}"),
        };
        let url = Url::parse(&url).map_err(|error| invalid(&format!("not a URL: {error}")))?;
        let (kind, usual_port) = match url.scheme() {
            "http" => (ProxyKind::Http, 80),
            "socks5" | "socks5h" => (ProxyKind::Socks5, 1080),
            "https" => return Err(invalid("proxies that are spoken to over TLS can't be used")),
            _ => return Err(invalid("only http:// and socks5:// proxies can be used")),
        };
        let host = url.host_str().filter(|host| !host.is_empty());
        let host = host.ok_or_else(|| invalid("it has no host"))?;
        let host = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
        let port = url.port().unwrap_or(usual_port);
        if port == 0 {
            return Err(invalid("port 0 can't be connected to"));
        }
        let decoded = |text: &str| percent_decode_str(text).collect::<Vec<u8>>();
        let has_user = !url.username().is_empty() || url.password().is_some();
        let user = has_user
            .then(|| (decoded(url.username()), decoded(url.password().unwrap_or_default())));
        let bytes_max = usize::from(u8::MAX);
        if let (ProxyKind::Socks5, Some((name, password))) = (kind, &user)
            && (name.is_empty() || name.len() > bytes_max || password.len() > bytes_max)
        {
            return Err(invalid("SOCKS5 takes a user of 1 to 255 bytes and a password up to 255"));
        }
        let address = HostPort { host: host.to_ascii_lowercase(), port };
        Ok(Self { kind, address, user })
    }

    /// The value of Proxy-Authorization (RFC 7617), if there is a user.
    pub(crate) fn authorization(&self) -> Option<String> {
        let (name, password) = self.user.as_ref()?;
        let pair = [name.as_slice(), b":", password].concat();
        Some(format!("Basic {}", BASE64_STANDARD.encode(pair)))
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Proxy")
            .field("kind", &self.kind)
            .field("address", &self.address)
            .field("user", &self.user.as_ref().map(|_| "(not shown)"))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn from(variables: &[(&str, &str)]) -> Result<Proxies, ProxyError> {
        Proxies::from_environment(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn an_environment_names_proxies() {
        let proxies = from(&[
            ("HTTP_PROXY", ""),
            ("http_proxy", "a.example:3128"),
            ("HTTPS_PROXY", "http://b.example"),
            ("https_proxy", "http://not.this"),
            ("no_proxy", "c.example"),
        ])
        .expect("valid");
        let of = |url: &str| {
            let origin = Origin::parse(url).expect(url);
            proxies.of(&origin).map(|proxy| proxy.address.to_string())
        };
        assert_eq!(of("http://x.example").as_deref(), Some("a.example:3128"));
        assert_eq!(of("https://x.example").as_deref(), Some("b.example:80"));
        assert_eq!(of("https://c.example"), None);
        assert_eq!(of("http://127.0.0.1"), None);
        let none = from(&[]).expect("empty");
        assert!(none.http.is_none() && none.https.is_none());
    }

    #[test]
    fn urls() {
        let check = |url: &str, kind: ProxyKind, address: &str, authorization: Option<&str>| {
            let proxy = Proxy::parse(url).expect(url);
            assert_eq!((proxy.kind, proxy.address.to_string().as_str()), (kind, address), "{url}");
            assert_eq!(proxy.authorization().as_deref(), authorization, "{url}");
        };
        check("http://a", ProxyKind::Http, "a:80", None);
        check("a:81", ProxyKind::Http, "a:81", None);
        check("http://[::1]:3128/x", ProxyKind::Http, "[::1]:3128", None);
        check("SOCKS5://A.example", ProxyKind::Socks5, "a.example:1080", None);
        check("socks5h://1.2.3.4:9", ProxyKind::Socks5, "1.2.3.4:9", None);
        // The example of RFC 7617 §2, percent-encoded.
        let encoded = Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        check("http://Aladdin:open%20sesame@a:1", ProxyKind::Http, "a:1", encoded);
        check("Aladdin:open%20sesame@a:1", ProxyKind::Http, "a:1", encoded);
    }

    #[test]
    fn what_is_of_no_use_is_refused_by_name_and_passwords_are_never_shown() {
        for url in ["https://u:secret@a", "ftp://u:secret@a", "http://u:secret@", "u:secret@a:0"] {
            let error = from(&[("https_proxy", url)]).expect_err(url);
            let text = format!("{error} {error:?}");
            assert!(text.starts_with("https_proxy: ") && !text.contains("secret"), "{text}");
        }
        let long = format!("socks5://{}:secret@a", "u".repeat(256));
        assert!(Proxy::parse(&long).is_err());
        let shown = format!("{:?}", from(&[("HTTP_PROXY", "http://u:secret@a")]));
        assert!(shown.contains("\"a\"") && !shown.contains("secret"), "{shown}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic_and_no_password_is_shown(
            scheme in "(|http://|socks5://|https://|[a-z]{1,4}://)",
            user in "[!-~]{0,8}|[a-z0-9]{0,8}",
            host in "\\PC{0,12}",
            list in "[a-z0-9.*:/,\\[\\] ]{0,40}",
        ) {
            let shown = format!("{:?}", Proxy::parse(&format!("{scheme}{user}:secret@{host}")));
            // A user with a slash or the like ends the host before the password.
            let is_plain = user.bytes().all(|byte| byte.is_ascii_alphanumeric());
            prop_assert!(!is_plain || !shown.contains("secret"), "{}", shown);
            let origin = Origin { tls: false, host, port: 80 };
            let _matches = NoProxy::parse(&list).matches(&origin);
        }
    }
}
