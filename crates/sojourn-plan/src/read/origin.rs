//! Where requests go: the part of a URL that is never a template.

use url::Url;

/// Scheme, host and port, and the path that relative URLs are put behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Whether the scheme is https.
    pub(crate) tls: bool,
    /// Host; an IPv6 address without its brackets.
    pub(crate) host: String,
    /// Port.
    pub(crate) port: u16,
    /// Path without a slash at its end; empty for none.
    pub(crate) base: String,
}

/// What is wrong with a URL: message and hint.
pub(crate) type Wrong = (String, Option<String>);

impl Origin {
    /// A target: an origin and perhaps a base path.
    pub(crate) fn target(text: &str) -> Result<Self, Wrong> {
        let (origin, rest) = Self::split(text)?;
        if rest.contains(['?', '#']) || rest.contains("{{") {
            return Err((
                "a target is scheme, host, port and perhaps a path".to_owned(),
                Some("such as `http://127.0.0.1:8080/api`".to_owned()),
            ));
        }
        Ok(Self { base: rest.trim_end_matches('/').to_owned(), ..origin })
    }

    /// Scheme, host and port of an absolute URL, and the rest of its text.
    pub(crate) fn split(text: &str) -> Result<(Self, &str), Wrong> {
        let hint = || Some("such as `http://127.0.0.1:8080`".to_owned());
        let Some(scheme_end) = text.find("://") else {
            return Err(("not an absolute URL".to_owned(), hint()));
        };
        let after = scheme_end + 3;
        let length = text[after..].find(['/', '?', '#']).map(|at| after + at);
        let (authority, rest) = text.split_at(length.unwrap_or(text.len()));
        if authority.contains("{{") {
            return Err((
                "the host can't be a template".to_owned(),
                Some("a load tool only goes to hosts its plan names; use ${NAME}".to_owned()),
            ));
        }
        let tls = match &text[..scheme_end] {
            "http" => false,
            "https" => true,
            _ => {
                return Err(("only http and https are spoken here".to_owned(), hint()));
            }
        };
        let url = Url::parse(authority).map_err(|error| (error.to_string(), hint()))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err((
                "credentials don't belong into a URL".to_owned(),
                Some("send an `authorization` header instead".to_owned()),
            ));
        }
        let host = url.host_str().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let port = url.port_or_known_default().unwrap_or_default();
        if host.is_empty() || port == 0 {
            return Err(("no host to go to".to_owned(), hint()));
        }
        let origin = Self { tls, host: host.to_owned(), port, base: String::new() };
        Ok((origin, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(tls: bool, host: &str, port: u16, base: &str) -> Origin {
        Origin { tls, host: host.to_owned(), port, base: base.to_owned() }
    }

    #[test]
    fn targets() {
        for (text, expected) in [
            ("http://127.0.0.1:8080", origin(false, "127.0.0.1", 8080, "")),
            ("https://API.example/v1/", origin(true, "api.example", 443, "/v1")),
            ("http://[::1]:9/", origin(false, "::1", 9, "")),
            ("http://bücher.example", origin(false, "xn--bcher-kva.example", 80, "")),
        ] {
            assert_eq!(Origin::target(text), Ok(expected), "{text}");
        }
        for (text, wrong) in [
            ("127.0.0.1:8080", "not an absolute URL"),
            ("ftp://x", "only http and https"),
            ("http://", "empty host"),
            ("http://u:p@x", "credentials"),
            ("http://{{ host }}/", "can't be a template"),
            ("http://x/a?b=1", "a target is"),
            ("http://x:99999", "invalid port"),
        ] {
            let (message, _) = Origin::target(text).unwrap_err();
            assert!(message.contains(wrong), "{text}: {message}");
            assert!(!message.contains("u:p"));
        }
    }

    #[test]
    fn the_rest_is_left_as_it_is() {
        let (_, rest) = Origin::split("http://x:1?q={{ a }}/b").unwrap();
        assert_eq!(rest, "?q={{ a }}/b");
    }
}
