//! A plan's requests, made ready for one client.

use sojourn_http::{Client, Origin, OriginId, origin_host_header};
use sojourn_plan::{Action, Expect, HttpAction, Plan, Step, Teller, VariableId};

use super::{
    actor::Scratch,
    carried_trace::{names_beside, structured_with},
};

/// Every request of a plan with its origin registered.
#[derive(Debug)]
pub(crate) struct PreparedPlan {
    /// Per journey, per step.
    pub(crate) journeys: Vec<PreparedJourney>,
    /// Hosts that a redirect may go to.
    pub(crate) hosts: Vec<String>,
}

/// One journey's requests.
#[derive(Debug)]
pub(crate) struct PreparedJourney {
    /// `None`: the step publishes.
    pub(crate) steps: Vec<Option<PreparedRequest>>,
    /// Indices of the steps that are the root.
    pub(crate) root: Vec<usize>,
    /// Whether steps follow a stage.
    pub(crate) has_follow_ups: bool,
    /// Indices of polled stages.
    pub(crate) polled: Vec<usize>,
    /// Whether an actor of it wants to know that the ledger has ended its journey.
    pub(crate) hears_of_end: bool,
    /// Whether its requests and messages carry a trace context.
    pub(crate) trace: bool,
}

/// A request ready to be rendered.
#[derive(Debug)]
pub(crate) struct PreparedRequest {
    pub(crate) origin: OriginId,
    pub(crate) origin_name: Origin,
    host_header: String,
    /// The whole message, when nothing in it changes.
    literal: Option<Vec<u8>>,
    /// Whether the answer's head and body are looked at.
    pub(crate) keeps_body: bool,
}

/// Why a request could not be rendered.
#[derive(Debug)]
pub(crate) enum RenderError {
    /// A variable has no value yet.
    Unset(VariableId),
    /// A value cannot stand where it was put.
    Invalid(String),
}

impl RenderError {
    /// Why, in words.
    pub(crate) fn in_words(&self, plan: &Plan) -> String {
        match self {
            Self::Unset(variable) => {
                let name = plan.variables.get(usize::from(variable.0));
                format!("variable {} has no value", name.map_or("?", String::as_str))
            }
            Self::Invalid(what) => what.clone(),
        }
    }
}

impl PreparedPlan {
    pub(crate) fn new(plan: &Plan, client: &mut Client) -> Self {
        let journeys: Vec<_> = plan
            .journeys
            .iter()
            .map(|journey| {
                let mut steps: Vec<_> = journey
                    .steps
                    .iter()
                    .map(|step| PreparedRequest::of_step(step, client))
                    .collect();
                for (step, request) in steps.iter_mut().enumerate() {
                    if let Some(request) = request {
                        request.keeps_body |= tells(journey, step);
                    }
                }
                PreparedJourney {
                    steps,
                    root: (0..journey.steps.len())
                        .filter(|&index| journey.steps[index].after.is_none())
                        .collect(),
                    has_follow_ups: journey.steps.iter().any(|step| step.after.is_some()),
                    hears_of_end: hears_of_end(journey),
                    trace: journey.trace,
                    polled: (0..journey.stages.len())
                        .filter(|&index| {
                            matches!(
                                journey.stages[index].source,
                                sojourn_plan::StageSource::Poll(_)
                            )
                        })
                        .collect(),
                }
            })
            .collect();
        Self { journeys, hosts: super::redirect::hosts(plan) }
    }
}

/// Whether the answer to a step says how many members a stage has.
fn tells(journey: &sojourn_plan::Journey, step: usize) -> bool {
    journey.stages.iter().any(|stage| match &stage.expect {
        Expect::Told { by, .. } => *by == Teller::Step(step),
        Expect::Members(_) => false,
    })
}

/// Whether actors of a journey are told of its end: no step, and no polling, begins after it.
pub(crate) fn hears_of_end(journey: &sojourn_plan::Journey) -> bool {
    journey.steps.iter().any(|step| step.after.is_some()) || crate::poller::is_polled(journey)
}

/// Where a request goes.
pub(crate) fn origin_of(action: &HttpAction) -> Origin {
    Origin { tls: action.tls, host: action.host.clone(), port: action.port }
}

