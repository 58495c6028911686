//! Redirects: to hosts that the plan names, and no others.

use sojourn_http::{Origin, Response};
use sojourn_plan::{Action, HttpAction};

use super::{JourneyActor, UnderWay, send};
use crate::generator::{
    actor::{Context, Step},
    prepared::PreparedRequest,
};

impl JourneyActor {
    /// Sends the next request of a redirect chain, if the plan follows them; `None`: the answer
    /// stands as it is.
    pub(super) fn follow_redirect(
        &mut self,
        context: &mut Context<'_>,
        under_way: UnderWay,
        response: &Response,
        now_ns: u64,
    ) -> Option<Step> {
        let Action::Http(action) = &context.plan.journeys[self.kind()].steps[under_way.step].action;
        if under_way.redirects >= action.redirects_max {
            return None;
        }
        let method = sojourn_http::redirected_method(response.status, &action.method)?;
        let location = response.header("location")?;
        let prepared = &context.prepared.journeys[self.kind()].steps[under_way.step];
        let path = request_path(&context.scratch.path);
        let (origin, path) =
            match sojourn_http::next_location(&prepared.origin_name, path, location) {
                Ok(next) => next,
                Err(error) => {
                    return Some(self.refused(context, under_way, now_ns, &error.to_string()));
                }
            };
        if !context.prepared.hosts.contains(&origin.host) {
            let reason = format!("redirect to {}, a host the plan does not name", origin.host);
            return Some(self.refused(context, under_way, now_ns, &reason));
        }
        let elapsed_ns = now_ns.saturating_sub(under_way.began_ns);
        let redirected = redirected(action, method, &path, &origin);
        let request = PreparedRequest::of_action(&redirected, true, context.client);
        if self.render(context, &redirected, &request).is_err() {
            return Some(self.refused(context, under_way, now_ns, "redirect cannot be followed"));
        }
        self.request = Some(UnderWay {
            redirects: under_way.redirects + 1,
            ..under_way
        });
        let timeout_ns = action.timeout_ns.saturating_sub(elapsed_ns);
        send(context, &redirected, request.origin, true, timeout_ns);
        Some(Step::Requesting)
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
        next.headers
            .retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    }
    if !is_same_host {
        // Credentials stay with the host they were meant for.
        next.headers.retain(|(name, _)| {
            !name.eq_ignore_ascii_case("authorization") && !name.eq_ignore_ascii_case("cookie")
        });
    }
    next
}

fn request_path(path: &[u8]) -> &str {
    std::str::from_utf8(path).unwrap_or("/")
}
