//! What went wrong with a request, in k6's words and numbers (its documentation lists them).

use sojourn_http::{Failure, FailureKind};

use super::state::Target;

/// A failed request in words.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) code: u16,
    /// The response's `error` and the tag of samples.
    pub(super) short: String,
    /// What the log says, and what is thrown.
    pub(super) long: String,
}

/// A failed exchange; code 1000 where nothing better is known.
pub(super) fn of_failure(failure: &Failure, method: &str, target: &Target) -> Told {
    let detail = failure.detail.as_str();
    let host = target.url.host_str().unwrap_or_default();
    let port = target.url.port_or_known_default().unwrap_or_default();
    if failure.kind == FailureKind::Encoding {
        let problem = if detail.contains("gzip header") { "gzip: invalid header" } else { detail };
        let long = format!("error decompressing response body ({problem})");
        let short = format!("error decompressing response body ({long})");
        return Told { code: 1701, short, long };
    }
    let dial = |problem: &str| {
        (format!("dial: {problem}"), format!("dial tcp {host}:{port}: connect: {problem}"))
    };
    if detail.starts_with("IP (") || detail.starts_with("hostname (") {
        let is_ip = detail.starts_with("IP");
        let (code, short) =
            if is_ip { (1110, "ip is blacklisted") } else { (1111, "hostname is blocked") };
        let long = format!("{} \"{}\": {detail}", operation(method), target.shown);
        return Told { code, short: short.to_owned(), long };
    }
    let same = |text: &str| (text.to_owned(), text.to_owned());
    let (code, (short, long)) = match failure.kind {
        FailureKind::Dns => {
            let long = format!("lookup {host}: no such host");
            (1101, ("lookup: no such host".to_owned(), long))
        }
        FailureKind::Connect if detail.contains("refused") => (1212, dial("connection refused")),
        FailureKind::Connect if detail.contains("timed out") || detail.contains(" within ") => {
            (1211, ("dial: i/o timeout".to_owned(), format!("dial tcp {host}:{port}: i/o timeout")))
        }
        FailureKind::Connect => (1210, dial(detail)),
        FailureKind::Reset => (1220, same("read: connection reset by peer")),
        FailureKind::Closed => (1000, same("EOF")),
        FailureKind::Timeout => (1050, same("request timeout")),
        FailureKind::Tls => of_tls(detail),
        FailureKind::StreamReset => (1600, same(detail)),
        _ => (1000, same(detail)),
    };
    let long = format!("{} \"{}\": {long}", operation(method), target.shown);
    Told { code, short, long }
}

fn of_tls(detail: &str) -> (u16, (String, String)) {
    if detail.contains("UnknownIssuer") {
        let short = "x509: unknown authority".to_owned();
        let long = "tls: failed to verify certificate: x509: certificate signed by unknown \
                    authority";
        return (1310, (short, long.to_owned()));
    }
    if detail.contains("NotValidForName") {
        let text = "x509: certificate doesn't match hostname".to_owned();
        return (1311, (text, format!("tls: failed to verify certificate: x509: {detail}")));
    }
    if detail.contains("InvalidContentType") {
        let short = "tls: first record does not look like a TLS handshake".to_owned();
        return (1301, (short, "http: server gave HTTP response to HTTPS client".to_owned()));
    }
    (1300, (detail.to_owned(), detail.to_owned()))
}

/// `GET` as `Get`, which no method is too.
fn operation(method: &str) -> String {
    let mut letters = method.chars();
    match letters.next() {
        Some(first) => format!("{first}{}", letters.as_str().to_ascii_lowercase()),
        None => "Get".to_owned(),
    }
}

/// The code of a status: 1400 and more, 0 below 400.
pub(super) fn of_status(status: u16) -> u16 {
    if (400..600).contains(&status) { 1000 + status } else { 0 }
}
