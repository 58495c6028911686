//! The head of a request, and how its body is framed (RFC 9112, sections 3 and 6).

use std::mem::MaybeUninit;

use httparse::Header;

/// A request head longer than this is refused.
pub(crate) const HEAD_BYTES_MAX: usize = 64 * 1024;
/// More headers than these are refused.
pub(crate) const HEADERS_MAX: usize = 100;

/// Room for parsing, on the caller's stack.
pub(crate) type HeaderRoom<'a> = [MaybeUninit<Header<'a>>; HEADERS_MAX];

/// A whole head; everything points into the bytes it was parsed from.
#[derive(Debug)]
pub(crate) struct Head<'a> {
    pub(crate) method: &'a str,
    /// Path and query, as sent; of a whole URL only these.
    pub(crate) target: &'a str,
    pub(crate) headers: &'a [Header<'a>],
    /// Bytes of the head, its empty line included.
    pub(crate) length: usize,
    pub(crate) framing: Framing,
    /// HTTP/1.0 rather than 1.1.
    pub(crate) is_http10: bool,
    /// The client wants the connection kept.
    pub(crate) keep_alive: bool,
    /// The client waits for `100 Continue` before it sends the body.
    pub(crate) expects_continue: bool,
}

/// How a body is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    Chunked,
    Length(u64),
}

/// Empty room.
pub(crate) fn header_room<'a>() -> HeaderRoom<'a> {
    [const { MaybeUninit::uninit() }; HEADERS_MAX]
}

/// Reads a head. `None` while it is incomplete; an error is the status to refuse it with.
pub(crate) fn parse<'a>(
    bytes: &'a [u8],
    room: &'a mut HeaderRoom<'a>,
) -> Result<Option<Head<'a>>, u16> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let mut request = httparse::Request::new(&mut []);
    let length = match request.parse_with_uninit_headers(bytes, room) {
        Ok(httparse::Status::Complete(length)) if length <= HEAD_BYTES_MAX => length,
        Ok(httparse::Status::Partial) if bytes.len() <= HEAD_BYTES_MAX => return Ok(None),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err(431),
        Err(httparse::Error::Version) => return Err(505),
        Err(_) => return Err(400),
    };
    let is_http10 = request.version == Some(0);
    let mut head = Head {
        method: request.method.unwrap_or_default(),
        target: origin_form(request.path.unwrap_or_default()),
        headers: &[],
        length,
        framing: Framing::Length(0),
        is_http10,
        keep_alive: !is_http10,
        expects_continue: false,
    };
    let headers: &'a [Header<'a>] = request.headers;
    head.headers = headers;
    head.interpret()?;
    Ok(Some(head))
}

impl Head<'_> {
    /// Takes the headers in that say where the message ends and what becomes of the connection.
    fn interpret(&mut self) -> Result<(), u16> {
        let mut length = None;
        let mut is_chunked = false;
        for header in self.headers {
            let is = |name: &str| header.name.eq_ignore_ascii_case(name);
            match header.name.len() {
                6 if is("expect") => {
                    // HTTP/1.0 knows no interim answer (RFC 9110, section 10.1.1).
                    self.expects_continue |=
                        !self.is_http10 && header.value.eq_ignore_ascii_case(b"100-continue");
                }
                10 if is("connection") => self.connection(header.value),
                14 if is("content-length") => {
                    let value = decimal(header.value.trim_ascii()).ok_or(400_u16)?;
                    if length.is_some_and(|known| known != value) {
                        return Err(400);
                    }
                    length = Some(value);
                }
                17 if is("transfer-encoding") => {
                    // Anything before `chunked` would have to be decoded.
                    if is_chunked || !header.value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                        return Err(501);
                    }
                    is_chunked = true;
                }
                _ => {}
            }
        }
        // Two framings at once are how requests are smuggled.
        if is_chunked && (length.is_some() || self.is_http10) {
            return Err(400);
        }
        self.framing = match is_chunked {
            true => Framing::Chunked,
            false => Framing::Length(length.unwrap_or(0)),
        };
        Ok(())
    }

    fn connection(&mut self, value: &[u8]) {
        for word in value.split(|byte| *byte == b',') {
            let word = word.trim_ascii();
            if word.eq_ignore_ascii_case(b"close") {
                self.keep_alive = false;
            } else if self.is_http10 && word.eq_ignore_ascii_case(b"keep-alive") {
                self.keep_alive = true;
            }
        }
    }
}

/// What a server looks at of a target that is a whole URL, as proxies are sent (RFC 9112, section
/// 3.2.2): its path and query.
fn origin_form(target: &str) -> &str {
    let scheme = ["http://", "https://"].into_iter().find(|scheme| {
        target.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    });
    let Some(scheme) = scheme else {
        return target;
    };
    let rest = &target[scheme.len()..];
    match rest.find(['/', '?']) {
        Some(at) if rest[at..].starts_with('/') => &rest[at..],
        // No slice of it is a slash and a query.
        _ => "/",
    }
}

