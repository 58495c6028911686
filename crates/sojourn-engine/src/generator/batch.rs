//! A batch as an actor: one request with the events of several journeys.
//!
//! Its journeys share the scheduled instant, the request and its times; each has a key of its own,
//! registered before the request is sent, and an entry of its own in the ledger. The answer says
//! which of them were accepted: those are followed, the others are failed roots.

mod series;

use sojourn_clock::now_ns;
use sojourn_http::{Completion, Response};
use sojourn_ledger::{Fact, JourneyId, Key};
use sojourn_plan::{Batch, HttpAction, KeyRule, RenderContext, Selector, Step as PlanStep};

use super::{
    actor::{Actor, Context, Step, Wake},
    answer::Answer,
    journey::{Arrival, send},
    prepared::{PreparedRequest, RenderError},
    series::NOT_SENT,
};
use crate::options::narrate;
pub(super) use series::{BatchSeries, batch_series};

/// The step of a batch's journey: it has one.
const ROOT: usize = 0;
/// Why an event was not accepted where the answer is as expected.
const NOT_ACCEPTED: &str = "not among those accepted";

/// A batch under way at a generator.
#[derive(Debug)]
pub(crate) struct BatchActor {
    /// Of its first journey; the others' numbers follow.
    pub(crate) arrival: Arrival,
    began_ns: u64,
}

/// What an answer says of a batch.
struct Judged {
    /// How many events it accepted, the first ones.
    accepted: u32,
    /// Why it is not as expected, where it is not.
    unexpected: Option<String>,
    /// Why the others were not accepted.
    reason: String,
}

impl BatchActor {
    pub(crate) fn new(arrival: Arrival) -> Self {
        Self { arrival, began_ns: arrival.t0_ns }
    }

    fn journey(&self, member: u32) -> JourneyId {
        JourneyId(self.arrival.journey.0 + u64::from(member))
    }

    /// Registers every journey with its key while its event is written, then sends the request.
    fn begin(&mut self, context: &mut Context<'_>) -> Step {
        let plan = context.plan;
        let step = &plan.journeys[usize::from(self.arrival.kind)].steps[ROOT];
        let (Some(batch), Some(action)) = (&step.batch, step.action.http()) else {
            return Step::Done;
        };
        let prepared = context.prepared;
        let Some(request) = &prepared.journeys[usize::from(self.arrival.kind)].steps[ROOT] else {
            return Step::Done;
        };
        let written = self.write(context, step, batch, (action, request));
        // Writing thousands of events takes its time: ours, so it is lag and not the system's.
        context.now_ns = now_ns();
        self.began_ns = context.now_ns;
        let lag_ns = context.now_ns.saturating_sub(self.arrival.t0_ns);
        context.recorder.record(context.series.lag(self.arrival.phase), lag_ns);
        if let Err(error) = written {
            return self.cannot_send(context, batch, &error);
        }
        narrate(context.narrator, || {
            let name = &plan.journeys[usize::from(self.arrival.kind)].name;
            format!("{name}/{}: {} events in one request", step.name, batch.size)
        });
        send(context, action, request.origin, request.keeps_body, action.timeout_ns);
        Step::Requesting
    }

    /// Writes the whole message, and tells the ledger of each journey as its key is made. Every
    /// journey has started, whatever cannot be written.
    fn write(
        &self,
        context: &mut Context<'_>,
        step: &PlanStep,
        batch: &Batch,
        (action, request): (&HttpAction, &PreparedRequest),
    ) -> Result<(), RenderError> {
        let [open, between, close] = batch.form.around();
        let mut failed = None;
        let mut key = Vec::new();
        context.scratch.body.clear();
        context.scratch.body.extend_from_slice(open.as_bytes());
        for member in 0..batch.size {
            if member > 0 {
                context.scratch.body.extend_from_slice(between.as_bytes());
            }
            key.clear();
            let mut values = self.values(context, member);
            if let Some(KeyRule::Made(template)) = &step.key {
                let made = template.render(&values, &mut key);
                failed = failed.or_else(|| made.err());
            }
            let text = String::from_utf8_lossy(&key);
            values.key = &text;
            if let Some(body) = &action.body {
                let made = body.render(&values, &mut context.scratch.body);
                failed = failed.or_else(|| made.err());
            }
            let Arrival { kind, phase, t0_ns, .. } = self.arrival;
            let key = Key::new(&key);
            let started = Fact::Started { journey: self.journey(member), kind, phase, t0_ns, key };
            context.outbox.push(context.now_ns, started);
        }
        context.scratch.body.extend_from_slice(close.as_bytes());
        match failed {
            Some(unset) => Err(RenderError::Unset(unset)),
            None => {
                let values = self.values(context, 0);
                request.render_around(action, &values, context.scratch)
            }
        }
    }

