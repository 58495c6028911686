//! From what a client asks for to a message on a connection of its own, and its answer's headers.

use smallvec::SmallVec;
use sojourn_http::{
    BodyPolicy, Completion, Exchange, Origin, Response, origin_host_header, write_request,
};
use sojourn_metrics::Recorder;
use sojourn_session::{Outgoing, SHOWN_BYTES_MAX, Shown, Trace};

use super::{
    accounts::Accounts,
    cookies,
    ids::ulid,
    origins::Origins,
    redirect::{Cookies, redirected},
    seat::{Asked, Seat},
    tracing::{refused, tell},
};
use crate::{generator::world::World, sessions::Sessions};

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
pub(super) struct Tools<'a, W> {
    pub(super) client: &'a mut W,
    pub(super) origins: &'a mut Origins,
    pub(super) sessions: &'a Sessions,
    pub(super) moment: Moment,
    /// Comes back in the completion.
    pub(super) token: u64,
}

impl<W: World> Tools<'_, W> {
    /// Sends a client's request; false when it can't be written, which is counted.
    pub(super) fn ask(
        &mut self,
        seat: &mut Seat,
        outgoing: &Outgoing<'_>,
        (accounts, recorder): (&mut Accounts, &mut Recorder),
    ) -> bool {
        let step = self.sessions.steps.get(outgoing.number()).copied().unwrap_or(0);
        let late_ns = seat.acts(self.moment.now_ns);
        let sent = self.send(seat, outgoing, step);
        match &sent {
            Ok(()) => accounts.begun(late_ns, recorder),
            Err(why) => {
                accounts.not_sent(seat.kind, step, why, recorder);
                tell(self.sessions, seat, self.moment.at_ns, |_| refused(outgoing.url(), why));
            }
        }
        sent.is_ok()
    }

    /// Sends a request. Errs in words when it can't be written.
    fn send(
        &mut self,
        seat: &mut Seat,
        outgoing: &Outgoing<'_>,
        step: usize,
    ) -> Result<(), String> {
        let (origin, path) = self.origins.of(outgoing.url())?;
        let id = ulid(self.moment.unix_ms, self.moment.seed, seat.number, seat.requests);
        let names_cookies = outgoing.headers().any(|(name, _)| name.eq_ignore_ascii_case("cookie"));
        let to = (self.origins.origin(origin), path);
        let jar = seat.jar.as_deref().filter(|_| !names_cookies);
        let cookies = cookies::header(jar, to, self.unix_s());
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
        if let Some(cookies) = &cookies {
            fields.push(("Cookie", cookies.as_bytes()));
        }
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
            names_cookies,
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
        let own = |origin: &Origin, path: &str| match asked.names_cookies {
            true => Cookies::AsWritten,
            false => {
                Cookies::Own(cookies::header(seat.jar.as_deref(), (origin, path), self.unix_s()))
            }
        };
        let to = |origin: &Origin, path: &str| (origin_host_header(origin), own(origin, path));
        let Some(next) = redirected(&seat.message, from, response, to) else {
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

    /// Keeps the cookies that an answer sets.
    pub(super) fn take_cookies(&self, seat: &mut Seat, asked: &Asked, response: &Response) {
        let from = (self.origins.origin(asked.origin), cookies::path_of(&seat.message));
        cookies::take(&mut seat.jar, from, response, self.unix_s());
    }

    fn unix_s(&self) -> i64 {
        // Seconds fit for longer than the sun burns.
        (self.moment.unix_ms / 1_000) as i64
    }

    fn put(&mut self, seat: &mut Seat, asked: Asked, timeout_ns: u64) {
        let origin = seat.origin(asked.origin, self.origins, self.client);
        let body = match asked.needs_body {
            true => BodyPolicy::Keep { bytes_max: BODY_BYTES_MAX },
            false if self.sessions.trace.is_some() => {
                BodyPolicy::Truncate { bytes_max: SHOWN_BYTES_MAX }
            }
            // Heads may set cookies: they are kept with a body, be it of no byte.
            false if self.sessions.cookies => BodyPolicy::Truncate { bytes_max: 0 },
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
