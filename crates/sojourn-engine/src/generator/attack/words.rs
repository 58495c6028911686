//! What a result says went wrong, in the form that scripts look for: `Get "http://h/": dial tcp
//! h:80: connect: connection refused`, as Go's HTTP client words it.

use sojourn_http::{Failure, FailureKind, Response};

use super::targets::Prepared;

/// The error of a hit without an answer.
pub(super) fn transport_error(target: &Prepared, failure: &Failure) -> String {
    let origin = &target.origin_name;
    let host = origin.host.as_str();
    let address = match host.contains(':') {
        true => format!("[{host}]:{}", origin.port),
        false => format!("{host}:{}", origin.port),
    };
    let cause = match failure.kind {
        FailureKind::Connect if failure.detail.contains("refused") => {
            format!("dial tcp {address}: connect: connection refused")
        }
        FailureKind::Connect => format!("dial tcp {address}: {}", failure.detail),
        FailureKind::Dns => {
            format!("dial tcp: lookup {host}: {}", failure.detail)
        }
        FailureKind::Local => format!("dial tcp {address}: {}", failure.detail),
        FailureKind::Timeout => {
            "context deadline exceeded (Client.Timeout exceeded while awaiting \
                                 headers)"
                .to_owned()
        }
        FailureKind::Closed => "EOF".to_owned(),
        FailureKind::Reset => format!("read tcp {address}: read: connection reset by peer"),
        _ => failure.detail.clone(),
    };
    worded(target, &cause)
}

/// `Get "URL": cause`.
pub(super) fn worded(target: &Prepared, cause: &str) -> String {
    let method = &target.target.method;
    let mut letters = method.chars();
    let first: String = letters.next().into_iter().collect();
    format!("{first}{} \"{}\": {cause}", letters.as_str().to_lowercase(), target.target.url)
}

/// The error of an answer: its status line's text where it is no success, else empty.
pub(super) fn status_error(response: &Response) -> String {
    if (200..400).contains(&response.status) {
        return String::new();
    }
    let line = response.head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let text = String::from_utf8_lossy(line.trim_ascii());
    match text.split_once(' ') {
        Some((_, status)) if !status.is_empty() => status.to_owned(),
        _ => response.status.to_string(),
    }
}
