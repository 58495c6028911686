//! From what a client asks for to a message on a connection of its own, and its answer's headers.

use smallvec::SmallVec;
use sojourn_http::{
    BodyPolicy, Client, Completion, Exchange, Response, origin_host_header, write_request,
};
use sojourn_session::{Outgoing, SHOWN_BYTES_MAX, Shown, Trace};

use super::{
    ids::ulid,
    origins::Origins,
    redirect::redirected,
    seat::{Asked, Seat},
    tracing::tell,
};
use crate::sessions::Sessions;

/// Most of a body that is kept, bytes; a longer one is a failure.
const BODY_BYTES_MAX: usize = 64 << 20;

/// When something is sent, and what is drawn for it.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    pub(super) seed: u64,
    pub(super) unix_ms: u64,
    /// Since the run's start, nanoseconds.
    pub(super) at_ns: u64,
    pub(super) now_ns: u64,
}

/// What sending takes, lent for one request.
pub(super) struct Tools<'a> {
    pub(super) client: &'a mut Client,
    pub(super) origins: &'a mut Origins,
    pub(super) sessions: &'a Sessions,
    pub(super) moment: Moment,
    /// Comes back in the completion.
    pub(super) token: u64,
}

impl Tools<'_> {
    /// Sends a request. Errs in words when it can't be written.
    pub(super) fn send(
        &mut self,
        seat: &mut Seat,
        outgoing: &Outgoing<'_>,
        step: usize,
    ) -> Result<(), String> {
        let (origin, path) = self.origins.of(outgoing.url())?;
        let id = ulid(self.moment.unix_ms, self.moment.seed, seat.number, seat.requests);
        let mut fields: SmallVec<[(&str, &[u8]); 8]> = SmallVec::new();
        let mut names_itself = false;
        for (name, value) in outgoing.headers() {
            names_itself |= name.eq_ignore_ascii_case("user-agent");
            fields.push((name, value.as_bytes()));
        }
        if !names_itself {
            fields.push(("User-Agent", self.sessions.user_agent.as_bytes()));
        }
        fields.push(("X-Request-Id", &id));
        seat.message.clear();
        let host = self.origins.host_header(origin);
        let with_root: String;
        let path = match path.starts_with('/') {
            true => path,
            false => {
                with_root = format!("/{path}");
                &with_root
            }
        };
        let (verb, body) = (outgoing.verb(), outgoing.body());
        write_request(verb, path, host, &fields, body, &mut seat.message)
            .map_err(|error| error.to_string())?;
        let asked = Asked {
            // A journey has fewer steps than numbers: its plan says so.
            step: step as u16,
            origin,
            redirects: 0,
            needs_body: outgoing.needs_body(),
            began_ns: self.moment.now_ns,
            bytes_before: (0, 0),
        };
        self.put(seat, asked, self.sessions.timeout_ns);
        Ok(())
    }

    /// Follows a redirect; false when the answer is the last one. Errs in words where a redirect
    /// must not be followed.
    pub(super) fn follow(
        &mut self,
        seat: &mut Seat,
        asked: Asked,
        completion: &Completion,
        response: &Response,
    ) -> Result<bool, String> {
        let from = self.origins.origin(asked.origin);
        let Some(next) = redirected(&seat.message, from, response, origin_host_header) else {
            return Ok(false);
        };
        let next = next?;
        if u32::from(asked.redirects) >= self.sessions.redirects_max {
            return Err(format!("stopped after {} redirects", asked.redirects));
        }
        let host = &next.origin.host;
        if !self.sessions.program.targets().allows(host) {
            return Err(format!("denied: redirected to {host}, which is no target"));
        }
        let left_ns = (asked.began_ns.saturating_add(self.sessions.timeout_ns))
            .saturating_sub(self.moment.now_ns)
            .max(1);
        let (sent, received) = asked.bytes_before;
        let asked = Asked {
            origin: self.origins.index_of(next.origin)?,
            redirects: asked.redirects + 1,
            bytes_before: (sent + completion.bytes_out, received + completion.bytes_in),
            ..asked
        };
        seat.message = next.message;
        self.put(seat, asked, left_ns);
        Ok(true)
    }

    fn put(&mut self, seat: &mut Seat, asked: Asked, timeout_ns: u64) {
        let origin = seat.origin(asked.origin, self.origins, self.client);
        let body = match asked.needs_body {
            true => BodyPolicy::Keep { bytes_max: BODY_BYTES_MAX },
            false if self.sessions.trace.is_some() => {
                BodyPolicy::Truncate { bytes_max: SHOWN_BYTES_MAX }
            }
            false => BodyPolicy::Discard,
        };
        tell(self.sessions, seat, self.moment.at_ns, |seat| {
            let scheme = if self.origins.origin(asked.origin).tls { "https" } else { "http" };
            let host = self.origins.host_header(asked.origin);
            let message = Shown::of(&seat.message);
            Trace::Sent { origin: format!("{scheme}://{host}"), message }
        });
        seat.asked = Some(asked);
        seat.requests += 1;
        let exchange = Exchange {
            token: self.token,
            origin,
            bytes: &seat.message,
            head_only: seat.message.starts_with(b"HEAD "),
            timeout_ns,
            body,
        };
        self.client.send(self.moment.now_ns, exchange);
    }
}

/// An answer's header fields, as texts; those that are none are left out.
pub(super) fn headers(response: &Response) -> SmallVec<[(&str, &str); 16]> {
    let text = |bytes| std::str::from_utf8(bytes).ok();
    response.headers().filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect()
}
