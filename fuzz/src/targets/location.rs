//! Locations of redirects: what is followed has an origin and a path that can be sent.

use sojourn_http::{Origin, next_location, origin_host_header, write_request};

use crate::Input;

/// Option 0: the first answer came over TLS.
pub(crate) fn check(input: Input<'_>) {
    let base = Origin::parse(if input.has(0) { "https://[::1]:9" } else { "http://a:8080" });
    let base = base.expect("an origin");
    let Ok((origin, path)) = next_location(&base, "/x/y?q", input.bytes) else {
        return;
    };
    assert!(path.starts_with('/'), "{path}");
    assert!(path.bytes().all(|byte| byte.is_ascii_graphic()), "{path}");
    // The same origin is read from its own text.
    let scheme = if origin.tls { "https" } else { "http" };
    let text = format!("{scheme}://{}", origin_host_header(&origin));
    assert_eq!(Origin::parse(&text), Ok(origin.clone()));
    let mut out = Vec::new();
    let host = origin_host_header(&origin);
    write_request::<&str, &str>("GET", &path, &host, &[], b"", &mut out).expect("a request");
}
