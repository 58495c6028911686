//! The request that a redirect asks for, made from the message that was answered by it.

use sojourn_http::{
    Origin, RequestError, Response, next_location, redirected_method, write_request,
};

use crate::generator::redirect::is_secret_header;

/// A request line and what follows it, of a message of our own making.
struct Parts<'m> {
    method: &'m str,
    path: &'m str,
    headers: Vec<(&'m str, &'m str)>,
    body: &'m [u8],
}

/// Where a redirect leads.
#[derive(Debug)]
pub(super) struct Redirected {
    pub(super) origin: Origin,
    pub(super) message: Vec<u8>,
}

/// The cookies of a request that a redirect asks for.
#[derive(Debug)]
pub(super) enum Cookies {
    /// Those of the request before.
    AsWritten,
    /// What the client has for the new place.
    Own(Option<String>),
}

/// The next request after an answer; `None` when it is no redirect that can be followed. `to` is
/// what the Host header of an origin says, and the cookies that go to a path of it.
pub(super) fn redirected(
    message: &[u8],
    from: &Origin,
    response: &Response,
    to: impl Fn(&Origin, &str) -> (String, Cookies),
) -> Option<Result<Redirected, String>> {
    let parts = parts(message)?;
    let method = redirected_method(response.status, parts.method)?;
    let location = response.header("location")?;
    let (origin, path) = match next_location(from, parts.path, location) {
        Ok(next) => next,
        Err(error) => return Some(Err(error.to_string())),
    };
    let keeps_body = method == parts.method;
    let is_elsewhere = origin != *from;
    let mut headers = parts.headers;
    headers.retain(|(name, _)| {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        let is_of_body = is("content-type") || is("content-encoding") || is("transfer-encoding");
        // Credentials stay with the scheme, host and port they were meant for.
        let is_private = is_elsewhere && is_secret_header(name);
        !is("host") && !is("content-length") && (keeps_body || !is_of_body) && !is_private
    });
    let (host, cookies) = to(&origin, &path);
    if let Cookies::Own(own) = &cookies {
        headers.retain(|(name, _)| !name.eq_ignore_ascii_case("cookie"));
        headers.extend(own.iter().map(|own| ("Cookie", own.as_str())));
    }
    let body = if keeps_body { parts.body } else { &[] };
    let mut message = Vec::with_capacity(message.len());
    let written: Result<(), RequestError> =
        write_request(method, &path, &host, &headers, body, &mut message);
    Some(written.map(|()| Redirected { origin, message }).map_err(|error| error.to_string()))
}

fn parts(message: &[u8]) -> Option<Parts<'_>> {
    let end = message.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&message[..end]).ok()?;
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, path) = (words.next()?, words.next()?);
    let headers = lines.filter_map(|line| line.split_once(": ")).collect();
    Some(Parts { method, path, headers, body: &message[end + 4..] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follow(message: &str, status: u16, location: &str) -> Option<(String, String)> {
        let head = format!("HTTP/1.1 {status} x\r\nLocation: {location}\r\n\r\n").into_bytes();
        let response = Response { status, head, ..Response::default() };
        let from = Origin::parse("http://a").unwrap();
        let own = |path: &str| match path {
            "/kept" => Cookies::AsWritten,
            "/own" => Cookies::Own(Some("own=1".to_owned())),
            _ => Cookies::Own(None),
        };
        let to = |origin: &Origin, path: &str| (origin.host.clone(), own(path));
        let next = redirected(message.as_bytes(), &from, &response, to)?.unwrap();
        Some((next.origin.host, String::from_utf8(next.message).unwrap()))
    }

    #[test]
    fn headers_stay_and_credentials_stay_at_home() {
        let message = "POST /x/y HTTP/1.1\r\nHost: a\r\nX-Own: 1\r\nAuthorization: b\r\n\
                       Content-Type: t\r\nContent-Length: 2\r\n\r\nhi";
        let get = "GET /x/z HTTP/1.1\r\nHost: a\r\nX-Own: 1\r\nAuthorization: b\r\n\r\n";
        assert_eq!(follow(message, 302, "z"), Some(("a".to_owned(), get.to_owned())));
        let (host, again) = follow(message, 307, "http://b/").unwrap();
        assert_eq!(host, "b");
        assert!(again.starts_with("POST / HTTP/1.1\r\nHost: b\r\nX-Own: 1\r\n"), "{again}");
        assert!(!again.contains("Authorization") && again.ends_with("\r\n\r\nhi"), "{again}");
        assert_eq!(follow(message, 200, "z"), None);
        let message = "GET / HTTP/1.1\r\nHost: a\r\nCookie: old=1\r\n\r\n";
        let cookies = |path| {
            let (_, again) = follow(message, 302, path).unwrap();
            let line = again.lines().find(|line| line.starts_with("Cookie: "));
            line.map(|line| line["Cookie: ".len()..].to_owned())
        };
        assert_eq!(cookies("/kept").as_deref(), Some("old=1"));
        assert_eq!(cookies("/own").as_deref(), Some("own=1"));
        assert_eq!(cookies("/none"), None);
    }
}
