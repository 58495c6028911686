//! Following redirects: where to and with which method. Whether a host is allowed is the caller's
//! decision.

use url::Url;

use crate::origin::OriginError;
use crate::{Origin, origin_host_header};

/// Why a redirect can't be followed. The location is not in the message: it may carry a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RedirectError {
    /// The Location is not text.
    #[error("the location is not valid UTF-8")]
    NotText,
    /// The Location leads to no origin.
    #[error("the location can't be followed: {0}")]
    Origin(#[from] OriginError),
}

/// The target of a Location header in the answer to a request for `path` (path and query) of
/// `base`: origin, and path with query. Relative ones are resolved (RFC 3986 §5); fragment and
/// user information are dropped.
pub fn next_location(
    base: &Origin,
    path: &str,
    location: &[u8],
) -> Result<(Origin, String), RedirectError> {
    let location = std::str::from_utf8(location).map_err(|_| RedirectError::NotText)?;
    let scheme = if base.tls { "https" } else { "http" };
    let base = format!("{scheme}://{}{path}", origin_host_header(base));
    let target =
        Url::parse(&base).and_then(|base| base.join(location)).map_err(OriginError::from)?;
    let origin = Origin::of(&target)?;
    let path = match target.query() {
        Some(query) => format!("{}?{query}", target.path()),
        None => target.path().to_owned(),
    };
    Ok((origin, path))
}

/// The method of the next request after a redirect, `None` if the status is not one that is
/// followed. 301, 302 and 303 become GET without a body (HEAD stays HEAD), as clients do; 307 and
/// 308 keep method and body.
pub fn redirected_method(status: u16, method: &str) -> Option<&str> {
    match status {
        301..=303 if method == "HEAD" => Some("HEAD"),
        301..=303 => Some("GET"),
        307 | 308 => Some(method),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_resolved() {
        let check = |base: &str, path: &str, location: &str, target: &str, next: &str| {
            let base = Origin::parse(base).expect("base");
            let (origin, path) =
                next_location(&base, path, location.as_bytes()).expect("followable");
            assert_eq!(origin, Origin::parse(target).expect("target"), "{location}");
            assert_eq!(path, next, "{location}");
        };
        let http = "http://a:8080";
        check(http, "/x/y?q", "z", http, "/x/z");
        check(http, "/x/y?q", "/z?r=1#f", http, "/z?r=1");
        check(http, "/x/y?q", "?r", http, "/x/y?r");
        check(http, "/x", "//b/c", "http://b", "/c");
        check(http, "/x", "https://u:p@b:1", "https://b:1", "/");
        check("https://[::1]:9", "/", "../../e f", "https://[::1]:9", "/e%20f");
        check(http, "/", "/\u{e9}", http, "/%C3%A9");
    }

    #[test]
    fn what_cannot_be_followed_is_refused() {
        let base = Origin::parse("http://a").expect("base");
        let follow = |location: &[u8]| next_location(&base, "/", location);
        assert_eq!(follow(b"\xff"), Err(RedirectError::NotText));
        assert_eq!(follow(b"javascript:alert(1)"), Err(RedirectError::Origin(OriginError::Scheme)));
        assert!(follow(b"http://").is_err());
    }

    #[test]
    fn methods_change_as_clients_do() {
        for status in [301, 302, 303] {
            assert_eq!(redirected_method(status, "POST"), Some("GET"));
            assert_eq!(redirected_method(status, "HEAD"), Some("HEAD"));
        }
        assert_eq!(redirected_method(307, "POST"), Some("POST"));
        assert_eq!(redirected_method(308, "PUT"), Some("PUT"));
        assert_eq!(redirected_method(304, "GET"), None);
        assert_eq!(redirected_method(200, "GET"), None);
    }
}