impl PreparedRequest {
    /// The request of a step; `None`: it publishes.
    pub(crate) fn of_step(step: &Step, client: &mut Client) -> Option<Self> {
        let Action::Http(action) = &step.action else {
            return None;
        };
        let looks_deeper =
            |selector: &sojourn_plan::Selector| !matches!(selector, sojourn_plan::Selector::Status);
        let keeps_body = !step.extract.is_empty()
            || matches!(step.key, Some(sojourn_plan::KeyRule::Received { .. }))
            || step.batch.as_ref().is_some_and(|batch| batch.accepted.is_some())
            || step.clock.is_some()
            || step.expect.iter().any(|check| looks_deeper(&check.selector))
            || action.redirects_max > 0;
        Some(Self::of_action(action, keeps_body, client))
    }

    /// A request of its own, such as a poll's.
    pub(crate) fn of_action(action: &HttpAction, keeps_body: bool, client: &mut Client) -> Self {
        let origin_name = origin_of(action);
        let host_header = origin_host_header(&origin_name);
        let is_literal = action.path.is_literal()
            && action.headers.iter().all(|(_, value)| value.is_literal())
            && action.body.as_ref().is_none_or(sojourn_plan::Template::is_literal);
        let mut prepared = Self {
            origin: client.origin(&origin_name),
            origin_name,
            host_header,
            literal: None,
            keeps_body,
        };
        if is_literal {
            let nothing = sojourn_plan::RenderContext {
                seed: 0,
                k: 0,
                run_id: "",
                key: "",
                variables: &[],
                own: &[],
                data: &[],
            };
            let mut scratch = Scratch::default();
            if prepared.render(action, &nothing, &mut scratch).is_ok() {
                prepared.literal = Some(scratch.message);
            }
        }
        prepared
    }

    /// Renders the message into `scratch.message`.
    pub(crate) fn render(
        &self,
        action: &HttpAction,
        values: &sojourn_plan::RenderContext<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), RenderError> {
        self.render_traced(action, values, None, scratch)
    }

    /// The same with a trace context, unless the plan sets its own.
    pub(crate) fn render_traced(
        &self,
        action: &HttpAction,
        values: &sojourn_plan::RenderContext<'_>,
        trace: Option<&str>,
        scratch: &mut Scratch,
    ) -> Result<(), RenderError> {
        scratch.message.clear();
        if let (Some(literal), None) = (&self.literal, trace) {
            scratch.message.extend_from_slice(literal);
            return Ok(());
        }
        scratch.path.clear();
        action.path.render(values, &mut scratch.path).map_err(RenderError::Unset)?;
        scratch.body.clear();
        if let Some(body) = &action.body {
            body.render(values, &mut scratch.body).map_err(RenderError::Unset)?;
        }
        self.write(action, values, trace, scratch)
    }

    /// The message around a body that stands in `scratch.body` already.
    pub(crate) fn render_around(
        &self,
        action: &HttpAction,
        values: &sojourn_plan::RenderContext<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), RenderError> {
        scratch.message.clear();
        scratch.path.clear();
        action.path.render(values, &mut scratch.path).map_err(RenderError::Unset)?;
        self.write(action, values, None, scratch)
    }

    /// Writes the message: path and body are rendered.
    fn write(
        &self,
        action: &HttpAction,
        values: &sojourn_plan::RenderContext<'_>,
        trace: Option<&str>,
        scratch: &mut Scratch,
    ) -> Result<(), RenderError> {
        // Header values are rendered one after the other into one buffer, then pointed into.
        scratch.value.clear();
        let mut ends = smallvec::SmallVec::<[usize; 16]>::new();
        for (_, value) in &action.headers {
            value.render(values, &mut scratch.value).map_err(RenderError::Unset)?;
            ends.push(scratch.value.len());
        }
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let mut headers: smallvec::SmallVec<[(&str, &[u8]); 16]> = action
            .headers
            .iter()
            .zip(starts.zip(&ends))
            .map(|((name, _), (start, &end))| (name.as_str(), &scratch.value[start..end]))
            .collect();
        if let Some(trace) = trace {
            if let Some(body) = structured_with(&headers, &scratch.body, trace) {
                scratch.body = body;
            }
            headers.extend(names_beside(&headers).into_iter().map(|name| (name, trace.as_bytes())));
        }
        let path = std::str::from_utf8(&scratch.path)
            .map_err(|_| RenderError::Invalid("the path is not UTF-8".to_owned()))?;
        sojourn_http::write_request(
            &action.method,
            path,
            &self.host_header,
            &headers,
            &scratch.body,
            &mut scratch.message,
        )
        .map_err(|error| RenderError::Invalid(error.to_string()))
    }
}
