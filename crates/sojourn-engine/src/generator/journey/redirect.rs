//! Redirects: to hosts that the plan names, and no others.

use sojourn_http::{Completion, Origin, Response};
use sojourn_plan::{Action, HttpAction};

use super::{JourneyActor, UnderWay, send};
use crate::generator::{
    actor::{Context, Step},
    prepared::PreparedRequest,
};

impl JourneyActor {
    /// Sends the next request of a redirect chain, if the plan follows them; `None`: the answer
    /// stands as it is. Errs in words when the redirect must not or cannot be followed.
    pub(super) fn follow_redirect(
        &mut self,
        context: &mut Context<'_>,
        under_way: UnderWay,
        completion: &Completion,
        response: &Response,
    ) -> Result<Option<Step>, String> {
        let Action::Http(first) = &context.plan.journeys[self.kind()].steps[under_way.step].action;
        if under_way.redirects >= first.redirects_max {
            return Ok(None);
        }
        let previous = self.redirected.as_deref().unwrap_or(first);
        let method = sojourn_http::redirected_method(response.status, &previous.method);
        let (Some(method), Some(location)) = (method, response.header("location")) else {
            return Ok(None);
        };
        let base = Origin { tls: previous.tls, host: previous.host.clone(), port: previous.port };
        let mut base_path = Vec::new();
        let unset = |_| "redirect cannot be followed: a value is not set".to_owned();
        self.render_text(context, &previous.path, &mut base_path).map_err(unset)?;
        let base_path = String::from_utf8_lossy(&base_path);
        let (origin, path) = sojourn_http::next_location(&base, &base_path, location)
            .map_err(|error| error.to_string())?;
        if !context.prepared.hosts.contains(&origin.host) {
            return Err(format!("redirect to {}, a host the plan does not name", origin.host));
        }
        let next = redirected(previous, method, &path, &origin);
        let request = PreparedRequest::of_action(&next, true, context.client);
        self.render(context, &next, &request)
            .map_err(|_| "redirect cannot be followed: its request cannot be written".to_owned())?;
        let elapsed_ns = completion.ended_ns.saturating_sub(under_way.attempt_began_ns);
        self.request = Some(UnderWay {
            redirects: under_way.redirects + 1,
            bytes_in: under_way.bytes_in + completion.bytes_in,
            bytes_out: under_way.bytes_out + completion.bytes_out,
            ..under_way
        });
        let timeout_ns = first.timeout_ns.saturating_sub(elapsed_ns);
        send(context, &next, request.origin, true, timeout_ns);
        self.redirected = Some(Box::new(next));
        Ok(Some(Step::Requesting))
    }
}

/// The request that a redirect asks for.
fn redirected(action: &HttpAction, method: &str, path: &str, origin: &Origin) -> HttpAction {
    let is_same_host = action.host == origin.host;
    let mut next = action.clone();
    next.tls = origin.tls;
    next.host.clone_from(&origin.host);
    next.port = origin.port;
    next.path = sojourn_plan::Template::literal(path);
    if method != action.method {
        next.method = method.to_owned();
        next.body = None;
        next.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    }
    if !is_same_host {
        // Credentials stay with the host they were meant for.
        next.headers.retain(|(name, _)| {
            !name.eq_ignore_ascii_case("authorization") && !name.eq_ignore_ascii_case("cookie")
        });
    }
    next
}
