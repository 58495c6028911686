//! Trying a root step again: the same journey, from its first beginning to its last answer.

use sojourn_http::{Completion, FailureKind};
use sojourn_ledger::{Fact, Key};
use sojourn_plan::RetryOn;

use super::{JourneyActor, Judged, UnderWay};
use crate::{
    generator::{
        actor::{Context, Step},
        answer::{Answer, key_of},
        series::RetryCause,
    },
    options::narrate,
};

impl JourneyActor {
    /// Counts an attempt of a step that may have several, and prepares the next one where the plan
    /// wants it; `None`: what came of this one is final.
    pub(super) fn try_again(
        &mut self,
        context: &mut Context<'_>,
        under_way: &UnderWay,
        completion: &Completion,
        judged: &Judged,
    ) -> Option<Step> {
        let (kind, phase) = (self.arrival.kind, self.arrival.phase);
        let step = &context.plan.journeys[usize::from(kind)].steps[under_way.step];
        let retry = step.retry.as_ref()?;
        let series = context.series.attempt(kind, under_way.step, phase, under_way.attempt);
        let took_ns = completion.ended_ns.saturating_sub(under_way.attempt_began_ns);
        context.recorder.record(series, took_ns);
        if matches!(judged, Judged::Accepted { .. })
            || self.ended
            || !retry.goes_on(under_way.attempt, |on| is_such(completion, *on))
        {
            return None;
        }
        let cause = match &completion.outcome {
            Ok(response) => RetryCause::Status(response.status),
            Err(failure) => RetryCause::Failure(failure.kind),
        };
        let series = context.series.retry(context.recorder, kind, under_way.step, phase, cause);
        context.recorder.add(series, 1);
        // The system may have begun its work under a key that it names in its refusal.
        if let (Ok(response), Some(rule)) = (&completion.outcome, &step.key)
            && let Some(Ok(text)) = key_of(&Answer::new(response), rule)
            && let Some(key) = Key::new(text.as_bytes())
        {
            let journey = self.arrival.journey;
            context.outbox.push(completion.ended_ns, Fact::Keyed { journey, key });
        }
        let pause_ns = retry.pause_ns(under_way.attempt);
        narrate(context.narrator, || {
            let pause_ms = pause_ns as f64 / 1e6;
            let (attempt, attempts) = (under_way.attempt, retry.attempts);
            format!("attempt {attempt} of {attempts} ended so: again in {pause_ms} ms")
        });
        self.paused = Some(UnderWay {
            attempt: under_way.attempt + 1,
            redirects: 0,
            bytes_in: under_way.bytes_in + completion.bytes_in,
            bytes_out: under_way.bytes_out + completion.bytes_out,
            ..*under_way
        });
        context.timers.push(completion.ended_ns.saturating_add(pause_ns), context.token);
        Some(Step::Requesting)
    }

    /// The pause before the next attempt is over.
    pub(super) fn go_on(&mut self, context: &mut Context<'_>) -> Step {
        let Some(under_way) = self.paused.take() else {
            return Step::Idle;
        };
        if self.ended {
            // The ledger has ended the journey meanwhile.
            return Step::Done;
        }
        self.attempt(context, UnderWay { attempt_began_ns: context.now_ns, ..under_way })
    }
}

/// Whether an attempt ended in such a way.
fn is_such(completion: &Completion, on: RetryOn) -> bool {
    match (&completion.outcome, on) {
        (Ok(response), RetryOn::Status(from, to)) => (from..=to).contains(&response.status),
        (Err(failure), RetryOn::Connect) => {
            matches!(failure.kind, FailureKind::Connect | FailureKind::Dns)
        }
        (Err(failure), RetryOn::Reset) => {
            matches!(failure.kind, FailureKind::Closed | FailureKind::Reset)
        }
        (Err(failure), RetryOn::Timeout) => failure.kind == FailureKind::Timeout,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use sojourn_http::{Failure, Response, Timings};

    use super::*;

    #[test]
    fn only_what_the_plan_names_is_tried_again() {
        let ended = |outcome| Completion {
            token: 0,
            began_ns: 0,
            ended_ns: 0,
            timings: Timings::default(),
            bytes_in: 0,
            bytes_out: 0,
            peer: sojourn_http::PeerId::default(),
            outcome,
        };
        let failed = |kind| ended(Err(Failure::new(kind, String::new())));
        let answered = |status| ended(Ok(Response { status, ..Response::default() }));
        let every = [RetryOn::Connect, RetryOn::Reset, RetryOn::Timeout, RetryOn::Status(500, 599)];
        let fits = |completion: &Completion| {
            every.into_iter().filter(|on| is_such(completion, *on)).collect::<Vec<_>>()
        };
        for (kind, on) in [
            (FailureKind::Connect, vec![RetryOn::Connect]),
            (FailureKind::Dns, vec![RetryOn::Connect]),
            (FailureKind::Closed, vec![RetryOn::Reset]),
            (FailureKind::Reset, vec![RetryOn::Reset]),
            (FailureKind::Timeout, vec![RetryOn::Timeout]),
            (FailureKind::Local, vec![]),
            (FailureKind::Protocol, vec![]),
            (FailureKind::Tls, vec![]),
        ] {
            assert_eq!(fits(&failed(kind)), on, "{kind:?}");
        }
        for (status, on) in [(499, vec![]), (500, vec![every[3]]), (599, vec![every[3]])] {
            assert_eq!(fits(&answered(status)), on, "{status}");
        }
    }
}
