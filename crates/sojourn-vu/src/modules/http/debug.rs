//! `--http-debug`: requests and answers on the log, as they went over; bodies too with `full`.
//!
//! Order and letters of headers are k6's: `Host`, `User-Agent` and `Content-Length` first, the
//! others by name.

use sojourn_http::Response;

use super::account;
use super::response::{canonical, status_text};
use crate::user::User;

/// Whether requests are shown, and whether with their bodies.
fn mode(user: &User) -> Option<bool> {
    match user.host.settings.options.http_debug.as_deref() {
        None | Some("" | "false") => None,
        Some(word) => Some(word == "full"),
    }
}

/// Shows a request, whose bytes those of an HTTP/1.1 message are.
pub(super) fn request(user: &User, bytes: &[u8], id: u64) {
    let Some(is_full) = mode(user) else { return };
    let (line, headers, body) = parts(bytes);
    let rank = |name: &str| match name {
        "Host" => 0,
        "User-Agent" => 1,
        "Content-Length" => 2,
        _ => 3,
    };
    let mut headers = headers;
    headers.sort_by(|one, other| (rank(&one.0), &one.0).cmp(&(rank(&other.0), &other.0)));
    show(user, "Request", &line, &headers, if is_full { body } else { b"" }, id);
}

/// Shows an answer, its body decoded.
pub(super) fn answer(user: &User, answer: &Response, id: u64) {
    let Some(is_full) = mode(user) else { return };
    let (_, mut headers, _) = parts(&answer.head);
    headers.sort();
    let line = format!("{} {}", account::proto(&answer.head), status_text(&answer.head));
    let body: &[u8] = if is_full { &answer.body } else { b"" };
    show(user, "Response", &line, &headers, body, id);
}

fn show(
    user: &User,
    what: &str,
    line: &str,
    headers: &[(String, String)],
    body: &[u8],
    request_id: u64,
) {
    let mut text = format!("{what}:\n{line}\n");
    for (name, value) in headers {
        text.push_str(name);
        text.push_str(": ");
        text.push_str(value);
        text.push('\n');
    }
    text.push('\n');
    text.push_str(&String::from_utf8_lossy(body));
    text.push('\n');
    let settings = &user.host.settings;
    let scenario = settings.scenarios.get(user.iteration.get().scenario);
    let (vu, iter) = (user.number(), user.counts.iterations.get());
    settings.console.http_debug(
        &text,
        &[
            ("group", &user.group.borrow()),
            ("iter", &iter.to_string()),
            ("request_id", &format!("{vu}-{iter}-{request_id}")),
            ("scenario", scenario.map_or("", |scenario| &scenario.name)),
            ("source", "http-debug"),
            ("vu", &vu.to_string()),
        ],
    );
}

/// First line, headers, body.
fn parts(message: &[u8]) -> (String, Vec<(String, String)>, &[u8]) {
    let end = message.windows(4).position(|four| four == b"\r\n\r\n");
    let (head, body) = match end {
        Some(end) => (&message[..end], &message[end + 4..]),
        None => (message, &b""[..]),
    };
    let head = String::from_utf8_lossy(head);
    let mut lines = head.lines();
    let first = lines.next().unwrap_or_default().to_owned();
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (canonical(name), value.trim().to_owned()));
    (first, headers.collect(), body)
}