    fn values<'a>(&self, context: &Context<'a>, member: u32) -> RenderContext<'a> {
        RenderContext {
            seed: context.plan.seed,
            k: self.arrival.k + u64::from(member),
            run_id: context.run_id,
            key: "",
            variables: context.variables,
            own: &[],
            data: &context.plan.data,
        }
    }

    /// A request that could not even be written is a failed one, of every journey in it.
    fn cannot_send(&self, context: &mut Context<'_>, batch: &Batch, error: &RenderError) -> Step {
        let Arrival { kind, phase, .. } = self.arrival;
        let counter = context.series.not_sent(context.recorder, kind, ROOT, phase);
        context.recorder.add(counter, 1);
        let times = context.series.step(kind, ROOT, phase);
        let waited_ns = context.now_ns.saturating_sub(self.arrival.t0_ns);
        context.recorder.record(times.response, waited_ns);
        let reason = format!("{NOT_SENT}: {}", error.in_words(context.plan));
        let judged = Judged { accepted: 0, unexpected: Some(reason.clone()), reason };
        self.share_out(context, batch, &judged, context.now_ns);
        Step::Done
    }

    fn completed(&self, context: &mut Context<'_>, completion: &Completion) -> Step {
        let plan = context.plan;
        let step = &plan.journeys[usize::from(self.arrival.kind)].steps[ROOT];
        let Some(batch) = &step.batch else { return Step::Done };
        let judged = match &completion.outcome {
            Ok(response) => judge(step, batch, response),
            Err(failure) => {
                let reason = failure.kind.name().to_owned();
                Judged { accepted: 0, unexpected: Some(reason.clone()), reason }
            }
        };
        self.record(context, completion);
        narrate(context.narrator, || {
            format!("{} of {} events accepted", judged.accepted, batch.size)
        });
        self.share_out(context, batch, &judged, completion.ended_ns);
        Step::Done
    }

    /// Tells the ledger which journeys go on, and counts events and batches.
    fn share_out(&self, context: &mut Context<'_>, batch: &Batch, judged: &Judged, ended_ns: u64) {
        let Arrival { kind, phase, t0_ns, .. } = self.arrival;
        let response_ns = ended_ns.saturating_sub(t0_ns);
        let times = context.series.step(kind, ROOT, phase);
        let outcome = match &judged.unexpected {
            None => times.response_ok,
            Some(_) => times.response_failed,
        };
        context.recorder.record(outcome, response_ns);
        if let Some(reason) = &judged.unexpected {
            let counter = context.series.reason(context.recorder, kind, ROOT, phase, reason);
            context.recorder.add(counter, 1);
        }
        if let Some(series) = context.series.batch(kind, phase) {
            let counted = (batch.size, judged.accepted);
            series.count(context.recorder, counted, &judged.reason, response_ns);
        }
        for member in 0..batch.size {
            let journey = self.journey(member);
            let fact = match member < judged.accepted {
                true => Fact::RootCompleted { journey },
                false => Fact::RootFailed { journey },
            };
            context.outbox.push(ended_ns, fact);
        }
    }

    /// Counts the request, its times and its bytes.
    fn record(&self, context: &mut Context<'_>, completion: &Completion) {
        let Arrival { kind, phase, t0_ns, .. } = self.arrival;
        let recorder = &mut *context.recorder;
        let counter = match &completion.outcome {
            Ok(response) => context.series.status(recorder, kind, ROOT, phase, response.status),
            Err(failure) => {
                context.series.transport_failure(recorder, kind, ROOT, phase, failure.kind)
            }
        };
        recorder.add(counter, 1);
        let series = context.series.step(kind, ROOT, phase);
        series.completed(recorder, completion, t0_ns, self.began_ns);
        recorder.record(series.received_bytes, completion.bytes_in);
        recorder.record(series.sent_bytes, completion.bytes_out);
    }
}

impl Actor for BatchActor {
    fn step(&mut self, context: &mut Context<'_>, wake: Wake) -> Step {
        match wake {
            Wake::Start => self.begin(context),
            Wake::Completion(completion) => self.completed(context, &completion),
            Wake::Published(_) | Wake::Timer | Wake::Reached(_) => Step::Requesting,
        }
    }
}

/// Which events an answer has accepted.
fn judge(step: &PlanStep, batch: &Batch, response: &Response) -> Judged {
    let answer = Answer::new(response);
    let mut unexpected = answer.unexpected(&step.expect);
    let accepted = match &batch.accepted {
        None if unexpected.is_none() => batch.size,
        None => 0,
        Some(selector) => match count_of(&answer, selector) {
            Some(count) if count <= u64::from(batch.size) => count as u32,
            Some(count) => {
                let size = batch.size;
                unexpected = Some(format!("{count} events accepted of a batch of {size}"));
                0
            }
            None => {
                unexpected = unexpected.or_else(|| Some(answer.missing("accepted", selector)));
                0
            }
        },
    };
    let reason = unexpected.clone().unwrap_or_else(|| NOT_ACCEPTED.to_owned());
    Judged { accepted, unexpected, reason }
}

/// The number of events accepted: a list's length, or a number.
fn count_of(answer: &Answer<'_>, selector: &Selector) -> Option<u64> {
    let value = answer.select(selector)?;
    match value.as_array() {
        Some(list) => Some(list.len() as u64),
        None => value.as_u64().or_else(|| value.as_str()?.trim().parse().ok()),
    }
}

#[cfg(test)]
mod tests;
