//! Steps outside journeys: setup, teardown, refresh. One after the other, waited for.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_http::{BodyPolicy, Client, Exchange};
use sojourn_plan::{Action, Plan, RenderContext, Step};

use crate::{
    RunError, RunOptions,
    generator::{Answer, PreparedRequest, Scratch},
    options::narrate,
};

/// The newest values of what setup and refresh extracted, for the teardown and the poller.
#[derive(Clone, Debug)]
pub(crate) struct Latest(Arc<Versioned>);

#[derive(Debug)]
struct Versioned {
    values: Mutex<Vec<Option<Box<str>>>>,
    version: AtomicU64,
}

impl Latest {
    pub(crate) fn new(variables: Vec<Option<Box<str>>>) -> Self {
        Self(Arc::new(Versioned { values: Mutex::new(variables), version: AtomicU64::new(1) }))
    }

    /// Grows with each change, from 1.
    pub(crate) fn version(&self) -> u64 {
        self.0.version.load(Ordering::SeqCst)
    }

    pub(crate) fn values(&self) -> Vec<Option<Box<str>>> {
        self.0.values.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, variables: Vec<Option<Box<str>>>) {
        *self.0.values.lock().unwrap_or_else(PoisonError::into_inner) = variables;
        self.0.version.fetch_add(1, Ordering::SeqCst);
    }
}

/// Runs steps with a client of its own and keeps the variables they set.
pub(crate) struct StepRunner<'a> {
    plan: &'a Plan,
    options: &'a RunOptions,
    client: Client,
    scratch: Scratch,
    /// Values by variable.
    pub(crate) variables: Vec<Option<Box<str>>>,
}

impl<'a> StepRunner<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        options: &'a RunOptions,
        variables: Vec<Option<Box<str>>>,
    ) -> Result<Self, RunError> {
        let client = Client::new(options.client.clone()).map_err(|error| {
            RunError::new(
                format!("cannot make an HTTP client: {error}"),
                "check --ca and descriptors",
            )
        })?;
        Ok(Self { plan, options, client, scratch: Scratch::default(), variables })
    }

    /// Runs one step; errs in words when it is not answered as expected.
    pub(crate) fn run(&mut self, step: &Step) -> Result<(), String> {
        let Action::Http(action) = &step.action;
        let request = PreparedRequest::of_step(step, &mut self.client);
        let values = RenderContext {
            seed: self.plan.seed,
            k: 0,
            run_id: &self.options.run_id,
            key: "",
            variables: &self.variables,
            own: &[],
            data: &self.plan.data,
        };
        request
            .render(action, &values, &mut self.scratch)
            .map_err(|_| format!("step {}: a value it needs is not set", step.name))?;
        narrate(self.options.narrator.as_ref(), || format!("step {}", step.name));
        self.client.send(
            now_ns(),
            Exchange {
                token: 0,
                origin: request.origin,
                bytes: &self.scratch.message,
                head_only: action.method == "HEAD",
                timeout_ns: action.timeout_ns,
                body: BodyPolicy::Keep { bytes_max: action.body_max },
            },
        );
        let mut completions = Vec::new();
        while completions.is_empty() {
            self.client
                .wait_until(now_ns() + SECOND_NS, &mut completions)
                .map_err(|error| format!("step {}: {error}", step.name))?;
        }
        let response = match completions.pop().map(|completion| completion.outcome) {
            Some(Ok(response)) => response,
            Some(Err(failure)) => return Err(format!("step {}: {failure}", step.name)),
            None => return Err(format!("step {}: no answer", step.name)),
        };
        let answer = Answer::new(&response);
        if let Some(reason) = answer.unexpected(&step.expect) {
            return Err(format!("step {}: {reason}", step.name));
        }
        for extract in &step.extract {
            let index = usize::from(extract.variable.0);
            let name = &self.plan.variables[index];
            let Some(text) = answer.text(&extract.selector) else {
                let what = format!("variable {name}");
                return Err(format!(
                    "step {}: {}",
                    step.name,
                    answer.missing(&what, &extract.selector)
                ));
            };
            self.variables[index] = Some(text.into());
        }
        Ok(())
    }
}
