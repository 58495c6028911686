//! Journeys, steps and stages.

use crate::{Batch, Check, ClockRule, Expect, Poison, Retry, Selector, Template, VariableId};

/// One root action and the events it causes.
#[derive(Clone, Debug)]
pub struct Journey {
    /// Name.
    pub name: String,
    /// Steps in order. Those without `after` are the root and run one after the other from t0;
    /// the others run when their stage is reached.
    pub steps: Vec<Step>,
    /// Stages in declared order. Empty: an API test.
    pub stages: Vec<Stage>,
    /// Deadline of the journey, from t0, nanoseconds.
    pub within_ns: u64,
    /// How long it is observed beyond the deadline, nanoseconds.
    pub linger_ns: u64,
    /// Whether its requests and messages carry a trace context.
    pub trace: bool,
    /// Whose it is: a tenant, a region. Rendered once, at the journey's start.
    pub label: Option<Template>,
    /// Whose poisoned journeys these are, where they are: a journey apart, which differs from the
    /// other by what its root sends.
    pub poison: Option<Poison>,
}

impl Journey {
    /// How its root sends several journeys in one request, where it does.
    pub fn batch(&self) -> Option<&Batch> {
        self.steps.first()?.batch.as_ref()
    }

    /// Journeys that one arrival starts.
    pub fn per_arrival(&self) -> u32 {
        self.batch().map_or(1, |batch| batch.size)
    }
}

/// A named action.
#[derive(Clone, Debug)]
pub struct Step {
    /// Name, unique in the journey.
    pub name: String,
    /// Index of the stage it waits for; `None`: part of the root.
    pub after: Option<usize>,
    /// What it does.
    pub action: Action,
    /// Conditions on the answer; a step without any expects a 2xx or 3xx status.
    pub expect: Vec<Check>,
    /// Values taken from the answer.
    pub extract: Vec<Extract>,
    /// The journey's key, when this step makes or receives it.
    pub key: Option<KeyRule>,
    /// When it is tried again; only root steps are.
    pub retry: Option<Retry>,
    /// When it sends the events of several journeys at once; then all steps of the journey do.
    pub batch: Option<Batch>,
    /// Where its answer shows a foreign clock.
    pub clock: Option<ClockRule>,
}

impl Step {
    /// A step as reports and thresholds know it, where what is sent comes from elsewhere: a
    /// target's file, a session's program.
    pub fn named(name: String, timeout_ns: u64) -> Self {
        let action = HttpAction {
            method: "GET".to_owned(),
            tls: false,
            host: String::new(),
            port: 0,
            path: Template::literal("/"),
            headers: Vec::new(),
            body: None,
            timeout_ns,
            redirects_max: 0,
            body_max: 0,
        };
        Self {
            name,
            after: None,
            action: Action::Http(action),
            expect: Vec::new(),
            extract: Vec::new(),
            key: None,
            retry: None,
            batch: None,
            clock: None,
        }
    }

    /// The longest it can take, nanoseconds: every attempt's timeout and the pauses between them.
    pub fn time_max_ns(&self) -> u64 {
        let timeout_ns = match &self.action {
            Action::Http(action) => action.timeout_ns,
            Action::Publish(action) => action.timeout_ns,
        };
        let attempts = self.retry.as_ref().map_or(1, |retry| retry.attempts);
        let pauses_ns = self
            .retry
            .iter()
            .flat_map(|retry| (1..retry.attempts).map(|attempt| retry.pause_ns(attempt)));
        let waiting_ns = pauses_ns.fold(0, u64::saturating_add);
        timeout_ns.saturating_mul(attempts.into()).saturating_add(waiting_ns)
    }
}

/// What a step does. More kinds come with other protocols.
#[derive(Clone, Debug)]
pub enum Action {
    /// An HTTP request.
    Http(HttpAction),
    /// A message to a channel's broker.
    Publish(PublishAction),
}

impl Action {
    /// The HTTP request that it is, if it is one.
    pub fn http(&self) -> Option<&HttpAction> {
        match self {
            Self::Http(action) => Some(action),
            Self::Publish(_) => None,
        }
    }
}

