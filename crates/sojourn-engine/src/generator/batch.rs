//! A batch as an actor: one request with the events of several journeys.
//!
//! Its journeys share the scheduled instant, the request and its times; each has a key of its own,
//! registered before the request is sent, and an entry of its own in the ledger. The answer says
//! which of them were accepted: those are followed, the others are failed roots. Further steps send
//! the events of those that go on once more: keys are a function of the journey's number, so they
//! are made again instead of being kept.

mod series;

use sojourn_clock::now_ns;
use sojourn_http::Completion;
use sojourn_ledger::{Fact, JourneyId, Key};
use sojourn_plan::{Batch, HttpAction, KeyRule, RenderContext, Selector, Step as PlanStep};

use super::{
    actor::{Actor, Context, Step, Wake},
    answer::Answer,
    clock::Face,
    journey::{Arrival, refusal, send},
    prepared::{PreparedRequest, RenderError},
    series::NOT_SENT,
};
use crate::options::narrate;
pub(super) use series::{BatchSeries, batch_series};

/// Why an event was not accepted where the answer is as expected.
const NOT_ACCEPTED: &str = "not among those accepted";

/// A batch under way at a generator.
#[derive(Debug)]
pub(crate) struct BatchActor {
    /// Of its first journey; the others' numbers follow.
    pub(crate) arrival: Arrival,
    /// The step under way.
    step: usize,
    /// Journeys in it, the first ones: those whose events every step before has had accepted.
    going_on: u32,
    /// When the step was due: t0 for the first, the end of the one before for others.
    due_ns: u64,
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
    /// The foreign clock that it shows.
    face: Option<Face>,
    /// Its status, where there was an answer.
    status: Option<u16>,
}

impl Judged {
    /// No event was accepted.
    fn refused(reason: String) -> Self {
        Self { accepted: 0, unexpected: Some(reason.clone()), reason, face: None, status: None }
    }
}

impl BatchActor {
    pub(crate) fn new(arrival: Arrival, size: u32) -> Self {
        let t0_ns = arrival.t0_ns;
        Self { arrival, step: 0, going_on: size, due_ns: t0_ns, began_ns: t0_ns }
    }

    fn kind(&self) -> usize {
        usize::from(self.arrival.kind)
    }

    fn journey(&self, member: u32) -> JourneyId {
        JourneyId(self.arrival.journey.0 + u64::from(member))
    }

    /// Writes every event, then sends the request. At the first step each journey is registered
    /// with its key while its event is written.
    fn begin(&mut self, context: &mut Context<'_>) -> Step {
        let plan = context.plan;
        let step = &plan.journeys[self.kind()].steps[self.step];
        let (Some(batch), Some(action)) = (&step.batch, step.action.http()) else {
            return Step::Done;
        };
        let prepared = context.prepared;
        let Some(request) = &prepared.journeys[self.kind()].steps[self.step] else {
            return Step::Done;
        };
        let written = self.write(context, batch, (action, request));
        // Writing thousands of events takes its time: ours, so it is lag and not the system's.
        context.now_ns = now_ns();
        self.began_ns = context.now_ns;
        if self.step == 0 {
            let lag_ns = context.now_ns.saturating_sub(self.arrival.t0_ns);
            context.recorder.record(context.series.lag(self.arrival.phase), lag_ns);
        }
        if let Err(error) = written {
            return self.cannot_send(context, &error);
        }
        narrate(context.narrator, || {
            let name = &plan.journeys[self.kind()].name;
            format!("{name}/{}: {} events in one request", step.name, self.going_on)
        });
        send(context, action, request.origin, request.keeps_body, action.timeout_ns);
        Step::Requesting
    }

