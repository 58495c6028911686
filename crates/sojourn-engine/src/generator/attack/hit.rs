//! A hit: one request of an attack, with the redirects it is sent through.

use std::rc::Rc;

use sojourn_http::{
    BodyPolicy, Client, Completion, Exchange, Origin, OriginId, Response, next_location,
    origin_host_header, redirected_method, write_request,
};

use super::{
    targets::{Prepared, SEQUENCE_HEADER, body, headers},
    words,
};
use crate::{attack::Attack, generator::redirect::is_secret_header};

/// A hit under way.
#[derive(Debug)]
pub(super) struct Hit {
    /// Which arrival.
    pub(super) k: u64,
    /// When it was due.
    pub(super) t0_ns: u64,
    /// When it began; redirects belong to the same hit.
    pub(super) began_ns: u64,
    /// The closed loop's worker who makes it.
    pub(super) worker: Option<u32>,
    pub(super) target: Rc<Prepared>,
    /// Requests of it that have not ended: more than one where it is a message of several.
    pub(super) requests_left: u32,
    message_bytes: usize,
    /// Where redirects have led.
    chain: Option<Box<Chain>>,
}

/// The last request of a chain of redirects.
#[derive(Debug)]
struct Chain {
    redirects: u32,
    origin: Origin,
    path: String,
    method: String,
    /// It has been to another origin than the target's: what is secret is not sent any more, even
    /// should it come back.
    has_left: bool,
    /// Bytes of the requests before.
    bytes_out: u64,
    /// Bytes of the answers before.
    bytes_in: u64,
    /// Why it is not followed further.
    refused: Option<String>,
}

/// A request to send.
pub(super) struct Request {
    pub(super) origin: OriginId,
    pub(super) head_only: bool,
    /// How many requests the message is.
    pub(super) requests: u32,
}

impl Hit {
    pub(super) fn new(
        k: u64,
        t0_ns: u64,
        began_ns: u64,
        worker: Option<u32>,
        target: Rc<Prepared>,
    ) -> Self {
        let (requests_left, message_bytes) = (1, 0);
        Self { k, t0_ns, began_ns, worker, target, requests_left, message_bytes, chain: None }
    }

    /// Renders the first request.
    pub(super) fn first(&self, message: &mut Vec<u8>) -> Request {
        self.target.render(self.k, message);
        let head_only = self.target.target.method == "HEAD";
        Request { origin: self.target.origin, head_only, requests: 1 }
    }

    /// The first request, where its message is made elsewhere.
    pub(super) fn made(&self) -> Request {
        Request { origin: self.target.origin, head_only: false, requests: 1 }
    }

    /// What is sent: a message of so many bytes.
    pub(super) fn holds(&mut self, request: &Request, message_bytes: usize) {
        self.requests_left = request.requests;
        // Of several, nobody knows which was cut off.
        self.message_bytes = if request.requests == 1 { message_bytes } else { 0 };
    }

    /// Whether so many bytes are not yet the whole message.
    pub(super) fn is_unsent(&self, bytes_out: u64) -> bool {
        bytes_out < self.message_bytes as u64
    }

    /// The same hit, for the account of one of its requests.
    pub(super) fn one_of_several(&self) -> Self {
        Self { target: Rc::clone(&self.target), chain: None, ..*self }
    }