/// A message to a channel's broker. It is done when the broker has acknowledged it.
#[derive(Clone, Debug)]
pub struct PublishAction {
    /// Index of the channel.
    pub channel: usize,
    /// Topic, subject, routing key, stream or queue; the channel's first where the plan names none.
    pub topic: Template,
    /// The message's key, where it has one.
    pub key: Option<Template>,
    /// Headers. The run marker is among them unless the plan sets its own.
    pub headers: Vec<(String, Template)>,
    /// The payload.
    pub body: Template,
    /// How long the acknowledgement is waited for, nanoseconds.
    pub timeout_ns: u64,
}

/// An HTTP request.
#[derive(Clone, Debug)]
pub struct HttpAction {
    /// Method, upper case.
    pub method: String,
    /// Where to; never a template: a load tool only goes to hosts its plan names.
    pub tls: bool,
    /// Host.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Path and query.
    pub path: Template,
    /// Headers beside Host, Content-Length and (with `json`) Content-Type, which are made.
    pub headers: Vec<(String, Template)>,
    /// Body.
    pub body: Option<Template>,
    /// Timeout, nanoseconds.
    pub timeout_ns: u64,
    /// Most redirects followed; 0: a redirect is an answer like any other.
    pub redirects_max: u32,
    /// Most body bytes kept where something is extracted or checked.
    pub body_max: usize,
}

/// A value taken from an answer.
#[derive(Clone, Debug)]
pub struct Extract {
    /// Into this variable.
    pub variable: VariableId,
    /// From here.
    pub selector: Selector,
}

/// How a step yields the journey's key.
#[derive(Clone, Debug)]
pub enum KeyRule {
    /// The client makes it: known, and registered, before the request is sent.
    Made(Template),
    /// From the answer, written into `format` in place of `{}`.
    Received {
        /// Where.
        selector: Selector,
        /// Text around the value, such as `pay:{}`; `{}` alone for the value itself.
        format: String,
    },
}

/// A named point that a journey must or may reach.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Name, unique in the journey.
    pub name: String,
    /// Where it is seen.
    pub source: StageSource,
    /// What reaching it means.
    pub kind: StageKind,
    /// Index of the stage its hop counts from; `None`: the step before it.
    pub after: Option<usize>,
    /// How many distinct members reach it.
    pub expect: Expect,
    /// What tells members apart, where several are expected.
    pub member: Option<Selector>,
    /// An event counts for this stage even if an earlier one took it.
    pub shared: bool,
    /// Where the event of a failure says why.
    pub reason: Option<Selector>,
    /// A further key that its event yields, under which later events come: where, and the text
    /// around it as in [`KeyRule::Received`].
    pub rekey: Option<(Selector, String)>,
    /// Where its event shows a foreign clock.
    pub clock: Option<ClockRule>,
}

impl Stage {
    /// A required stage, reached by one event, with nothing else to it.
    pub fn new(name: &str, source: StageSource) -> Self {
        Self {
            name: name.to_owned(),
            source,
            kind: StageKind::Required,
            after: None,
            expect: Expect::Members(1),
            member: None,
            shared: false,
            reason: None,
            rekey: None,
            clock: None,
        }
    }
}

/// Where a stage is seen.
#[derive(Clone, Debug)]
pub enum StageSource {
    /// An event on a channel.
    Event {
        /// Index of the channel.
        channel: usize,
        /// Which events.
        matches: Vec<Check>,
        /// Content that must hold once matched; if not, the journey fails.
        checks: Vec<Check>,
        /// The key in the event.
        key: Selector,
        /// Text around the key in the event, as in [`KeyRule::Received`].
        key_format: String,
    },
    /// A state asked for until it holds.
    Poll(Poll),
}

/// A polled stage: GET until a predicate holds.
#[derive(Clone, Debug)]
pub struct Poll {
    /// The request.
    pub action: HttpAction,
    /// The predicate.
    pub until: Vec<Check>,
    /// Interval, nanoseconds: the reading error of the stage.
    pub every_ns: u64,
    /// Most requests per second over all journeys; polls beyond it wait and are counted.
    pub budget_per_s: f64,
}

/// What reaching a stage means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StageKind {
    /// The journey is not complete without it.
    #[default]
    Required,
    /// May be reached.
    Optional,
    /// Must not be reached.
    Never,
    /// Terminal failure, such as a dead letter.
    Failure,
    /// One of the alternatives of this group, numbered from 0 within the journey: the journey is
    /// not complete without one of them.
    Branch(u8),
}