    /// Writes the whole message, and tells the ledger of each journey as its event is written.
    /// Every journey has begun the step, whatever cannot be written.
    fn write(
        &self,
        context: &mut Context<'_>,
        batch: &Batch,
        (action, request): (&HttpAction, &PreparedRequest),
    ) -> Result<(), RenderError> {
        let plan = context.plan;
        let [open, between, close] = batch.form.around();
        let mut failed = None;
        let mut key = Vec::new();
        context.scratch.body.clear();
        context.scratch.body.extend_from_slice(open.as_bytes());
        for member in 0..self.going_on {
            if member > 0 {
                context.scratch.body.extend_from_slice(between.as_bytes());
            }
            key.clear();
            let mut values = self.values(context, member);
            // The plan's reader has keys made by the first step, for all of them.
            if let Some(KeyRule::Made(template)) = &plan.journeys[self.kind()].steps[0].key {
                let made = template.render(&values, &mut key);
                failed = failed.or_else(|| made.err());
            }
            let text = String::from_utf8_lossy(&key);
            values.key = &text;
            if let Some(body) = &action.body {
                let made = body.render(&values, &mut context.scratch.body);
                failed = failed.or_else(|| made.err());
            }
            if let (0, Some(template)) = (self.step, &plan.journeys[self.kind()].label) {
                let journey = self.journey(member);
                context.outbox.push_label(context.now_ns, journey, template, &values);
            }
            let begun = self.begun(member, Key::new(&key));
            context.outbox.push(context.now_ns, begun);
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

    /// What the ledger hears of a journey whose step begins.
    fn begun(&self, member: u32, key: Option<Key>) -> Fact {
        let journey = self.journey(member);
        match self.step {
            0 => {
                let Arrival { kind, phase, t0_ns, .. } = self.arrival;
                Fact::Started { journey, kind, phase, t0_ns, key }
            }
            // At most 32 steps.
            step => Fact::StepBegan { journey, step: step as u8 },
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
    fn cannot_send(&mut self, context: &mut Context<'_>, error: &RenderError) -> Step {
        let Arrival { kind, phase, .. } = self.arrival;
        let counter = context.series.not_sent(context.recorder, kind, self.step, phase);
        context.recorder.add(counter, 1);
        let times = context.series.step(kind, self.step, phase);
        let waited_ns = context.now_ns.saturating_sub(self.due_ns);
        context.recorder.record(times.response, waited_ns);
        let reason = format!("{NOT_SENT}: {}", error.in_words(context.plan));
        let judged = Judged::refused(reason);
        self.share_out(context, &judged, context.now_ns);
        Step::Done
    }

    fn completed(&mut self, context: &mut Context<'_>, completion: &Completion) -> Step {
        let plan = context.plan;
        let step = &plan.journeys[self.kind()].steps[self.step];
        let Some(batch) = &step.batch else { return Step::Done };
        let judged = match &completion.outcome {
            Ok(response) => {
                let answer = Answer::new(response);
                let at = (self.step, self.due_ns);
                let face = step.clock.as_ref();
                let face = face.map(|rule| Face::of(rule, &answer, completion, at, context.now_ns));
                let status = Some(response.status);
                Judged { face, status, ..judge(step, batch, &answer, self.going_on) }
            }
            Err(failure) => Judged::refused(failure.kind.name().to_owned()),
        };
        self.record(context, completion);
        narrate(context.narrator, || {
            format!("{} of {} events accepted", judged.accepted, self.going_on)
        });
        self.share_out(context, &judged, completion.ended_ns);
        self.go_on(context, judged.accepted, completion.ended_ns)
    }

    /// Begins the next step with the journeys that were accepted, if there is one.
    fn go_on(&mut self, context: &mut Context<'_>, accepted: u32, ended_ns: u64) -> Step {
        if accepted == 0 || self.is_last(context) {
            return Step::Done;
        }
        self.step += 1;
        self.going_on = accepted;
        self.due_ns = ended_ns;
        self.begin(context)
    }

    fn is_last(&self, context: &Context<'_>) -> bool {
        self.step + 1 >= context.plan.journeys[self.kind()].steps.len()
    }

    /// Tells the ledger which journeys go on, and counts events and batches.
    fn share_out(&self, context: &mut Context<'_>, judged: &Judged, ended_ns: u64) {
        let Arrival { kind, phase, .. } = self.arrival;
        let response_ns = ended_ns.saturating_sub(self.due_ns);
        let times = context.series.step(kind, self.step, phase);
        let outcome = match &judged.unexpected {
            None => times.response_ok,
            Some(_) => times.response_failed,
        };
        context.recorder.record(outcome, response_ns);
        if let Some(reason) = &judged.unexpected {
            let counter = context.series.reason(context.recorder, kind, self.step, phase, reason);
            context.recorder.add(counter, 1);
        }
        if let Some(series) = context.series.batch(kind, self.step, phase) {
            let counted = (self.going_on, judged.accepted);
            series.count(context.recorder, counted, &judged.reason, response_ns);
        }
        let is_last = self.is_last(context);
        let has_several = context.plan.journeys[self.kind()].steps.len() > 1;
        for member in 0..self.going_on {
            let journey = self.journey(member);
            let is_accepted = member < judged.accepted;
            if let (Some(face), true) = (&judged.face, is_accepted) {
                let reading = face.reading(member as usize);
                context.outbox.push(ended_ns, Fact::Read { journey, reading });
            }
            if has_several {
                context.outbox.push(ended_ns, Fact::StepEnded { journey });
            }
            match (is_accepted, is_last) {
                (false, _) => {
                    let why = Some(refusal(judged.status, &judged.reason));
                    context.outbox.push(ended_ns, Fact::RootFailed { journey, why });
                }
                (true, true) => context.outbox.push(ended_ns, Fact::RootCompleted { journey }),
                (true, false) => {}
            }
        }
    }

    /// Counts the request, its times and its bytes.
    fn record(&self, context: &mut Context<'_>, completion: &Completion) {
        let Arrival { kind, phase, .. } = self.arrival;
        let (recorder, step) = (&mut *context.recorder, self.step);
        let counter = match &completion.outcome {
            Ok(response) => context.series.status(recorder, kind, step, phase, response.status),
            Err(failure) => {
                context.series.transport_failure(recorder, kind, step, phase, failure.kind)
            }
        };
        recorder.add(counter, 1);
        let series = context.series.step(kind, step, phase);
        series.completed(recorder, completion, self.due_ns, self.began_ns);
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

/// Which of so many events an answer has accepted.
fn judge(step: &PlanStep, batch: &Batch, answer: &Answer<'_>, sent: u32) -> Judged {
    let mut unexpected = answer.unexpected(&step.expect);
    let accepted = match &batch.accepted {
        None if unexpected.is_none() => sent,
        None => 0,
        Some(selector) => match count_of(answer, selector) {
            Some(count) if count <= u64::from(sent) => count as u32,
            Some(count) => {
                unexpected = Some(format!("{count} events accepted of a batch of {sent}"));
                0
            }
            None => {
                unexpected = unexpected.or_else(|| Some(answer.missing("accepted", selector)));
                0
            }
        },
    };
    let reason = unexpected.clone().unwrap_or_else(|| NOT_ACCEPTED.to_owned());
    Judged { accepted, unexpected, reason, face: None, status: None }
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
