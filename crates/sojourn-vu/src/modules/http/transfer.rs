//! A request under way, over all its redirects.

use std::rc::Rc;

use sojourn_http::{
    BodyPolicy, Completion, Exchange, Failure, FailureKind, PeerId, RequestError, Timings,
    redirected_method, write_request,
};

use super::error_code;
use super::request::{Request, ResponseType};
use super::response::{Response, canonical};
use super::state::Target;
use super::{account, coding, debug, digest};
use crate::host::{OperationId, token};
use crate::modules::crypto;
use crate::user::{Outcome, User};
use sojourn_cookies::Cookie;

/// Most of a body that is kept, bytes.
const BODY_BYTES_MAX: usize = 1 << 30;

/// See the module's page.
pub(super) struct Transfer {
    request: Request,
    /// Where the present hop goes, how.
    target: Rc<Target>,
    method: String,
    /// The first hop's body goes with this one.
    has_body: bool,
    is_first: bool,
    deadline_ns: u64,
    /// Where a redirect came from.
    referer: Option<String>,
    /// The answer to a challenge, once there was one.
    authorization: Option<String>,
    /// The present hop's number on the log.
    debugged: u64,
    /// Why it failed, for whoever throws.
    failed: String,
}

/// What follows a completion.
pub(super) enum Next {
    /// A further hop has been sent, as this operation.
    Hop(OperationId),
    /// It is over.
    Done(Box<Response>),
}

impl Transfer {
    pub(super) fn new(request: Request) -> Self {
        let (target, method) = (Rc::clone(&request.target), request.method.clone());
        Self {
            request,
            target,
            method,
            has_body: true,
            is_first: true,
            deadline_ns: 0,
            referer: None,
            authorization: None,
            debugged: 0,
            failed: String::new(),
        }
    }

    pub(super) fn throws(&self) -> bool {
        self.request.throws
    }

    /// Why it failed, as the log has it.
    pub(super) fn failed(&self) -> &str {
        &self.failed
    }

    /// Where it goes first, for limits by host.
    pub(super) fn host(&self) -> &str {
        &self.request.target.host
    }

    /// Sends the present hop. What can't be sent fails as the operation's outcome.
    pub(super) fn send(&mut self, user: &User) -> OperationId {
        let now_ns = sojourn_clock::now_ns();
        if self.is_first {
            self.deadline_ns = now_ns.saturating_add(self.request.timeout_ns);
        }
        if let Some(reason) = &self.target.blocked {
            return refused(user, now_ns, FailureKind::Connect, reason.clone());
        }
        wait_for_turn(user);
        let cookies = self.request.cookie_header(&self.target, self.is_first);
        let mut headers: Vec<(&str, &str)> = Vec::with_capacity(self.request.headers.len() + 1);
        for (name, value) in &self.request.headers {
            let is_of_body = name.to_ascii_lowercase().starts_with("content-");
            if (self.has_body || !is_of_body) && !is_of_framing(name) {
                headers.push((name, value));
            }
        }
        if let Some(cookies) = &cookies {
            headers.push(("Cookie", cookies));
        }
        if let Some(referer) =
            self.referer.as_deref().filter(|_| !self.request.has_header("referer"))
        {
            headers.push(("Referer", referer));
        }
        if let Some(authorization) = &self.authorization {
            headers.push(("Authorization", authorization));
        }
        let body: &[u8] = if self.has_body { &self.request.body } else { &[] };
        let mut bytes = Vec::with_capacity(256 + body.len());
        let (path, host) = (&self.target.path, &self.target.host);
        // As in Go, no method is GET.
        let method = if self.method.is_empty() { "GET" } else { &self.method };
        if let Err(error) = write_request(method, path, host, &headers, body, &mut bytes) {
            return refused(user, now_ns, FailureKind::Local, unwritable(&error));
        }
        let operation = user.operation();
        debug::request(user, &bytes, operation.into());
        self.debugged = operation.into();
        let keeps = self.request.response_type != ResponseType::None;
        let policy = if keeps {
            // Codings that the client does not know are left for `coding`.
            BodyPolicy::Truncate { bytes_max: BODY_BYTES_MAX }
        } else {
            BodyPolicy::Truncate { bytes_max: 0 }
        };
        user.host.send(
            now_ns,
            Exchange {
                token: token(user.index, operation),
                origin: self.target.origin,
                bytes: &bytes,
                head_only: self.method == "HEAD",
                timeout_ns: self.deadline_ns.saturating_sub(now_ns).max(1),
                body: policy,
            },
        );
        operation
    }

