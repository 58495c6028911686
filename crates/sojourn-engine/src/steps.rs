//! Steps outside journeys: setup, teardown, refresh. One after the other, waited for.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_http::{BodyPolicy, Client, Exchange, Response};
use sojourn_plan::{Action, HttpAction, Plan, RenderContext, Step, VariableId};

use crate::{
    RunError, RunOptions,
    client_error::client_error,
    generator::{Answer, PreparedRequest, Scratch, hosts, key_of, next_action},
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
    /// Hosts that a redirect may go to.
    hosts: Vec<String>,
    scratch: Scratch,
    /// Values by variable.
    pub(crate) variables: Vec<Option<Box<str>>>,
    /// The journey's key, where there is a journey and it is known.
    pub(crate) key: String,
}

impl<'a> StepRunner<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        options: &'a RunOptions,
        variables: Vec<Option<Box<str>>>,
    ) -> Result<Self, RunError> {
        let client = Client::new(options.client.clone()).map_err(|error| client_error(&error))?;
        let hosts = hosts(plan);
        Ok(Self {
            plan,
            options,
            client,
            hosts,
            scratch: Scratch::default(),
            variables,
            key: String::new(),
        })
    }

    /// Runs one step for the `k`-th time, counted from 0: what its templates draw by, as a
    /// journey's by its number. Errs in words when it is not answered as expected.
    pub(crate) fn run(&mut self, step: &Step, k: u64) -> Result<(), String> {
        self.run_keyed(step, k).map(drop)
    }

    /// The same; the key that the answer yields, where the step says how.
    pub(crate) fn run_keyed(&mut self, step: &Step, k: u64) -> Result<Option<String>, String> {
        narrate(self.options.narrator.as_ref(), || format!("step {}", step.name));
        let Action::Http(action) = &step.action else {
            return Err(format!("step {}: only journeys publish", step.name));
        };
        let response =
            self.answer(action, k).map_err(|why| format!("step {}: {why}", step.name))?;
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
        match step.key.as_ref().and_then(|rule| key_of(&answer, rule)) {
            Some(key) => key.map(Some).map_err(|why| format!("step {}: {why}", step.name)),
            None => Ok(None),
        }
    }

    /// The answer to a request and the redirects that the plan lets it follow, within its timeout.
    fn answer(&mut self, first: &HttpAction, k: u64) -> Result<Response, String> {
        let until_ns = now_ns().saturating_add(first.timeout_ns);
        let mut redirects = 0;
        let mut redirected = None;
        loop {
            let action = redirected.as_ref().unwrap_or(first);
            let response = self.exchange(action, k, until_ns)?;
            if redirects == first.redirects_max {
                return Ok(response);
            }
            let mut path = Vec::new();
            action.path.render(&self.values(k), &mut path).map_err(unset)?;
            let path = String::from_utf8_lossy(&path);
            let Some(next) = next_action(action, &path, &response, &self.hosts)? else {
                return Ok(response);
            };
            redirects += 1;
            redirected = Some(next);
        }
    }

    /// One request and its answer.
    fn exchange(&mut self, action: &HttpAction, k: u64, until_ns: u64) -> Result<Response, String> {
        let request = PreparedRequest::of_action(action, true, &mut self.client);
        let mut scratch = std::mem::take(&mut self.scratch);
        let rendered = request.render(action, &self.values(k), &mut scratch);
        self.scratch = scratch;
        rendered.map_err(|error| error.in_words(self.plan))?;
        let begun_ns = now_ns();
        self.client.send(
            begun_ns,
            Exchange {
                token: 0,
                origin: request.origin,
                bytes: &self.scratch.message,
                head_only: action.method == "HEAD",
                timeout_ns: until_ns.saturating_sub(begun_ns),
                body: BodyPolicy::Keep { bytes_max: action.body_max },
            },
        );
        let mut completions = Vec::new();
        while completions.is_empty() {
            self.client
                .wait_until(now_ns() + SECOND_NS, &mut completions)
                .map_err(|error| error.to_string())?;
        }
        match completions.pop().map(|completion| completion.outcome) {
            Some(outcome) => outcome.map_err(|failure| failure.to_string()),
            None => Err("no answer".to_owned()),
        }
    }

    pub(crate) fn values(&self, k: u64) -> RenderContext<'_> {
        RenderContext {
            seed: self.plan.seed,
            k,
            run_id: &self.options.run_id,
            key: &self.key,
            variables: &self.variables,
            own: &[],
            data: &self.plan.data,
        }
    }
}

fn unset(_variable: VariableId) -> String {
    "redirect cannot be followed: a value is not set".to_owned()
}
