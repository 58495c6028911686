//! A plan's journey as an actor: its steps, one after the other.
//!
//! The root steps run from t0; when the root is done an actor without further steps is gone, and
//! the journey lives on only as an entry in the ledger. Steps that follow a stage wait here for the
//! ledger to wake them.

mod label;
mod members;
mod narration;
mod publish;
mod redirect;
mod retry;
mod trace;

use sojourn_http::{BodyPolicy, Completion, Exchange, Response};
use sojourn_ledger::{Fact, JourneyId, Key, Phase, Reading};
use sojourn_plan::{Action, HttpAction, KeyRule, Plan, RenderContext, Template, VariableId};

use super::{
    actor::{Actor, Context, Step, Wake},
    answer::{Answer, key_of},
    clock::Face,
    prepared::{PreparedRequest, RenderError},
    series::NOT_SENT,
};
use crate::options::narrate;
use members::Told;
pub(super) use narration::refusal;
use narration::{redacted, told};

/// Who a journey is and when it was due: everything fixed at its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) journey: JourneyId,
    pub(crate) kind: u16,
    pub(crate) phase: Phase,
    /// Scheduled instant, nanoseconds.
    pub(crate) t0_ns: u64,
    /// What randomness is drawn by.
    pub(crate) k: u64,
    /// The closed load's user who makes it: (load entry, user).
    pub(crate) user: Option<(u16, u32)>,
}

/// A journey under way at a generator.
#[derive(Debug)]
pub(crate) struct JourneyActor {
    pub(crate) arrival: Arrival,
    /// What it extracted itself.
    own: Vec<(VariableId, Box<str>)>,
    key: String,
    request: Option<UnderWay>,
    /// The next attempt, which a timer begins.
    paused: Option<UnderWay>,
    /// The last request of a redirect chain under way.
    redirected: Option<Box<HttpAction>>,
    root_done: usize,
    /// Stages reached, by bit, whose steps have not begun.
    stages_reached: u32,
    /// The ledger has ended the journey: no further step begins.
    ended: bool,
    /// Follow-up steps begun, by bit.
    follow_ups_begun: u32,
}

/// A request on its way.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    step: usize,
    /// When the step was due: t0 for the first, the end of what it waited for otherwise.
    due_ns: u64,
    /// When its first request began; redirects and further attempts belong to the same step.
    began_ns: u64,
    redirects: u32,
    /// From 1.
    attempt: u32,
    attempt_began_ns: u64,
    /// Of its requests before the present one.
    bytes_in: u64,
    bytes_out: u64,
    /// Of its last answer.
    status: Option<u16>,
}

impl UnderWay {
    fn new(step: usize, due_ns: u64, began_ns: u64) -> Self {
        Self {
            step,
            due_ns,
            began_ns,
            redirects: 0,
            attempt: 1,
            attempt_began_ns: began_ns,
            bytes_in: 0,
            bytes_out: 0,
            status: None,
        }
    }
}

/// What a checked answer says.
enum Judged {
    Accepted { key: Option<Key>, told: Told, reading: Option<Reading> },
    Refused(String),
}

impl JourneyActor {
    pub(crate) fn new(arrival: Arrival) -> Self {
        Self {
            arrival,
            own: Vec::new(),
            key: String::new(),
            request: None,
            paused: None,
            redirected: None,
            root_done: 0,
            stages_reached: 0,
            ended: false,
            follow_ups_begun: 0,
        }
    }

    /// The ledger has ended the journey; true when nothing is under way: the actor can go.
    pub(crate) fn end(&mut self) -> bool {
        self.ended = true;
        self.request.is_none() && self.paused.is_none()
    }

    /// Root steps that have ended well.
    pub(crate) fn root_done(&self) -> usize {
        self.root_done
    }

    fn kind(&self) -> usize {
        usize::from(self.arrival.kind)
    }

