//! Writing request messages, once per request or once for all.

/// Why a request can't be written. Values are not in the messages: they may be secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// A header's name is not a token.
    #[error("header name {0:?} is empty or has a character that no header name may have")]
    HeaderName(String),
    /// A header's value has a control character.
    #[error("the value of header {0:?} has a line break or another control character")]
    HeaderValue(String),
    /// Host is empty or has a character it may not have.
    #[error("the host is empty or has a space or control character")]
    Host,
    /// A Content-Length of the caller's that is not the body's.
    #[error("content-length is given as other than the body's {0} bytes")]
    Length(usize),
    /// The method is not a token.
    #[error("method {0:?} is empty or has a character that no method may have")]
    Method(String),
    /// The path does not begin with a slash, or has a space, fragment or control character.
    #[error(
        "the path must begin with '/' and have no space, '#', line break or other control \
         character: percent-encode them"
    )]
    Path,
}

/// Appends a whole HTTP/1.1 request message to `out`: request line, Host, the headers in their
/// order, Content-Length where there is a body or the method means one, the body. A Host,
/// Content-Length or Transfer-Encoding among the headers stands in for ours.
///
/// `path` is path and query as they go over the wire. Nothing that could end a line gets through,
/// so that a template's value can't add headers or requests; on an error `out` is as before.
pub fn write_request<N: AsRef<str>, V: AsRef<[u8]>>(
    method: &str,
    path: &str,
    host: &str,
    headers: &[(N, V)],
    body: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), RequestError> {
    let began = out.len();
    let written = write_head(method, path, host, headers, body.len(), out);
    match written {
        Ok(()) => out.extend_from_slice(body),
        Err(_) => out.truncate(began),
    }
    written
}

fn write_head<N: AsRef<str>, V: AsRef<[u8]>>(
    method: &str,
    path: &str,
    host: &str,
    headers: &[(N, V)],
    body_bytes: usize,
    out: &mut Vec<u8>,
) -> Result<(), RequestError> {
    if !is_token(method) {
        return Err(RequestError::Method(method.to_owned()));
    }
    let path_bytes_fit = path.bytes().all(|byte| is_visible(byte) && byte != b'#');
    if !(path.starts_with('/') || path == "*") || !path_bytes_fit {
        return Err(RequestError::Path);
    }
    if host.is_empty() || !host.bytes().all(is_visible) {
        return Err(RequestError::Host);
    }
    let has =
        |wanted: &str| headers.iter().any(|(name, _)| name.as_ref().eq_ignore_ascii_case(wanted));
    out.extend_from_slice(method.as_bytes());
    out.push(b' ');
    out.extend_from_slice(path.as_bytes());
    out.extend_from_slice(b" HTTP/1.1\r\n");
    if !has("host") {
        write_header("Host", host.as_bytes(), out);
    }
    for (name, value) in headers {
        let (name, value) = (name.as_ref(), value.as_ref());
        if name.eq_ignore_ascii_case("content-length")
            && value.trim_ascii() != body_bytes.to_string().as_bytes()
        {
            return Err(RequestError::Length(body_bytes));
        }
        write_header_checked(name, value, out)?;
    }
    let means_body = matches!(method, "POST" | "PUT" | "PATCH");
    if (body_bytes > 0 || means_body) && !has("content-length") && !has("transfer-encoding") {
        write_header("Content-Length", body_bytes.to_string().as_bytes(), out);
    }
    out.extend_from_slice(b"\r\n");
    Ok(())
}

/// Appends a header's line if nothing in it could end the line.
pub(crate) fn write_header_checked(
    name: &str,
    value: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), RequestError> {
    if !is_token(name) {
        return Err(RequestError::HeaderName(name.to_owned()));
    }
    if !value.iter().copied().all(is_field_byte) {
        return Err(RequestError::HeaderValue(name.to_owned()));
    }
    write_header(name, value, out);
    Ok(())
}

fn write_header(name: &str, value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

/// A token of RFC 9110 §5.6.2.
fn is_token(text: &str) -> bool {
    let is_token_byte =
        |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_token_byte)
}

/// No control character and no space; beyond ASCII is the server's business.
fn is_visible(byte: u8) -> bool {
    byte > b' ' && byte != 0x7f
}