    /// A hop has ended: accounts for it, and follows a redirect if there is one.
    pub(super) fn on_completion(&mut self, user: &User, completion: Completion) -> Next {
        user.bytes_out.set(user.bytes_out.get() + completion.bytes_out);
        user.bytes_in.set(user.bytes_in.get() + completion.bytes_in);
        let mut completion = completion;
        if self.take_cookies(&completion) {
            decode(&mut completion.outcome);
        }
        let peer = user.host.client.borrow().peer(completion.peer);
        let challenge = self.challenge(&completion);
        if let Ok(answer) = &completion.outcome {
            debug::answer(user, answer, self.debugged);
        }
        let failure = completion.outcome.as_ref().err();
        let told = failure.map(|it| error_code::of_failure(it, &self.method, &self.target));
        let hop = account::Hop {
            request: &self.request,
            target: &self.target,
            method: &self.method,
            completion: &completion,
            peer: &peer,
            told: told.as_ref(),
            is_challenge: challenge.is_some(),
        };
        account::hop(user, &hop);
        if let Some(told) = &told {
            self.failed.clone_from(&told.long);
            if !self.request.throws {
                user.host.settings.console.request_failed(&told.long);
            }
        }
        if challenge.is_some() {
            self.authorization = challenge;
            return Next::Hop(self.send(user));
        }
        if let Some(next) = self.redirected(user, &completion) {
            return next;
        }
        let cookies = self.request.cookie_header(&self.target, self.is_first);
        let response = Response::new(
            &self.request,
            &self.target,
            &self.method,
            cookies,
            (completion, peer),
            told,
        );
        Next::Done(Box::new(response))
    }

    /// The answer to a server's challenge, if this is one that has not been answered.
    fn challenge(&self, completion: &Completion) -> Option<String> {
        let answer = completion.outcome.as_ref().ok()?;
        if !self.request.is_digest || self.authorization.is_some() || answer.status != 401 {
            return None;
        }
        let (name, password) = self.target.login.clone().unwrap_or_default();
        let asked = digest::Asked {
            user: &name,
            password: &password,
            method: &self.method,
            path: &self.target.path,
            body: if self.has_body { &self.request.body } else { &[] },
        };
        let mut random = [0; 16];
        aws_lc_rs::rand::fill(&mut random).ok()?;
        let nonce = crypto::hex(&random);
        let challenges =
            answer.headers().filter(|(name, _)| name.eq_ignore_ascii_case(b"www-authenticate"));
        let mut texts = challenges.map(|(_, value)| String::from_utf8_lossy(value));
        texts.find_map(|text| digest::answer(&text, &asked, &nonce))
    }

    /// Takes the answer's cookies; whether its body has a coding.
    fn take_cookies(&self, completion: &Completion) -> bool {
        let Ok(answer) = &completion.outcome else { return false };
        let mut is_coded = false;
        let now_s = jiff::Timestamp::now().as_second();
        for (name, value) in answer.headers() {
            is_coded |= name.eq_ignore_ascii_case(b"content-encoding");
            if name.eq_ignore_ascii_case(b"set-cookie")
                && let Some(cookie) = Cookie::parse(&String::from_utf8_lossy(value))
            {
                self.request.jar.borrow_mut().set(&self.target.url, cookie, now_s);
            }
        }
        is_coded || answer.body_bytes > BODY_BYTES_MAX as u64
    }

