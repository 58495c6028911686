//! A target: one request to send again and again.

use std::{fmt, sync::Arc};

use crate::read::origin::Origin;

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Name for reports, where the file gives one.
    pub name: Option<String>,
    /// Method.
    pub method: String,
    /// URL as given.
    pub url: String,
    /// Whether the scheme is https.
    pub tls: bool,
    /// Host; an IPv6 address without its brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Path and query.
    pub path: String,
    /// Headers in order, their case kept; names may repeat.
    pub headers: Vec<(String, String)>,
    /// Body; shared by the targets that have the default one.
    pub body: Arc<[u8]>,
}

/// What targets have that bring none of their own.
#[derive(Clone, Debug, Default)]
pub struct TargetDefaults {
    /// Headers put before a target's own.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Arc<[u8]>,
}

/// What is wrong with a target, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetError {
    /// File or stream.
    pub file: String,
    /// Line, from 1; 0: the file as a whole.
    pub line: u64,
    /// What, with the offending text.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.message)?,
            line => write!(f, "{}:{line}: {}", self.file, self.message)?,
        }
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for TargetError {}

/// A message and a hint, before it is known where.
pub(super) type Wrong = (String, Option<String>);

impl Target {
    /// A target of this method and URL, with the defaults.
    pub(super) fn new(method: &str, url: &str, defaults: &TargetDefaults) -> Result<Self, Wrong> {
        let (origin, rest) =
            Origin::split(url).map_err(|(why, hint)| (format!("bad URL: {url}, {why}"), hint))?;
        Ok(Self {
            name: None,
            method: method.to_owned(),
            url: url.to_owned(),
            tls: origin.tls,
            host: origin.host,
            port: origin.port,
            path: path_of(rest),
            headers: defaults.headers.clone(),
            body: Arc::clone(&defaults.body),
        })
    }

    /// What reports call it: its name, else method and address without the query, which may carry
    /// secrets.
    pub fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| {
            let address = self.url.split(['?', '#']).next().unwrap_or_default();
            format!("{} {address}", self.method)
        })
    }
}

/// A header line `Key: Value`, both sides trimmed and there; the key's case is kept.
pub fn header_of(line: &str) -> Option<(String, String)> {
    let (key, value) = line.split_once(':')?;
    let (key, value) = (key.trim(), value.trim());
    (!key.is_empty() && !value.is_empty()).then(|| (key.to_owned(), value.to_owned()))
}

/// Path and query for a request line: without fragment, never empty, what no request line may have
/// percent-encoded.
fn path_of(rest: &str) -> String {
    let rest = rest.split('#').next().unwrap_or_default();
    let mut path = String::with_capacity(rest.len() + 1);
    if !rest.starts_with('/') {
        path.push('/');
    }
    for c in rest.chars() {
        if c.is_ascii_graphic() {
            path.push(c);
        } else {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                path.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_become_requests() {
        for (url, tls, host, port, path) in [
            ("http://h", false, "h", 80, "/"),
            ("https://H:8443/a/b?c=d#e", true, "h", 8443, "/a/b?c=d"),
            ("http://[::1]:9?x", false, "::1", 9, "/?x"),
            ("http://h/a b/é", false, "h", 80, "/a%20b/%C3%A9"),
        ] {
            let target = Target::new("GET", url, &TargetDefaults::default()).unwrap();
            assert_eq!((target.tls, target.host.as_str(), target.port), (tls, host, port), "{url}");
            assert_eq!(target.path, path, "{url}");
        }
        for (url, wrong) in [
            ("/path", "bad URL: /path, not an absolute URL"),
            ("ftp://h/", "only http and https"),
            ("http://", "bad URL: http://"),
        ] {
            let (message, _) = Target::new("GET", url, &TargetDefaults::default()).unwrap_err();
            assert!(message.contains(wrong), "{message}");
        }
    }

    #[test]
    fn labels_hold_no_query() {
        let mut target =
            Target::new("GET", "http://h/a?token=1", &TargetDefaults::default()).unwrap();
        assert_eq!(target.label(), "GET http://h/a");
        target.name = Some("login".to_owned());
        assert_eq!(target.label(), "login");
    }

    #[test]
    fn headers_are_trimmed_and_whole() {
        assert_eq!(header_of(" x-A :  b: c "), Some(("x-A".to_owned(), "b: c".to_owned())));
        for bad in ["x", ":", "x:", ": y", "  :  "] {
            assert_eq!(header_of(bad), None, "{bad}");
        }
    }
}