    /// Begins a step: registers a made key, renders, sends.
    fn begin(&mut self, context: &mut Context<'_>, step: usize, due_ns: u64) -> Step {
        let plan = context.plan;
        let spec = &plan.journeys[self.kind()].steps[step];
        let now_ns = context.now_ns;
        let made = match &spec.key {
            Some(KeyRule::Made(template)) => {
                let mut text = Vec::new();
                if let Err(unset) = self.render_text(context, template, &mut text) {
                    let under_way = UnderWay::new(step, due_ns, now_ns);
                    return self.cannot_send(context, under_way, &RenderError::Unset(unset));
                }
                self.key = String::from_utf8_lossy(&text).into_owned();
                Key::new(&text)
            }
            _ => None,
        };
        let journey = self.arrival.journey;
        if self.root_done == 0 && spec.after.is_none() {
            let Arrival { kind, phase, t0_ns, .. } = self.arrival;
            context.recorder.record(context.series.lag(phase), now_ns.saturating_sub(t0_ns));
            self.tell_label(context);
            let started = Fact::Started { journey, kind, phase, t0_ns, key: made };
            context.outbox.push(now_ns, started);
        } else {
            context.outbox.push(now_ns, Fact::StepBegan { journey, step: step as u8 });
            if let Some(key) = made {
                context.outbox.push(now_ns, Fact::Keyed { journey, key });
            }
        }
        self.attempt(context, UnderWay::new(step, due_ns, now_ns))
    }

    /// Renders and sends a step's request or message.
    fn attempt(&mut self, context: &mut Context<'_>, under_way: UnderWay) -> Step {
        let (plan, step) = (context.plan, under_way.step);
        let spec = &plan.journeys[self.kind()].steps[step];
        let action = match &spec.action {
            Action::Http(action) => action,
            Action::Publish(action) => return self.publish(context, under_way, action),
        };
        let Some(request) = &context.prepared.journeys[self.kind()].steps[step] else {
            return Step::Idle;
        };
        if let Err(error) = self.render(context, action, request) {
            return self.cannot_send(context, under_way, &error);
        }
        narrate(context.narrator, || {
            let host = &request.origin_name.host;
            let journey = &plan.journeys[self.kind()].name;
            let request = redacted(&context.scratch.message);
            format!("{journey}/{} -> {host}\n{request}", spec.name)
        });
        self.request = Some(under_way);
        send(context, action, request.origin, request.keeps_body, action.timeout_ns);
        Step::Requesting
    }