/// Digits only, below 2^63.
fn decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 18 {
        return None;
    }
    text.iter().try_fold(0_u64, |value, byte| {
        byte.is_ascii_digit().then(|| value * 10 + u64::from(byte - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Framing, keep-alive and continue of a head; `None`: incomplete.
    fn read(text: &[u8]) -> Result<Option<(Framing, bool, bool)>, u16> {
        let mut room = header_room();
        let head = parse(text, &mut room)?;
        Ok(head.map(|head| (head.framing, head.keep_alive, head.expects_continue)))
    }

    fn check(lines: &str, expected: Result<(Framing, bool, bool), u16>) {
        let text = format!("{lines}\r\n\r\n");
        assert_eq!(read(text.as_bytes()), expected.map(Some), "{lines}");
    }

    #[test]
    fn framing_and_persistence() {
        let length = |length, keep, expect| Ok((Framing::Length(length), keep, expect));
        check("GET / HTTP/1.1", length(0, true, false));
        check("BREW /pot?x=1 HTTP/1.1\r\nHost: a", length(0, true, false));
        check("POST / HTTP/1.1\r\nContent-Length: 12", length(12, true, false));
        check("POST / HTTP/1.1\r\ncontent-length: 7\r\nContent-Length: 7", length(7, true, false));
        check("GET / HTTP/1.1\r\nConnection: x, Close", length(0, false, false));
        check("GET / HTTP/1.0", length(0, false, false));
        check("GET / HTTP/1.0\r\nConnection: Keep-Alive", length(0, true, false));
        check("PUT / HTTP/1.1\r\nExpect: 100-Continue\r\nContent-Length: 1", length(1, true, true));
        check("PUT / HTTP/1.1\r\nTransfer-Encoding: Chunked", Ok((Framing::Chunked, true, false)));
    }

    #[test]
    fn what_is_refused_and_how() {
        check("POST / HTTP/1.1\r\nContent-Length: -1", Err(400));
        check("POST / HTTP/1.1\r\nContent-Length: +1", Err(400));
        check("POST / HTTP/1.1\r\nContent-Length:", Err(400));
        check("POST / HTTP/1.1\r\nContent-Length: 1, 1", Err(400));
        check("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999", Err(400));
        check("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2", Err(400));
        check("POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked", Err(400));
        check("POST / HTTP/1.0\r\nTransfer-Encoding: chunked", Err(400));
        check("POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked", Err(501));
        check("GET / HTTP/2.0", Err(505));
        check("GET / HTTP/1.1\r\nno colon", Err(400));
        assert_eq!(read(b"\x16\x03\x01\x02"), Err(400));
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(HEADERS_MAX + 1));
        assert_eq!(read(many.as_bytes()), Err(431));
        let endless = format!("GET / HTTP/1.1\r\na: {}", "b".repeat(HEAD_BYTES_MAX));
        assert_eq!(read(endless.as_bytes()), Err(431));
        let long = format!("{endless}\r\n\r\n");
        assert_eq!(read(long.as_bytes()), Err(431), "whole, but too long");
    }

    #[test]
    fn of_a_whole_url_path_and_query_count() {
        for (target, expected) in [
            ("http://h/a?b=http://c/", "/a?b=http://c/"),
            ("HTTPS://h:1/", "/"),
            ("http://h", "/"),
            ("http://h?x=1", "/"),
            ("/http://h/a", "/http://h/a"),
            ("*", "*"),
            ("h:443", "h:443"),
        ] {
            let text = format!("GET {target} HTTP/1.1\r\n\r\n");
            let mut room = header_room();
            let head = parse(text.as_bytes(), &mut room).unwrap().unwrap();
            assert_eq!(head.target, expected, "{target}");
        }
    }

    #[test]
    fn http_1_0_expects_nothing() {
        check(
            "PUT / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1",
            Ok((Framing::Length(1), false, false)),
        );
    }

    #[test]
    fn a_head_is_whole_at_its_last_byte_and_not_before() {
        let text = b"POST /a HTTP/1.1\r\nHost: b\r\nContent-Length: 3\r\n\r\n";
        for end in 0..text.len() {
            assert_eq!(read(&text[..end]), Ok(None), "{end}");
        }
        assert!(matches!(read(text), Ok(Some(_))));
    }

    proptest! {
        #[test]
        fn nothing_panics_on_foreign_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _outcome = read(&bytes);
        }

        #[test]
        fn nor_on_requests_with_one_byte_wrong(at in 0_usize..70, byte: u8) {
            let mut text = b"POST /a?b=c HTTP/1.1\r\nHost: b\r\nContent-Length: 3\r\n\
                             Connection: close\r\n\r\n".to_vec();
            let at = at % text.len();
            text[at] = byte;
            let _outcome = read(&text);
        }
    }
}