    /// Renders the request that a redirect asks for; `None` when this answer is the last.
    pub(super) fn follow(
        &mut self,
        completion: &Completion,
        response: &Response,
        attack: &Attack,
        hosts: &[String],
        client: &mut Client,
        message: &mut Vec<u8>,
    ) -> Option<Request> {
        let most = attack.redirects_max?;
        let location = response.header("location")?;
        let target = Rc::clone(&self.target);
        let chain = self.chain.get_or_insert_with(|| {
            Box::new(Chain {
                redirects: 0,
                origin: target.origin_name.clone(),
                path: target.target.path.clone(),
                method: target.target.method.clone(),
                has_left: false,
                bytes_out: 0,
                bytes_in: 0,
                refused: None,
            })
        });
        let method = redirected_method(response.status, &chain.method)?.to_owned();
        let with_body = method == chain.method;
        if chain.redirects == most {
            chain.refused = Some(format!("stopped after {most} redirects"));
            return None;
        }
        let next = next_location(&chain.origin, &chain.path, location);
        let (origin, path) = match next {
            Ok(next) => next,
            Err(error) => {
                chain.refused = Some(error.to_string());
                return None;
            }
        };
        if origin.host != target.target.host && !hosts.contains(&origin.host) {
            chain.refused = Some(format!(
                "redirect to {} refused: it is none of the attack's hosts (-allow-host lets it)",
                origin.host
            ));
            return None;
        }
        chain.has_left |= origin != target.origin_name;
        (chain.redirects, chain.origin, chain.path, chain.method) =
            (chain.redirects + 1, origin, path, method);
        let written = chain.render(self.k, &target, attack, with_body, message);
        if let Err(error) = written {
            chain.refused = Some(error.to_string());
            return None;
        }
        chain.bytes_out += completion.bytes_out;
        chain.bytes_in += completion.bytes_in;
        let head_only = chain.method == "HEAD";
        Some(Request { origin: client.origin(&chain.origin), head_only, requests: 1 })
    }

    /// Bytes of the requests and of the answers that led to the last one.
    pub(super) fn bytes_before(&self) -> (u64, u64) {
        self.chain.as_ref().map_or((0, 0), |chain| (chain.bytes_out, chain.bytes_in))
    }

    /// What is wrong with the last answer, as a result says it; empty when nothing is.
    pub(super) fn refusal(&self, response: &Response) -> String {
        match self.refused() {
            Some(why) => words::worded(&self.target, why),
            None => words::status_error(response),
        }
    }

    /// The same for figures: without the URL, whose query may hold a secret.
    pub(super) fn reason(&self, response: &Response) -> String {
        self.refused().map_or_else(|| words::status_error(response), str::to_owned)
    }

    fn refused(&self) -> Option<&str> {
        self.chain.as_ref()?.refused.as_deref()
    }

    /// Whether the last answer is what an attack hopes for.
    pub(super) fn is_success(&self, response: &Response) -> bool {
        (200..400).contains(&response.status)
            && self.chain.as_ref().is_none_or(|chain| chain.refused.is_none())
    }
}

impl Chain {
    fn render(
        &self,
        k: u64,
        target: &Prepared,
        attack: &Attack,
        with_body: bool,
        message: &mut Vec<u8>,
    ) -> Result<(), sojourn_http::RequestError> {
        let mut fields = headers(&target.target, attack);
        fields.push((SEQUENCE_HEADER.to_owned(), k.to_string()));
        let is_elsewhere = self.origin != target.origin_name;
        fields.retain(|(name, _)| {
            let is = |other: &str| name.eq_ignore_ascii_case(other);
            let is_about_body =
                is("content-length") || is("content-type") || is("transfer-encoding");
            // Credentials stay with the scheme, host and port they were meant for.
            let is_private = self.has_left && is_secret_header(name) || is_elsewhere && is("host");
            (with_body || !is_about_body) && !is_private
        });
        let borrowed: Vec<(&str, &[u8])> =
            fields.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        let body = if with_body { body(&target.target, attack) } else { Vec::new() };
        let host = origin_host_header(&self.origin);
        write_request(&self.method, &self.path, &host, &borrowed, &body, message)
    }
}

/// Sends a hit's request; `token` comes back with its answer.
pub(super) fn send(
    client: &mut Client,
    now_ns: u64,
    token: u64,
    request: &Request,
    bytes: &[u8],
    timeout_ns: u64,
    body: BodyPolicy,
) {
    let Request { origin, head_only, requests } = *request;
    let exchange = Exchange { token, origin, bytes, head_only, timeout_ns, body };
    client.send_pipelined(now_ns, exchange, requests);
}
