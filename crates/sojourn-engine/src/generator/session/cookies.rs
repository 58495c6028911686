//! Cookies of one client: kept as a browser keeps them, until its end.

use sojourn_cookies::{Cookie, Jar};
use sojourn_http::{Origin, Response, origin_host_header};
use url::Url;

/// Most cookies of a client; the oldest goes.
const COOKIES_MAX: usize = 100;
/// Most bytes of a cookie; a longer one is not kept.
const COOKIE_BYTES_MAX: usize = 4_096;

/// Takes the cookies that an answer sets; the jar is made for the first one. `path` is that of the
/// request, `now_s` seconds since 1970.
pub(super) fn take(
    jar: &mut Option<Box<Jar>>,
    (origin, path): (&Origin, &str),
    response: &Response,
    now_s: i64,
) {
    let mut url = None;
    for (name, value) in response.headers() {
        if !name.eq_ignore_ascii_case(b"set-cookie") || value.len() > COOKIE_BYTES_MAX {
            continue;
        }
        let Some(cookie) = Cookie::parse(&String::from_utf8_lossy(value)) else { continue };
        if url.is_none() {
            url = self::url(origin, path);
        }
        let Some(url) = &url else { return };
        let jar = jar.get_or_insert_with(|| Box::new(Jar::bounded(COOKIES_MAX)));
        jar.set(url, cookie, now_s);
    }
}

/// What the header `Cookie` of a request says; `None` where no cookie goes there.
pub(super) fn header(
    jar: Option<&Jar>,
    (origin, path): (&Origin, &str),
    now_s: i64,
) -> Option<String> {
    let jar = jar.filter(|jar| !jar.is_empty())?;
    jar.header(&url(origin, path)?, now_s)
}

fn url(origin: &Origin, path: &str) -> Option<Url> {
    let scheme = if origin.tls { "https" } else { "http" };
    Url::parse(&format!("{scheme}://{}{path}", origin_host_header(origin))).ok()
}

/// The path of a request's message.
pub(super) fn path_of(message: &[u8]) -> &str {
    let line = message.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let path = line.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    std::str::from_utf8(path).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_kept_and_sent_and_the_longest_are_not() {
        let origin = Origin::parse("http://a.example:81").unwrap();
        let long = "x".repeat(COOKIE_BYTES_MAX);
        let head = format!(
            "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Path=/\r\nset-cookie: b={long}\r\n\
             Set-Cookie: c=3\r\n\r\n"
        );
        let response = Response { status: 200, head: head.into_bytes(), ..Response::default() };
        let mut jar = None;
        assert_eq!(header(jar.as_deref(), (&origin, "/"), 1), None);
        take(&mut jar, (&origin, path_of(b"GET /x/y?z HTTP/1.1\r\n")), &response, 1);
        let sent = |path| header(jar.as_deref(), (&origin, path), 1);
        assert_eq!(sent("/x/z").as_deref(), Some("c=3; a=1"));
        assert_eq!(sent("/").as_deref(), Some("a=1"));
        let elsewhere = Origin::parse("http://b.example").unwrap();
        assert_eq!(header(jar.as_deref(), (&elsewhere, "/"), 1), None);
        let plain = Response { status: 200, ..Response::default() };
        let mut none = None;
        take(&mut none, (&origin, "/"), &plain, 1);
        assert!(none.is_none(), "no jar without a cookie");
    }
}
