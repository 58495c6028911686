//! What a load goes to, as scripts see it.

use sojourn_plan::Target;
use url::Url;

use crate::ScriptError;

/// The parts of the URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// For the engine.
    pub target: Target,
    /// The URL as given.
    pub url: String,
    /// `http` or `https`.
    pub(crate) scheme: String,
    /// Without brackets.
    pub(crate) host: String,
    /// As given in the URL, if it was.
    pub(crate) port: Option<String>,
    /// Path and query.
    pub(crate) path: String,
}

impl Site {
    /// Reads a URL; errs with what is wrong with it.
    pub fn parse(url: &str) -> Result<Self, ScriptError> {
        let has_secret =
            Url::parse(url).is_ok_and(|url| !url.username().is_empty() || url.password().is_some());
        if has_secret {
            let hint = "send -H 'Authorization: …' instead of a name and password in it";
            return Err(ScriptError(format!("invalid URL: {hint}")));
        }
        let target = Target::get(url).map_err(|error| {
            let why = error.message.trim_start_matches("bad URL: ");
            ScriptError(format!("invalid URL: {why}"))
        })?;
        Ok(Self {
            url: url.to_owned(),
            scheme: if target.tls { "https" } else { "http" }.to_owned(),
            host: target.host.clone(),
            port: given_port(url).map(str::to_owned),
            path: target.path.clone(),
            target,
        })
    }

    /// The Host header: the port only if it was given.
    pub(crate) fn authority(&self) -> String {
        let host = match self.host.contains(':') {
            true => format!("[{}]", self.host),
            false => self.host.clone(),
        };
        match &self.port {
            Some(port) => format!("{host}:{port}"),
            None => host,
        }
    }
}

/// The port as it stands in a URL, even if it is the scheme's own.
fn given_port(url: &str) -> Option<&str> {
    let authority = url.split_once("://")?.1.split(['/', '?', '#']).next()?;
    let after_host = authority.rsplit_once(']').map_or(authority, |(_, rest)| rest);
    after_host.rsplit_once(':').map(|(_, port)| port).filter(|port| !port.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_url() {
        let parts = |url: &str| {
            let site = Site::parse(url).unwrap();
            (site.authority(), site.target.port, site.path, site.host)
        };
        let part = |host: &str, port, path: &str, bare: &str| {
            (host.to_owned(), port, path.to_owned(), bare.to_owned())
        };
        assert_eq!(parts("http://h"), part("h", 80, "/", "h"));
        assert_eq!(parts("http://h:80/a?b=c"), part("h:80", 80, "/a?b=c", "h"));
        assert_eq!(parts("https://h/a"), part("h", 443, "/a", "h"));
        assert_eq!(parts("http://[::1]:81/"), part("[::1]:81", 81, "/", "::1"));
        assert_eq!(parts("http://[::1]/"), part("[::1]", 80, "/", "::1"));
    }

    #[test]
    fn what_is_no_url_is_refused() {
        for url in ["", "foo", "/a", "ftp://h/", "http://", "http://h:0/", "http://h:99999/"] {
            let error = Site::parse(url).expect_err(url).0;
            assert!(error.starts_with("invalid URL: "), "{error}");
        }
        let secret = Site::parse("http://me:secret@h/").unwrap_err().0;
        assert!(!secret.contains("secret"), "{secret}");
    }
}
