//! A hit: one request of an attack, with the redirects it is sent through.

use std::{borrow::Cow, rc::Rc};

use sojourn_http::{
    BodyPolicy, Client, Completion, Exchange, Origin, OriginId, Response, next_location,
    origin_host_header, redirected_method, write_request,
};
use sojourn_plan::Target;

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
    refused: Option<Refusal>,
}

/// Why a redirect was not followed: its answer counts as none.
#[derive(Debug)]
pub(super) struct Refusal {
    /// Where it would have led, as the answer has it.
    location: String,
    /// In words; without the location, whose query may hold a secret.
    pub(super) why: String,
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
        if let Err(why) = chain.lead(location, &target, most, hosts) {
            return chain.refuse(location, why);
        }
        chain.method = method;
        let written = chain.render(self.k, &target, attack, with_body, message);
        if let Err(error) = written {
            return chain.refuse(location, error.to_string());
        }
        chain.bytes_out += completion.bytes_out;
        chain.bytes_in += completion.bytes_in;
        let head_only = chain.method == "HEAD";
        Some(Request { origin: client.origin(&chain.origin), head_only, requests: 1 })
    }

    /// Where the last request went.
    pub(super) fn origin(&self) -> &Origin {
        self.chain.as_ref().map_or(&self.target.origin_name, |chain| &chain.origin)
    }

    /// The same with its path.
    pub(super) fn url(&self) -> Cow<'_, str> {
        match &self.chain {
            None => Cow::Borrowed(&self.target.target.url),
            Some(chain) => {
                let scheme = if chain.origin.tls { "https" } else { "http" };
                let host = origin_host_header(&chain.origin);
                Cow::Owned(format!("{scheme}://{host}{}", chain.path))
            }
        }
    }

    /// Bytes of the requests and of the answers that led to the last one.
    pub(super) fn bytes_before(&self) -> (u64, u64) {
        self.chain.as_ref().map_or((0, 0), |chain| (chain.bytes_out, chain.bytes_in))
    }

    /// Why the last answer counts as none: it redirects to where the attack does not go.
    pub(super) fn refused(&self) -> Option<&Refusal> {
        self.chain.as_ref()?.refused.as_ref()
    }
}

impl Refusal {
    /// As a result says it.
    pub(super) fn worded(&self, target: &Target) -> String {
        words::worded(&target.method, &self.location, &self.why)
    }
}

impl Chain {
    /// Goes where a redirect leads; or why not.
    fn lead(
        &mut self,
        location: &[u8],
        target: &Prepared,
        most: u32,
        hosts: &[String],
    ) -> Result<(), String> {
        if self.redirects == most {
            return Err(format!("stopped after {most} redirects"));
        }
        let (origin, path) =
            next_location(&self.origin, &self.path, location).map_err(|error| error.to_string())?;
        if origin.host != target.target.host && !hosts.contains(&origin.host) {
            return Err(format!(
                "redirect to {} refused: it is none of the attack's hosts (-allow-host lets it)",
                origin.host
            ));
        }
        self.has_left |= origin != target.origin_name;
        (self.redirects, self.origin, self.path) = (self.redirects + 1, origin, path);
        Ok(())
    }

    /// Ends here; there is no further request.
    fn refuse(&mut self, location: &[u8], why: String) -> Option<Request> {
        let location = String::from_utf8_lossy(location).into_owned();
        self.refused = Some(Refusal { location, why });
        None
    }

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
