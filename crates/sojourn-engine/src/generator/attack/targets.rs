//! Targets made ready for one client.

use std::rc::Rc;

use sojourn_http::{Client, Origin, OriginId, origin_host_header, write_request};
use sojourn_plan::{Plan, Target, step_of};

use crate::attack::{Attack, Targets};

/// Carries a hit's number, as the original tool has it.
pub(super) const SEQUENCE_HEADER: &str = "X-Vegeta-Seq";
/// Carries the attack's name.
const NAME_HEADER: &str = "X-Vegeta-Attack";
const USER_AGENT: &str = concat!("sojourn/", env!("CARGO_PKG_VERSION"));

/// A target with its message rendered but for the hit's number.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) target: Target,
    pub(super) origin: OriginId,
    pub(super) origin_name: Origin,
    pub(super) step: u16,
    /// The message up to the number, and after it; or all of it, where it has no number.
    before: Vec<u8>,
    after: Option<Vec<u8>>,
}

/// The targets of one generator.
pub(super) struct Magazine {
    listed: Vec<Rc<Prepared>>,
}

/// What the next hit goes to.
pub(super) enum Next {
    Target(Rc<Prepared>),
    /// The stream has nothing yet.
    NotYet,
    /// The stream has ended.
    End,
    /// The target cannot be written as a request, in words.
    Unusable(String),
}

impl Magazine {
    /// Prepares the listed targets; errs with what cannot be written as a request. `message` is
    /// that of a target whose requests are made elsewhere.
    pub(super) fn new(
        attack: &Attack,
        plan: &Plan,
        message: Vec<u8>,
        client: &mut Client,
    ) -> Result<Self, String> {
        let listed = match &attack.targets {
            Targets::Listed(targets) => targets
                .iter()
                .map(|target| Prepared::new(target.clone(), attack, plan, client).map(Rc::new))
                .collect::<Result<_, _>>()?,
            Targets::Scripted(scripted) => {
                vec![Rc::new(Prepared::whole(&scripted.target, message, plan, client))]
            }
            Targets::Stream(_) => Vec::new(),
        };
        Ok(Self { listed })
    }

    /// The target of hit `k`.
    pub(super) fn next(&self, k: u64, attack: &Attack, plan: &Plan, client: &mut Client) -> Next {
        use crossbeam_channel::TryRecvError;
        match &attack.targets {
            Targets::Listed(_) | Targets::Scripted(_) => {
                Next::Target(Rc::clone(&self.listed[(k % self.listed.len() as u64) as usize]))
            }
            Targets::Stream(stream) => match stream.try_recv() {
                Ok(target) => match Prepared::new(target, attack, plan, client) {
                    Ok(prepared) => Next::Target(Rc::new(prepared)),
                    Err(why) => Next::Unusable(why),
                },
                Err(TryRecvError::Empty) => Next::NotYet,
                Err(TryRecvError::Disconnected) => Next::End,
            },
        }
    }
}

impl Prepared {
    fn new(
        target: Target,
        attack: &Attack,
        plan: &Plan,
        client: &mut Client,
    ) -> Result<Self, String> {
        let origin_name = origin_of(&target);
        let (before, after) = message(&target, attack, &origin_name)
            .map_err(|error| format!("target {}: {error}", target.label()))?;
        Ok(Self {
            origin: client.origin(&origin_name),
            step: step_of(plan, &target) as u16,
            origin_name,
            before,
            after: Some(after),
            target,
        })
    }

    /// A target whose message is given.
    fn whole(target: &Target, message: Vec<u8>, plan: &Plan, client: &mut Client) -> Self {
        let origin_name = origin_of(target);
        Self {
            origin: client.origin(&origin_name),
            step: step_of(plan, target) as u16,
            origin_name,
            before: message,
            after: None,
            target: target.clone(),
        }
    }

    /// The message of hit `k`, into an empty buffer.
    pub(super) fn render(&self, k: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.before);
        if let Some(after) = &self.after {
            out.extend_from_slice(itoa::Buffer::new().format(k).as_bytes());
            out.extend_from_slice(after);
        }
    }
}

fn origin_of(target: &Target) -> Origin {
    Origin { tls: target.tls, host: target.host.clone(), port: target.port }
}

/// The whole message, cut where the hit's number goes.
fn message(
    target: &Target,
    attack: &Attack,
    origin: &Origin,
) -> Result<(Vec<u8>, Vec<u8>), sojourn_http::RequestError> {
    // No header value has this: it cannot be mistaken.
    const PLACE: &[u8] = b"\x20(number)\x20";
    let headers = headers(target, attack);
    let mut borrowed: Vec<(&str, &[u8])> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    borrowed.push((SEQUENCE_HEADER, PLACE));
    let body = body(target, attack);
    let mut message = Vec::new();
    let host = origin_host_header(origin);
    write_request(&target.method, &target.path, &host, &borrowed, &body, &mut message)?;
    let line = [SEQUENCE_HEADER.as_bytes(), b": ", PLACE].concat();
    let at = message.windows(line.len()).position(|window| window == line).unwrap_or(0);
    let before = message[..at + SEQUENCE_HEADER.len() + 2].to_vec();
    let after = message[at + line.len()..].to_vec();
    Ok((before, after))
}

/// A request's headers besides the hit's number: the target's own, and what is missing of ours.
pub(super) fn headers(target: &Target, attack: &Attack) -> Vec<(String, String)> {
    let mut headers = target.headers.clone();
    let mut add = |name: &str, value: &str| {
        if !headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            headers.push((name.to_owned(), value.to_owned()));
        }
    };
    add("User-Agent", USER_AGENT);
    add("Accept-Encoding", "gzip");
    if attack.chunked && !target.body.is_empty() {
        add("Transfer-Encoding", "chunked");
    }
    if !attack.name.is_empty() {
        add(NAME_HEADER, &attack.name);
    }
    headers
}

/// The body as it is sent.
pub(super) fn body(target: &Target, attack: &Attack) -> Vec<u8> {
    if !attack.chunked || target.body.is_empty() {
        return target.body.to_vec();
    }
    let mut framed = format!("{:x}\r\n", target.body.len()).into_bytes();
    framed.extend_from_slice(&target.body);
    framed.extend_from_slice(b"\r\n0\r\n\r\n");
    framed
}
