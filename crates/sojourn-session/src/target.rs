//! Targets: the hosts that may be asked, and what relative URLs are relative to.

use url::{Host, Url};

/// The hosts of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    targets: Vec<Target>,
}

/// One target. Whatever path the script gave it is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// `http://host:port`.
    pub origin: String,
    /// The host alone, in small letters.
    pub host: String,
}

/// Why a target or URL can't be used, as a fragment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// It is no URL.
    #[error("`{0}` is no URL of a host: {1}")]
    Malformed(String, String),
    /// Neither http nor https.
    #[error("`{0}` is neither http nor https")]
    Scheme(String),
    /// A relative URL, and several targets.
    #[error("`{0}` is relative, but there are {1} targets")]
    Relative(String, usize),
}

impl Target {
    /// Reads `host`, `host:port` or a URL; http unless it says otherwise.
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        let text = text.trim();
        let full = match text.contains("://") {
            true => text.to_owned(),
            false => format!("http://{text}"),
        };
        let malformed =
            |why: &dyn std::fmt::Display| TargetError::Malformed(text.to_owned(), why.to_string());
        let url = Url::parse(&full).map_err(|error| malformed(&error))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(TargetError::Scheme(text.to_owned()));
        }
        let host = url.host_str().ok_or_else(|| malformed(&"it has no host"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(malformed(&"names and passwords belong into setAuthentication"));
        }
        Ok(Self { origin: url.origin().ascii_serialization(), host: host.to_owned() })
    }
}

impl Targets {
    /// These targets.
    pub fn new(targets: Vec<Target>) -> Self {
        Self { targets }
    }

    /// All of them, in the script's order.
    pub fn all(&self) -> &[Target] {
        &self.targets
    }

    /// Whether requests may go to this host, also by a redirect. It may be written in any way that
    /// means the same host: `bücher.example`, `127.1`.
    pub fn allows(&self, host: &str) -> bool {
        let is_target =
            |host: &str| self.targets.iter().any(|it| it.host.eq_ignore_ascii_case(host));
        is_target(host) || Host::parse(host).is_ok_and(|same| is_target(&same.to_string()))
    }

    /// What a relative URL is relative to: the only target's origin.
    pub fn base(&self, relative: &str) -> Result<&str, TargetError> {
        match self.targets.as_slice() {
            [only] => Ok(&only.origin),
            several => Err(TargetError::Relative(relative.to_owned(), several.len())),
        }
    }
}

/// Whether a scheme stands before any path: `ftp://host`, but not `/a?b=ftp://host`.
pub(crate) fn has_scheme(url: &str) -> bool {
    let before = url.split_once("://").map(|(scheme, _)| scheme);
    before.is_some_and(|scheme| {
        !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// What ends the authority of a URL.
pub(crate) const ENDS_AUTHORITY: [char; 4] = ['/', '?', '#', '\\'];

/// Whether a URL has a scheme and host of its own.
pub(crate) fn is_absolute(url: &str) -> bool {
    let has = |scheme: &str| {
        url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    has("http://") || has("https://")
}

/// The authority of an absolute URL. As browsers have it, a backslash ends it too: whoever connects
/// must not see another host than we do.
pub(crate) fn authority_of(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    Some(&rest[..rest.find(ENDS_AUTHORITY).unwrap_or(rest.len())])
}

/// The host of an absolute URL, as it is written in it.
pub(crate) fn host_of(url: &str) -> Option<&str> {
    let authority = authority_of(url)?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host.strip_prefix('[') {
        Some(_) => host.find(']').map(|end| &host[..=end]),
        None => Some(host.rsplit_once(':').map_or(host, |(host, _)| host)),
    }
    .filter(|host| !host.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_hosts_or_urls() {
        let origin = |text: &str| Target::parse(text).map(|target| target.origin);
        assert_eq!(origin("a.example").as_deref(), Ok("http://a.example"));
        assert_eq!(origin("localhost:9000").as_deref(), Ok("http://localhost:9000"));
        assert_eq!(origin("https://A.example/x?y").as_deref(), Ok("https://a.example"));
        assert_eq!(origin("http://[::1]:8080").as_deref(), Ok("http://[::1]:8080"));
        assert!(matches!(origin("ftp://a"), Err(TargetError::Scheme(_))));
        assert!(matches!(origin("http://"), Err(TargetError::Malformed(..))));
        assert!(matches!(origin("http://u:p@a"), Err(TargetError::Malformed(..))));
    }

    #[test]
    fn hosts_of_urls() {
        assert_eq!(host_of("http://u:p@a.example:80/x@y"), Some("a.example"));
        assert_eq!(host_of("https://[::1]:8080?x"), Some("[::1]"));
        assert_eq!(host_of("https:///x"), None);
        assert!(is_absolute("HTTP://a") && !is_absolute("/http://a") && !is_absolute("é"));
        let targets = Targets::new(vec![Target::parse("a.example").unwrap()]);
        assert!(targets.allows("A.example") && !targets.allows("b.a.example"));
        assert_eq!(host_of(r"http://evil.example\@a.example/"), Some("evil.example"));
        for (target, same) in [("http://bücher.example", "BÜCHER.example"), ("127.1", "127.1")] {
            let targets = Targets::new(vec![Target::parse(target).unwrap()]);
            assert!(targets.allows(same) && targets.allows(&targets.all()[0].host), "{target}");
            assert!(!targets.allows("") && !targets.allows("x.example"), "{target}");
        }
        assert_eq!(targets.base("/x"), Ok("http://a.example"));
    }
}
