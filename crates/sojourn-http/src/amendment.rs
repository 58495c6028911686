//! What the way to an origin changes in the requests that take it.

/// Changes to a request message.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Amendment {
    /// Goes before the path: scheme and authority, for an HTTP proxy (RFC 9112 §3.2.2).
    pub(crate) absolute: Option<String>,
    /// Header lines to add, each with its end.
    pub(crate) lines: Vec<u8>,
    /// Say that the connection ends with this request, unless it says something itself.
    pub(crate) close: bool,
}

impl Amendment {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Changes a message that was written by [`crate::write_request`]; anything else stays.
    pub(crate) fn apply(&self, message: &mut Vec<u8>) {
        let Some(line_end) = find(message, b"\r\n") else { return };
        let Some(path_began) = find(&message[..line_end], b" ").map(|space| space + 1) else {
            return;
        };
        let mut lines = self.lines.clone();
        if self.close && !has_connection_header(&message[line_end + 2..]) {
            lines.extend_from_slice(b"Connection: close\r\n");
        }
        message.splice(line_end + 2..line_end + 2, lines);
        if let Some(absolute) = &self.absolute {
            // `OPTIONS *` has no path in absolute form (RFC 9112 §3.2.4).
            let is_asterisk = message[path_began..].starts_with(b"* ");
            let path_began_old = path_began + usize::from(is_asterisk);
            message.splice(path_began..path_began_old, absolute.bytes());
        }
    }
}

fn has_connection_header(head: &[u8]) -> bool {
    const NAME: &[u8] = b"connection:";
    head.split(|byte| *byte == b'\n')
        .take_while(|line| !line.is_empty() && *line != b"\r")
        .any(|line| line.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME)))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(amendment: &Amendment, message: &str) -> String {
        let mut bytes = message.as_bytes().to_vec();
        amendment.apply(&mut bytes);
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn absolute_form() {
        let amendment = Amendment {
            absolute: Some("http://a:81".to_owned()),
            lines: b"P: q\r\n".to_vec(),
            close: false,
        };
        let check = |message: &str, expected: &str| {
            assert_eq!(applied(&amendment, message), expected);
        };
        check(
            "GET /x?y HTTP/1.1\r\nHost: a:81\r\n\r\n",
            "GET http://a:81/x?y HTTP/1.1\r\nP: q\r\nHost: a:81\r\n\r\n",
        );
        check("OPTIONS * HTTP/1.1\r\n\r\n* ", "OPTIONS http://a:81 HTTP/1.1\r\nP: q\r\n\r\n* ");
        check("no request", "no request");
        check("no-request\r\n", "no-request\r\n");
    }

    #[test]
    fn the_end_of_the_connection_is_said_once() {
        let amendment = Amendment { close: true, ..Amendment::default() };
        let check = |message: &str, expected: &str| {
            assert_eq!(applied(&amendment, message), expected);
        };
        check(
            "POST / HTTP/1.1\r\nHost: a\r\n\r\nconnection: x",
            "POST / HTTP/1.1\r\nConnection: close\r\nHost: a\r\n\r\nconnection: x",
        );
        let own = "GET / HTTP/1.1\r\nHost: a\r\ncONNECTION: upgrade\r\n\r\n";
        check(own, own);
        assert!(!amendment.is_empty() && Amendment::default().is_empty());
    }
}