    fn redirected(&mut self, user: &User, completion: &Completion) -> Option<Next> {
        let answer = completion.outcome.as_ref().ok()?;
        let method = redirected_method(answer.status, &self.method)?.to_owned();
        let location = std::str::from_utf8(answer.header("location")?).ok()?;
        if self.request.redirects_left == 0 {
            return None;
        }
        let url = self.target.url.join(location).ok()?;
        let target = user.http.target(user, url.as_str()).ok()?;
        self.request.redirects_left -= 1;
        self.has_body = self.has_body && matches!(answer.status, 307 | 308);
        self.is_first = false;
        self.authorization = None;
        self.referer = Some(self.target.url.to_string());
        // What identifies the user goes to the host that it was meant for alone.
        if target.url.host_str() != self.target.url.host_str() {
            self.request.headers.retain(|(name, _)| !is_credential(name));
        }
        self.method = method;
        self.target = target;
        Some(Next::Hop(self.send(user)))
    }
}

/// Takes off what the client has left of a body's codings, which is all but gzip or deflate alone;
/// an answer whose body can't be decoded, or was longer than what is kept, has failed.
fn decode(outcome: &mut Result<sojourn_http::Response, Failure>) {
    let Ok(answer) = outcome else { return };
    if answer.body_bytes > BODY_BYTES_MAX as u64 {
        let detail = format!("a body longer than the {BODY_BYTES_MAX} bytes that may be kept");
        *outcome = Err(Failure::new(FailureKind::BodyTooLarge, detail));
        return;
    }
    let codings = answer.header("content-encoding").unwrap_or_default();
    let codings = String::from_utf8_lossy(codings).into_owned();
    let is_decoded = ["gzip", "x-gzip", "deflate", "identity"];
    if answer.body.is_empty() || is_decoded.iter().any(|it| it.eq_ignore_ascii_case(codings.trim()))
    {
        return;
    }
    match coding::decompress(&codings, &answer.body, BODY_BYTES_MAX) {
        Ok(Some(body)) => answer.body = body,
        Ok(None) => {}
        Err(detail) => *outcome = Err(Failure::new(FailureKind::Encoding, detail)),
    }
}

/// A request that is not sent fails at once: the options exclude it, or it can't be written.
fn refused(user: &User, now_ns: u64, kind: FailureKind, detail: String) -> OperationId {
    let operation = user.operation();
    let completion = Completion {
        token: token(user.index, operation),
        began_ns: now_ns,
        ended_ns: now_ns,
        timings: Timings::default(),
        bytes_out: 0,
        bytes_in: 0,
        peer: PeerId::default(),
        outcome: Err(Failure::new(kind, detail)),
    };
    user.complete(operation, Outcome::Http(Box::new(completion)));
    operation
}

/// Headers that say how a message is cut up, which is the client's business.
fn is_of_framing(name: &str) -> bool {
    ["transfer-encoding", "trailer"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Why a request can't be written, in Go's words where it has some.
fn unwritable(error: &RequestError) -> String {
    match error {
        RequestError::HeaderName(name) => format!("net/http: invalid header field name {name:?}"),
        RequestError::HeaderValue(name) => {
            format!("net/http: invalid header field value for {:?}", canonical(name))
        }
        RequestError::Method(method) => format!("net/http: invalid method {method:?}"),
        other => other.to_string(),
    }
}

/// The option `rps`: requests of all users keep a distance.
fn wait_for_turn(user: &User) {
    let settings = &user.host.settings;
    let Some(distance_ns) = settings.request_distance_ns() else { return };
    let turn_ns = settings.progress.request_turn(sojourn_clock::now_ns(), distance_ns);
    if turn_ns > sojourn_clock::now_ns() {
        let operation = user.operation();
        user.host.set_timer(turn_ns, user.index, operation);
        user.wait(operation);
    }
}

fn is_credential(name: &str) -> bool {
    ["authorization", "cookie", "www-authenticate"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}
