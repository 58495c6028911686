//! What a result says went wrong, in the form that scripts look for: `Get "http://h/": dial tcp
//! 127.0.0.1:80: connect: connection refused`, as Go's HTTP client words it.

mod causes;

use sojourn_http::{Failure, Response};

use super::Hit;

/// The error of a hit without an answer. One that broke off in its body is named without the URL.
pub(super) fn transport_error(hit: &Hit, failure: &Failure) -> String {
    let host = &hit.origin().host;
    match causes::has_head(failure) {
        true => causes::in_body(failure),
        false => worded(&hit.target.target.method, &hit.url(), &causes::before(failure, host)),
    }
}

/// `Get "URL": cause`.
pub(super) fn worded(method: &str, url: &str, cause: &str) -> String {
    let mut letters = method.chars();
    let first: String = letters.next().into_iter().collect();
    format!("{first}{} \"{url}\": {cause}", letters.as_str().to_lowercase())
}

/// The error of an answer: its status line's text where it is no success, else empty.
pub(super) fn status_error(response: &Response) -> String {
    if (200..400).contains(&response.status) {
        return String::new();
    }
    let line = response.head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let text = String::from_utf8_lossy(line.trim_ascii());
    match text.split_once(' ') {
        Some(("HTTP/2", status)) => format!("{status} {}", phrase(response.status)),
        Some((_, status)) if !status.is_empty() => status.to_owned(),
        _ => response.status.to_string(),
    }
}

/// The phrase that stands with an error's status (RFC 9110 §15 and the registry), as Go's clients
/// know it; empty for others. HTTP/2 sends none.
fn phrase(status: u16) -> &'static str {
    ERROR_PHRASES.iter().find(|(known, _)| *known == status).map_or("", |(_, phrase)| phrase)
}

const ERROR_PHRASES: [(u16, &str); 40] = [
    (400, "Bad Request"),
    (401, "Unauthorized"),
    (402, "Payment Required"),
    (403, "Forbidden"),
    (404, "Not Found"),
    (405, "Method Not Allowed"),
    (406, "Not Acceptable"),
    (407, "Proxy Authentication Required"),
    (408, "Request Timeout"),
    (409, "Conflict"),
    (410, "Gone"),
    (411, "Length Required"),
    (412, "Precondition Failed"),
    (413, "Request Entity Too Large"),
    (414, "Request URI Too Long"),
    (415, "Unsupported Media Type"),
    (416, "Requested Range Not Satisfiable"),
    (417, "Expectation Failed"),
    (418, "I'm a teapot"),
    (421, "Misdirected Request"),
    (422, "Unprocessable Entity"),
    (423, "Locked"),
    (424, "Failed Dependency"),
    (425, "Too Early"),
    (426, "Upgrade Required"),
    (428, "Precondition Required"),
    (429, "Too Many Requests"),
    (431, "Request Header Fields Too Large"),
    (451, "Unavailable For Legal Reasons"),
    (500, "Internal Server Error"),
    (501, "Not Implemented"),
    (502, "Bad Gateway"),
    (503, "Service Unavailable"),
    (504, "Gateway Timeout"),
    (505, "HTTP Version Not Supported"),
    (506, "Variant Also Negotiates"),
    (507, "Insufficient Storage"),
    (508, "Loop Detected"),
    (510, "Not Extended"),
    (511, "Network Authentication Required"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_error_is_the_status_line_or_what_would_stand_there() {
        let error = |status, head: &str| {
            status_error(&Response {
                status,
                head: head.as_bytes().to_vec(),
                ..Response::default()
            })
        };
        assert_eq!(error(200, "HTTP/2 200\r\n"), "");
        assert_eq!(error(404, "HTTP/2 404\r\na: b\r\n"), "404 Not Found");
        assert_eq!(error(404, "HTTP/1.1 404 Nowhere\r\n"), "404 Nowhere");
        assert_eq!(error(413, "HTTP/2 413\r\n"), "413 Request Entity Too Large");
        // As Go writes a status that nobody has named.
        assert_eq!(error(499, "HTTP/2 499\r\n"), "499 ");
    }
}
