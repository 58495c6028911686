//! The samples of one hop.

use sojourn_http::{Completion, Peer, TlsVersion};
use sojourn_k6::metrics::{SystemTag, builtin};

use super::error_code::{self, Told};
use super::request::Request;
use super::state::Target;
use crate::user::User;

/// Nanoseconds as k6's metrics have them: milliseconds.
pub(super) fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// A request that was answered or failed.
pub(super) struct Hop<'a> {
    pub(super) request: &'a Request,
    pub(super) target: &'a Target,
    pub(super) method: &'a str,
    pub(super) completion: &'a Completion,
    pub(super) peer: &'a Peer,
    /// What went wrong.
    pub(super) told: Option<&'a Told>,
    /// The server asked who this is, and is going to be told: nothing is amiss.
    pub(super) is_challenge: bool,
}

/// Accounts for it.
pub(super) fn hop(user: &User, hop: &Hop<'_>) {
    let Hop { request, target, method, completion, peer, told, is_challenge } = *hop;
    let system = user.host.settings.system_tags;
    let answer = completion.outcome.as_ref();
    let status = answer.map_or(0, |answer| answer.status);
    let is_expected = request.expected.holds(status).map(|held| held || is_challenge);
    let code = told.map_or_else(|| error_code::of_status(status), |told| told.code);
    // Named requests hide their URLs, which else would be as many as there are numbers in them.
    let name = request.name.as_deref().unwrap_or(&target.shown);
    let url = request.name.as_deref().unwrap_or(&target.shown);
    let status = itoa(status);
    let code_text = itoa(code);
    let mut pairs: Vec<(&str, &str)> = Vec::with_capacity(12);
    let mut add = |tag: SystemTag, value| {
        if system.has(tag) {
            pairs.push((tag.as_str(), value));
        }
    };
    add(SystemTag::Method, method);
    add(SystemTag::Url, url);
    add(SystemTag::Name, name);
    add(SystemTag::Status, &status);
    if let Ok(answer) = answer {
        add(SystemTag::Proto, proto(&answer.head));
    }
    let address = peer.address.filter(|_| told.is_none() && system.has(SystemTag::Ip));
    let address = address.map(|address| address.ip().to_string());
    if let Some(address) = &address {
        add(SystemTag::Ip, address);
    }
    if let (Some(agreed), Ok(_)) = (peer.tls, answer) {
        add(SystemTag::TlsVersion, tls_version(agreed.version));
        add(SystemTag::OcspStatus, "unknown");
    }
    if let Some(is_expected) = is_expected {
        add(SystemTag::ExpectedResponse, if is_expected { "true" } else { "false" });
    }
    if code > 0 {
        add(SystemTag::ErrorCode, &code_text);
    }
    if let Some(told) = told {
        add(SystemTag::Error, &told.short);
    }
    let tags = user.host.tags(&request.tags, &pairs);
    let at_ns = user.host.unix_ns(completion.ended_ns);
    let took = &completion.timings;
    let duration_ns = took.send_ns + took.wait_ns + took.receive_ns;
    let response_ns = completion.ended_ns - completion.began_ns + user.lag_ns.get();
    let mut shard = user.host.shard.borrow_mut();
    let mut add = |metric, value| shard.add(metric, &tags, at_ns, value);
    add(builtin::HTTP_REQS, 1.0);
    add(builtin::HTTP_REQ_DURATION, ms(duration_ns));
    add(builtin::HTTP_REQ_BLOCKED, ms(took.blocked_ns));
    add(builtin::HTTP_REQ_CONNECTING, ms(took.connect_ns));
    add(builtin::HTTP_REQ_TLS_HANDSHAKING, ms(took.tls_ns));
    add(builtin::HTTP_REQ_SENDING, ms(took.send_ns));
    add(builtin::HTTP_REQ_WAITING, ms(took.wait_ns));
    add(builtin::HTTP_REQ_RECEIVING, ms(took.receive_ns));
    if let Some(is_expected) = is_expected {
        add(builtin::HTTP_REQ_FAILED, f64::from(u8::from(!is_expected)));
    }
    add(builtin::HTTP_REQ_RESPONSE, ms(response_ns));
}

/// A version of TLS in k6's words.
pub(super) fn tls_version(version: TlsVersion) -> &'static str {
    match version {
        TlsVersion::Tls12 => "tls1.2",
        TlsVersion::Tls13 => "tls1.3",
    }
}

/// The protocol of an answer's head.
pub(super) fn proto(head: &[u8]) -> &'static str {
    match head.get(..8) {
        None => "",
        Some(b"HTTP/1.0") => "HTTP/1.0",
        _ if head.starts_with(b"HTTP/2") => "HTTP/2.0",
        _ => "HTTP/1.1",
    }
}

fn itoa(number: u16) -> String {
    number.to_string()
}