    /// What templates are rendered from.
    fn values<'a>(
        &'a self,
        plan: &'a Plan,
        run_id: &'a str,
        shared: &'a [Option<Box<str>>],
    ) -> RenderContext<'a> {
        RenderContext {
            seed: plan.seed,
            k: self.arrival.k,
            run_id,
            key: &self.key,
            variables: shared,
            own: &self.own,
            data: &plan.data,
        }
    }

    fn render(
        &self,
        context: &mut Context<'_>,
        action: &HttpAction,
        request: &PreparedRequest,
    ) -> Result<(), RenderError> {
        let values = self.values(context.plan, context.run_id, context.variables);
        let trace = self.traceparent(context.plan, context.prepared, context.run_id);
        request.render_traced(action, &values, trace.as_deref(), context.scratch)
    }

    fn render_text(
        &self,
        context: &Context<'_>,
        template: &Template,
        out: &mut Vec<u8>,
    ) -> Result<(), VariableId> {
        template.render(&self.values(context.plan, context.run_id, context.variables), out)
    }

    /// A request that could not even be written is a failed one, under a status of its own: every
    /// request is either ok or failed.
    fn cannot_send(
        &mut self,
        context: &mut Context<'_>,
        under_way: UnderWay,
        error: &RenderError,
    ) -> Step {
        let Arrival { kind, phase, .. } = self.arrival;
        let (recorder, step) = (&mut *context.recorder, under_way.step);
        let counter = context.series.not_sent(recorder, kind, step, phase);
        recorder.add(counter, 1);
        let known_ns = context.now_ns;
        let times = context.series.step(kind, step, phase);
        recorder.record(times.response, known_ns.saturating_sub(under_way.due_ns));
        let reason = format!("{NOT_SENT}: {}", error.in_words(context.plan));
        self.refused(context, under_way, known_ns, &reason)
    }

    fn completed(&mut self, context: &mut Context<'_>, completion: Completion) -> Step {
        let Some(mut under_way) = self.request.take() else {
            return Step::Idle;
        };
        under_way.status = completion.outcome.as_ref().ok().map(|response| response.status);
        let ended_ns = completion.ended_ns;
        let followed = match &completion.outcome {
            Ok(response) => self.follow_redirect(context, under_way, &completion, response),
            Err(_) => Ok(None),
        };
        let redirect_refused = match followed {
            Ok(Some(step)) => return step,
            Ok(None) => None,
            Err(reason) => Some(reason),
        };
        self.redirected = None;
        narrate(context.narrator, || told(&completion));
        let judged = match (&completion.outcome, redirect_refused) {
            (Err(failure), _) => Judged::Refused(failure.kind.name().to_owned()),
            (Ok(_), Some(reason)) => Judged::Refused(reason),
            (Ok(response), None) => self.judge(context, under_way, &completion, response),
        };
        if let Some(step) = self.try_again(context, &under_way, &completion, &judged) {
            return step;
        }
        self.record(context, under_way, &completion);
        match judged {
            Judged::Refused(reason) => self.refused(context, under_way, ended_ns, &reason),
            Judged::Accepted { key, told, reading } => {
                let journey = self.arrival.journey;
                if let Some(reading) = reading {
                    context.outbox.push(ended_ns, Fact::Read { journey, reading });
                }
                self.accepted(context, under_way, ended_ns, (key, told))
            }
        }
    }

    /// Checks an answer and takes values from it.
    fn judge(
        &mut self,
        context: &Context<'_>,
        under_way: UnderWay,
        completion: &Completion,
        response: &Response,
    ) -> Judged {
        let UnderWay { step, due_ns, .. } = under_way;
        let spec = &context.plan.journeys[self.kind()].steps[step];
        let answer = Answer::new(response);
        if let Some(reason) = answer.unexpected(&spec.expect) {
            return Judged::Refused(reason);
        }
        for extract in &spec.extract {
            let Some(text) = answer.text(&extract.selector) else {
                let name = &context.plan.variables[usize::from(extract.variable.0)];
                return Judged::Refused(
                    answer.missing(&format!("variable {name}"), &extract.selector),
                );
            };
            let text = text.into_boxed_str();
            match self.own.iter_mut().find(|(known, _)| *known == extract.variable) {
                Some((_, value)) => *value = text,
                None => self.own.push((extract.variable, text)),
            }
        }
        let key = match spec.key.as_ref().and_then(|rule| key_of(&answer, rule)) {
            Some(Err(reason)) => return Judged::Refused(reason),
            Some(Ok(text)) => {
                let key = Key::new(text.as_bytes());
                self.key = text;
                key
            }
            None => None,
        };
        let face = spec
            .clock
            .as_ref()
            .map(|rule| Face::of(rule, &answer, completion, (step, due_ns), context.now_ns));
        let reading = face.map(|face| face.reading(0));
        Judged::Accepted { key, told: self.told(context, step, &answer), reading }
    }

    fn accepted(
        &mut self,
        context: &mut Context<'_>,
        under_way: UnderWay,
        ended_ns: u64,
        (key, told): (Option<Key>, Told),
    ) -> Step {
        let (kind, phase) = (self.arrival.kind, self.arrival.phase);
        let series = context.series.step(kind, under_way.step, phase).response_ok;
        context.recorder.record(series, ended_ns.saturating_sub(under_way.due_ns));
        let journey = self.arrival.journey;
        if let Some(key) = key {
            context.outbox.push(ended_ns, Fact::Keyed { journey, key });
        }
        for (stage, members) in told {
            context.outbox.push(ended_ns, Fact::Told { journey, stage, members });
        }
        self.step_ended(context, ended_ns);
        let root = &context.prepared.journeys[self.kind()].root;
        if context.plan.journeys[self.kind()].steps[under_way.step].after.is_none() {
            self.root_done += 1;
            if let Some(&next) = root.get(self.root_done) {
                return self.begin(context, next, ended_ns);
            }
            context.outbox.push(ended_ns, Fact::RootCompleted { journey });
            if !self.ended {
                self.start_polls(context, ended_ns);
            }
        }
        self.next_follow_up(context, ended_ns)
    }

    /// Begins the next step whose stage was reached; says whether there is anything left to wait
    /// for.
    fn next_follow_up(&mut self, context: &mut Context<'_>, due_ns: u64) -> Step {
        let prepared = &context.prepared.journeys[self.kind()];
        if !prepared.has_follow_ups || self.ended {
            return Step::Done;
        }
        if self.request.is_some() || self.root_done < prepared.root.len() {
            return Step::Requesting;
        }
        let steps = &context.plan.journeys[self.kind()].steps;
        let not_begun = |index: &usize| {
            steps[*index].after.is_some() && self.follow_ups_begun & (1 << index) == 0
        };
        let ready = (0..steps.len()).filter(not_begun).find(|&index| {
            steps[index].after.is_some_and(|stage| self.stages_reached & (1 << stage) != 0)
        });
        if let Some(step) = ready {
            self.follow_ups_begun |= 1 << step;
            return self.begin(context, step, due_ns);
        }
        if (0..steps.len()).any(|index| not_begun(&index)) {
            return Step::Idle;
        }
        let journey = self.arrival.journey;
        context.outbox.push(due_ns, Fact::FollowUpsCompleted { journey });
        Step::Done
    }

    fn refused(
        &mut self,
        context: &mut Context<'_>,
        under_way: UnderWay,
        ended_ns: u64,
        reason: &str,
    ) -> Step {
        let Arrival { journey, kind, phase, .. } = self.arrival;
        narrate(context.narrator, || format!("refused: {reason}"));
        let series = context.series.reason(context.recorder, kind, under_way.step, phase, reason);
        context.recorder.add(series, 1);
        let failed = context.series.step(kind, under_way.step, phase).response_failed;
        context.recorder.record(failed, ended_ns.saturating_sub(under_way.due_ns));
        self.step_ended(context, ended_ns);
        let is_root = context.plan.journeys[self.kind()].steps[under_way.step].after.is_none();
        let why = Some(refusal(under_way.status, reason));
        let fact = match is_root {
            true => Fact::RootFailed { journey, why },
            false => Fact::FollowUpFailed { journey, why },
        };
        context.outbox.push(ended_ns, fact);
        Step::Done
    }

    /// Tells the ledger of a step's end, where it can't be told from the root's.
    fn step_ended(&self, context: &mut Context<'_>, ended_ns: u64) {
        if context.plan.journeys[self.kind()].steps.len() > 1 {
            context.outbox.push(ended_ns, Fact::StepEnded { journey: self.arrival.journey });
        }
    }

    /// Counts a step's last request: its status, its times, and the bytes of all its requests.
    fn record(&self, context: &mut Context<'_>, under_way: UnderWay, completion: &Completion) {
        let Arrival { kind, phase, .. } = self.arrival;
        let (recorder, step) = (&mut *context.recorder, under_way.step);
        let counter = match &completion.outcome {
            Ok(response) => context.series.status(recorder, kind, step, phase, response.status),
            Err(failure) => {
                context.series.transport_failure(recorder, kind, step, phase, failure.kind)
            }
        };
        recorder.add(counter, 1);
        let series = context.series.step(kind, step, phase);
        series.completed(recorder, completion, under_way.due_ns, under_way.began_ns);
        recorder.record(series.received_bytes, under_way.bytes_in + completion.bytes_in);
        recorder.record(series.sent_bytes, under_way.bytes_out + completion.bytes_out);
    }

    fn start_polls(&self, context: &mut Context<'_>, root_ended_ns: u64) {
        let prepared = &context.prepared.journeys[self.kind()];
        for &stage in &prepared.polled {
            let values = self.values(context.plan, context.run_id, context.variables);
            if !context.polls.start(context.plan, (&self.arrival, root_ended_ns), stage, &values) {
                context.outbox.refuse();
            }
        }
    }
}

