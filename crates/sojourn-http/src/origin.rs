//! Where requests go.

use url::{Host, Url};

/// Scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// TLS or plain.
    pub tls: bool,
    /// Host name or address, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
}

/// Why a URL names no origin. The URL itself is not in the message: it may carry a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OriginError {
    /// No host.
    #[error("the URL has no host")]
    Host,
    /// Port 0 can't be connected to.
    #[error("port 0 can't be connected to")]
    Port,
    /// Neither http nor https.
    #[error("only http:// and https:// URLs can be loaded")]
    Scheme,
    /// Not a URL.
    #[error("not an absolute URL: {0}")]
    Url(#[from] url::ParseError),
}

impl Origin {
    /// The origin of an absolute `http://` or `https://` URL; names in lower case and in Punycode,
    /// the scheme's port where none is given.
    pub fn parse(url: &str) -> Result<Self, OriginError> {
        Self::of(&Url::parse(url)?)
    }

    pub(crate) fn of(url: &Url) -> Result<Self, OriginError> {
        let tls = match url.scheme() {
            "http" => false,
            "https" => true,
            _ => return Err(OriginError::Scheme),
        };
        let host = match url.host().ok_or(OriginError::Host)? {
            Host::Domain(name) => name.to_owned(),
            Host::Ipv4(address) => address.to_string(),
            Host::Ipv6(address) => address.to_string(),
        };
        let port = url.port_or_known_default().ok_or(OriginError::Port)?;
        if port == 0 {
            return Err(OriginError::Port);
        }
        Ok(Self { tls, host, port })
    }
}

/// The Host header for requests to an origin: without the port where it is the scheme's own, with
/// brackets around an IPv6 address.
pub fn origin_host_header(origin: &Origin) -> String {
    let host =
        if origin.host.contains(':') { format!("[{}]", origin.host) } else { origin.host.clone() };
    if origin.port == if origin.tls { 443 } else { 80 } {
        host
    } else {
        format!("{host}:{}", origin.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_and_host_headers() {
        let check = |url: &str, tls: bool, host: &str, port: u16, header: &str| {
            let origin = Origin::parse(url).expect(url);
            let expected = Origin { tls, host: host.to_owned(), port };
            assert_eq!(origin, expected, "{url}");
            assert_eq!(origin_host_header(&origin), header, "{url}");
        };
        check("http://a.example", false, "a.example", 80, "a.example");
        check("https://A.example:443/x?y", true, "a.example", 443, "a.example");
        check("http://a:443", false, "a", 443, "a:443");
        check("http://user:secret@127.0.0.1:8080/", false, "127.0.0.1", 8080, "127.0.0.1:8080");
        check("https://[::1]", true, "::1", 443, "[::1]");
        check("http://[::1]:81", false, "::1", 81, "[::1]:81");
    }

    #[test]
    fn what_is_no_origin_is_refused() {
        assert_eq!(Origin::parse("ftp://a"), Err(OriginError::Scheme));
        assert_eq!(Origin::parse("http://a:0"), Err(OriginError::Port));
        for url in ["", "/path", "http://", "a:80", "http://[::1", "http://a:99999"] {
            assert!(Origin::parse(url).is_err(), "{url:?}");
        }
    }
}
