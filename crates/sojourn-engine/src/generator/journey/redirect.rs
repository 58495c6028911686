//! Following redirects within a step.

use sojourn_http::{Completion, Response};
use sojourn_plan::Action;

use super::{JourneyActor, UnderWay, send};
use crate::generator::{
    actor::{Context, Step},
    prepared::PreparedRequest,
    redirect::next_action,
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
        let step = &context.plan.journeys[self.kind()].steps[under_way.step];
        let Action::Http(first) = &step.action else {
            return Ok(None);
        };
        if under_way.redirects >= first.redirects_max {
            return Ok(None);
        }
        let previous = self.redirected.as_deref().unwrap_or(first);
        let mut path = Vec::new();
        self.render_text(context, &previous.path, &mut path)
            .map_err(|_| "redirect cannot be followed: a value is not set".to_owned())?;
        let path = String::from_utf8_lossy(&path);
        let Some(next) = next_action(previous, &path, response, &context.prepared.hosts)? else {
            return Ok(None);
        };
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
