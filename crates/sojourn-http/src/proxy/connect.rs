//! HTTP's CONNECT (RFC 9110 §9.3.6).

use crate::render::write_header_checked;
use crate::{HostPort, RequestError};

/// Most bytes of an answer's head.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// Most headers of an answer.
const HEADERS_MAX: usize = 64;

/// The request for a tunnel to `target`. The URL's user goes before a Proxy-Authorization among
/// the headers.
pub(super) fn connect_request(
    target: &HostPort,
    authorization: Option<String>,
    headers: &[(String, String)],
) -> Result<Vec<u8>, RequestError> {
    let mut request = format!("CONNECT {target} HTTP/1.1\r\n").into_bytes();
    let has_host = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host"));
    if !has_host {
        write_header_checked("Host", target.to_string().as_bytes(), &mut request)?;
    }
    for (name, value) in headers {
        let is_ours = name.eq_ignore_ascii_case("proxy-authorization") && authorization.is_some();
        if !is_ours {
            write_header_checked(name, value.as_bytes(), &mut request)?;
        }
    }
    if let Some(authorization) = authorization {
        write_header_checked("Proxy-Authorization", authorization.as_bytes(), &mut request)?;
    }
    request.extend_from_slice(b"\r\n");
    Ok(request)
}

/// The proxy's answer as far as it has come.
#[derive(Debug, Default)]
pub(super) struct ConnectReply {
    head: Vec<u8>,
}

impl ConnectReply {
    /// True when the tunnel is open.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<bool, String> {
        self.head.extend_from_slice(bytes);
        let mut slots = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut response = httparse::Response::new(&mut slots);
        let parsed = response.parse(&self.head).map_err(|error| format!("its answer: {error}"))?;
        let length = match parsed {
            httparse::Status::Complete(length) if length <= HEAD_BYTES_MAX => length,
            httparse::Status::Partial if self.head.len() <= HEAD_BYTES_MAX => return Ok(false),
            _ => return Err(format!("its answer is longer than {HEAD_BYTES_MAX} bytes")),
        };
        let status = response.code.unwrap_or_default();
        if !(200..300).contains(&status) {
            let reason = response.reason.unwrap_or_default();
            let hint = match status {
                407 => " (user and password belong into the proxy's URL)",
                _ => "",
            };
            return Err(format!("it answered {status} {}{hint}", reason.trim()));
        }
        if length < self.head.len() {
            return Err("it sent bytes before anybody used the tunnel".to_owned());
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn requests() {
        let target = "[::1]:443".parse().expect("valid");
        let headers = [header("X-A", "b"), header("proxy-authorization", "Other")];
        let with = connect_request(&target, Some("Basic eA==".to_owned()), &headers);
        let expected = "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\nX-A: b\r\n\
                        Proxy-Authorization: Basic eA==\r\n\r\n";
        assert_eq!(with.as_deref(), Ok(expected.as_bytes()));
        let without = connect_request(&target, None, &headers[1..]).expect("valid");
        assert!(without.ends_with(b"\r\nproxy-authorization: Other\r\n\r\n"));
        for bad in [header("a b", "c"), header("", "c"), header("a", "b\r\nc: d")] {
            assert!(connect_request(&target, None, &[bad]).is_err());
        }
    }

    #[test]
    fn answers_split_anywhere() {
        let answer = b"HTTP/1.0 200 Connection established\r\nVia: x\r\n\r\n";
        for split in 0..answer.len() {
            let mut reply = ConnectReply::default();
            assert_eq!(reply.feed(&answer[..split]), Ok(false), "{split}");
            assert_eq!(reply.feed(&answer[split..]), Ok(true), "{split}");
        }
    }

    #[test]
    fn refusals_are_told() {
        let check = |answer: &str, words: &str| {
            let error = ConnectReply::default().feed(answer.as_bytes()).expect_err(answer);
            assert!(error.contains(words), "{error}");
        };
        check("HTTP/1.1 407 Who are you\r\n\r\n", "407 Who are you (user and password");
        check("HTTP/1.1 502\r\n\r\n", "502");
        check("HTTP/1.1 200 OK\r\n\r\nhello", "before anybody");
        check("SSH-2.0-x\r\n", "its answer: ");
        let mut endless = ConnectReply::default();
        endless.feed(b"HTTP/1.1 200 OK\r\nx: ").expect("begun well");
        let ended = (0..40).find_map(|_| endless.feed(&[b'x'; 1024]).err());
        assert!(ended.is_some_and(|error| error.contains("longer than")));
    }

    #[test]
    fn the_bound_does_not_depend_on_how_an_answer_is_cut() {
        for (length, is_open) in [(HEAD_BYTES_MAX, true), (HEAD_BYTES_MAX + 1, false)] {
            let (start, end) = ("HTTP/1.1 200 OK\r\nx: ", "\r\n\r\n");
            let filler = "x".repeat(length - start.len() - end.len());
            let answer = format!("{start}{filler}{end}");
            for portion in [1_000, length] {
                let mut reply = ConnectReply::default();
                let mut portions = answer.as_bytes().chunks(portion);
                let outcome = portions.try_fold(false, |_, portion| reply.feed(portion));
                assert_eq!(outcome == Ok(true), is_open, "{length} by {portion}: {outcome:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            place in any::<prop::sample::Index>(),
        ) {
            let _outcome = ConnectReply::default().feed(&bytes);
            let mut answer = b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n".to_vec();
            let place = place.index(answer.len());
            answer.splice(place..place, bytes);
            let _outcome = ConnectReply::default().feed(&answer);
        }
    }
}