/// What RFC 9110 §5.5 lets a field value have.
fn is_field_byte(byte: u8) -> bool {
    byte == b'\t' || byte == b' ' || is_visible(byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn write(
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<String, RequestError> {
        let mut out = b"before".to_vec();
        let written = write_request(method, path, "h:1", headers, body.as_bytes(), &mut out);
        let text = String::from_utf8(out).expect("text");
        let message = text.strip_prefix("before").expect("appended").to_owned();
        assert_eq!(message.is_empty(), written.is_err());
        written.map(|()| message)
    }

    #[test]
    fn whole_messages() {
        let check = |request: Result<String, RequestError>, text: &str| {
            assert_eq!(request.as_deref(), Ok(text));
        };
        check(write("GET", "/a?b=%20", &[], ""), "GET /a?b=%20 HTTP/1.1\r\nHost: h:1\r\n\r\n");
        check(
            write("POST", "/", &[("X-A", "b c"), ("x-e", "")], "hé"),
            "POST / HTTP/1.1\r\nHost: h:1\r\nX-A: b c\r\nx-e: \r\nContent-Length: 3\r\n\r\nhé",
        );
        check(
            write("PUT", "/", &[("host", "other")], ""),
            "PUT / HTTP/1.1\r\nhost: other\r\nContent-Length: 0\r\n\r\n",
        );
        check(
            write("DELETE", "/", &[("Content-Length", "1")], "x"),
            "DELETE / HTTP/1.1\r\nHost: h:1\r\nContent-Length: 1\r\n\r\nx",
        );
        check(
            write("POST", "/", &[("transfer-encoding", "chunked")], "0\r\n\r\n"),
            "POST / HTTP/1.1\r\nHost: h:1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        );
    }

    #[test]
    fn nothing_can_be_injected() {
        let value = |value| write("GET", "/", &[("x", value)], "");
        for bad in ["a\r\nb: c", "a\nb", "a\rb", "a\0b", "\x7f", "\x1b[0m"] {
            assert_eq!(value(bad), Err(RequestError::HeaderValue("x".to_owned())));
            assert_eq!(write("GET", &format!("/{bad}"), &[], ""), Err(RequestError::Path));
            assert!(write(bad, "/", &[], "").is_err());
            assert!(write("GET", "/", &[(bad, "v")], "").is_err());
            let mut out = Vec::new();
            let headers: [(&str, &str); 0] = [];
            assert!(write_request("GET", "/", bad, &headers, b"", &mut out).is_err());
        }
        for path in ["", "a", "/a b", "/a#b", "http://h/"] {
            assert_eq!(write("GET", path, &[], ""), Err(RequestError::Path), "{path:?}");
        }
        assert!(write("G ET", "/", &[], "").is_err());
        assert!(write("GET", "/", &[("a:", "v")], "").is_err());
        assert_eq!(
            write("POST", "/", &[("content-length", "5")], "x"),
            Err(RequestError::Length(1))
        );
    }

    proptest! {
        #[test]
        fn a_server_reads_what_was_written(
            path in "/\\PC{0,20}",
            name in "[ -~]{0,6}",
            value in "\\PC{0,10}|[\\x00-\\xff]{0,6}",
            body in "\\PC{0,20}",
        ) {
            let mut out = Vec::new();
            let headers = [(name.as_str(), value.as_str())];
            let written =
                write_request("POST", &path, "h", &headers, body.as_bytes(), &mut out);
            prop_assume!(written.is_ok());
            let mut slots = [httparse::EMPTY_HEADER; 8];
            let mut request = httparse::Request::new(&mut slots);
            let Ok(httparse::Status::Complete(length)) = request.parse(&out) else {
                // httparse reads no bytes beyond ASCII in a path.
                prop_assert!(!path.is_ascii());
                return Ok(());
            };
            prop_assert_eq!(request.path, Some(path.as_str()));
            prop_assert_eq!(&out[length..], body.as_bytes());
            let value = value.trim_matches([' ', '\t']).as_bytes();
            let found = request
                .headers
                .iter()
                .any(|header| header.name == name && header.value == value);
            prop_assert!(found);
        }
    }
}
