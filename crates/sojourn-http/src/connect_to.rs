//! Dialling somewhere else than the URL says.

use std::fmt;
use std::str::FromStr;

/// A host (name or address, without brackets) and a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostPort {
    /// Host; names are compared without regard to case.
    pub host: String,
    /// Port.
    pub port: u16,
}

/// Connections that would go to `from` go to the first of `to`, then to the next, in turn. Requests
/// stay as they are: Host header, TLS server name, the certificate's name. A host and port that a
/// proxy stands at can be replaced too; the origin behind it can't, since the proxy connects to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectTo {
    /// Where a connection would go.
    pub from: HostPort,
    /// Where it goes, in turn; empty: where it would go.
    pub to: Vec<HostPort>,
}

/// Text that is no host and port.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not HOST:PORT, as a.example:80 or [::1]:80")]
pub struct HostPortError(String);

impl FromStr for HostPort {
    type Err = HostPortError;

    fn from_str(text: &str) -> Result<Self, HostPortError> {
        let parts = text.rsplit_once(':').and_then(|(host, port)| {
            let port = port.parse::<u16>().ok().filter(|port| *port != 0)?;
            let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            let is_host = |text: &str| {
                !text.is_empty() && text.bytes().all(|byte| byte > b' ' && !b"[]/@".contains(&byte))
            };
            // Only brackets make clear where an IPv6 address ends.
            let fits = is_host(bare.unwrap_or(host)) && (bare.is_some() || !host.contains(':'));
            fits.then(|| Self { host: bare.unwrap_or(host).to_lowercase(), port })
        });
        parts.ok_or_else(|| HostPortError(text.to_owned()))
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(formatter, "[{}]:{}", self.host, self.port)
        } else {
            write!(formatter, "{}:{}", self.host, self.port)
        }
    }
}

/// Where connections to `wanted` go, in turn.
pub(crate) fn replaced(replacements: &[ConnectTo], wanted: HostPort) -> Vec<HostPort> {
    let is_wanted =
        |from: &HostPort| from.port == wanted.port && from.host.eq_ignore_ascii_case(&wanted.host);
    let found: Vec<HostPort> = replacements
        .iter()
        .filter(|replacement| is_wanted(&replacement.from))
        .flat_map(|replacement| replacement.to.iter().cloned())
        .collect();
    if found.is_empty() { vec![wanted] } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> HostPort {
        text.parse().expect(text)
    }

    #[test]
    fn hosts_and_ports() {
        for (text, host, port) in [
            ("A.example:80", "a.example", 80),
            ("[::1]:9", "::1", 9),
            ("127.0.0.1:1", "127.0.0.1", 1),
        ] {
            let parsed = at(text);
            assert_eq!((parsed.host.as_str(), parsed.port), (host, port));
            assert_eq!(parsed.to_string(), text.to_lowercase());
        }
        for text in
            ["", "a", "a:", ":80", "a:0", "a:65536", "::1", "::1:80", "a b:1", "[]:1", "a/b:1"]
        {
            let error = text.parse::<HostPort>().expect_err(text);
            assert!(error.to_string().contains(&format!("{text:?}")), "{error}");
        }
    }

    #[test]
    fn entries_of_the_same_source_are_one_list() {
        let entry = |from: &str, to: &[&str]| ConnectTo {
            from: at(from),
            to: to.iter().map(|to| at(to)).collect(),
        };
        let list =
            [entry("a:80", &["x:1", "y:2"]), entry("b:80", &["z:3"]), entry("A:80", &["w:4"])];
        let check = |wanted: &str, expected: &[&str]| {
            let expected: Vec<HostPort> = expected.iter().map(|to| at(to)).collect();
            assert_eq!(replaced(&list, at(wanted)), expected, "{wanted}");
        };
        check("a:80", &["x:1", "y:2", "w:4"]);
        check("b:80", &["z:3"]);
        check("a:81", &["a:81"]);
        assert_eq!(replaced(&[entry("a:80", &[])], at("a:80")), [at("a:80")]);
    }
}