impl Actor for JourneyActor {
    fn step(&mut self, context: &mut Context<'_>, wake: Wake) -> Step {
        match wake {
            Wake::Start => {
                let first = context.prepared.journeys[self.kind()].root[0];
                self.begin(context, first, self.arrival.t0_ns)
            }
            Wake::Completion(completion) => self.completed(context, completion),
            Wake::Published(outcome) => self.published(context, outcome),
            Wake::Timer => self.go_on(context),
            Wake::Reached(stage) => {
                self.stages_reached |= 1 << stage;
                if self.request.is_some() {
                    return Step::Requesting;
                }
                self.next_follow_up(context, context.now_ns)
            }
        }
    }
}

/// Hands the rendered message to the client.
pub(super) fn send(
    context: &mut Context<'_>,
    action: &HttpAction,
    origin: sojourn_http::OriginId,
    keeps_body: bool,
    timeout_ns: u64,
) {
    let body = if keeps_body {
        BodyPolicy::Keep { bytes_max: action.body_max }
    } else {
        BodyPolicy::Discard
    };
    context.client.send(
        context.now_ns,
        Exchange {
            token: context.token,
            origin,
            bytes: &context.scratch.message,
            head_only: action.method == "HEAD",
            timeout_ns,
            body,
        },
    );
}
