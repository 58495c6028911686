//! A user's life: its engine, the script's top level, then one job after the other.

use std::io;
use std::rc::Rc;

use sojourn_script::js::{Ctx, Function, Object, Value, promise::PromiseState};
use sojourn_script::{Engine, Fiber, Inside, ScriptError, Stacks, suspend};

use super::{Job, JobEnd, Phase, User, iteration, top_level};
use crate::host::Host;
use crate::modules::Modules;

/// How long a script may compute before others have their turn.
const TURN_NS: u64 = sojourn_clock::MILLISECOND_NS;

/// A user and its fiber, which has not yet begun. Fails when there is no memory for its stack.
pub(crate) fn spawn(
    host: &Rc<Host>,
    index: u32,
    id: u64,
    stacks: &Stacks,
) -> io::Result<(Rc<User>, Fiber)> {
    let user = User::new(Rc::clone(host), index, id);
    let own = Rc::clone(&user);
    let fiber = Fiber::new(stacks.take()?, move || live(&own));
    Ok((user, fiber))
}

fn live(user: &Rc<User>) {
    let settings = &user.host.settings;
    let modules = Rc::new(Modules::new(Rc::clone(user)));
    let interrupted = Rc::clone(user);
    let interrupt = move || give_way(&interrupted);
    match Engine::new(&settings.bundle, modules, settings.limits, interrupt) {
        Ok(engine) => engine.enter(|inside| {
            work(user, inside);
            // What the top level has set going holds values of the engine, which is to go now.
            user.forget_all();
        }),
        Err(error) => fail(user, error),
    }
    user.memberships.end_all();
    user.phase.set(Phase::Ended);
}

/// Lets others have their turn if this one computes for long; whether it is to end.
fn give_way(user: &User) -> bool {
    let host = &user.host;
    if sojourn_clock::now_ns().saturating_sub(host.turn_ns.get()) > TURN_NS {
        host.make_ready(user.index);
        suspend();
    }
    user.cancelled.get()
}

fn fail(user: &User, error: ScriptError) {
    *user.ended.borrow_mut() = Some(JobEnd { error: Some(error), value: None });
}

fn work<'js>(user: &Rc<User>, inside: &Inside<'_, 'js>) {
    let exports = match top_level::run(user, inside) {
        Ok(exports) => exports,
        Err(error) => return fail(user, error),
    };
    let mut script = Script { user, inside, exports, setup_data: None };
    loop {
        user.phase.set(Phase::Idle);
        let Some(job) = next_job(user) else { return };
        let ended = script.run(job);
        user.forget_all();
        *user.ended.borrow_mut() = Some(ended);
    }
}

/// Waits for the next job; `None` at the end.
fn next_job(user: &User) -> Option<Job> {
    loop {
        if let Some(job) = user.job.borrow_mut().take() {
            return (!matches!(job, Job::End)).then_some(job);
        }
        suspend();
    }
}

/// The event loop: until nothing is left to be called. `may_go_on` is asked before each wait.
pub(super) fn run_callbacks(
    user: &User,
    inside: &Inside<'_, '_>,
    may_go_on: impl Fn() -> Result<(), ScriptError>,
) -> Result<(), ScriptError> {
    loop {
        inside.run_jobs();
        if let Some(error) = inside.take_rejection() {
            return Err(error);
        }
        if user.cancelled.get() {
            return Err(ScriptError::interrupted());
        }
        if !user.has_callbacks() {
            return Ok(());
        }
        may_go_on()?;
        match user.next_callback() {
            Some((callback, outcome)) => {
                callback(inside.ctx, outcome).map_err(|error| inside.caught(error))?;
            }
            None => {
                suspend();
            }
        }
    }
}

/// The script's functions, within its engine.
pub(super) struct Script<'u, 'e, 'js> {
    pub(super) user: &'u Rc<User>,
    pub(super) inside: &'u Inside<'e, 'js>,
    exports: Object<'js>,
    /// What `setup` returned, as this user has it: its own copy.
    setup_data: Option<Value<'js>>,
}

impl<'js> Script<'_, '_, 'js> {
    fn run(&mut self, job: Job) -> JobEnd {
        match job {
            Job::Iterate(work) => iteration::run(self, work),
            Job::Call { function, argument } => {
                self.user.phase.set(Phase::Call);
                self.user.journeys.begin(sojourn_clock::now_ns());
                iteration::set_call_tags(self.user, function);
                let called = self.call(function, argument);
                // It would keep others from what it has a share of.
                self.user.memberships.end_all();
                iteration::account_for_call(self.user, function);
                match called {
                    Ok(value) => JobEnd { error: None, value },
                    Err(error) => JobEnd { error: Some(error), value: None },
                }
            }
            Job::End => JobEnd { error: None, value: None },
        }
    }

    /// Calls an exported function; its result as JSON, `None` for undefined or no such function.
    fn call(&self, name: &str, argument: Option<String>) -> Result<Option<String>, ScriptError> {
        let ctx = self.inside.ctx;
        let caught = |error| self.inside.caught(error);
        let Some(function) = self.function(name) else { return Ok(None) };
        let argument = match argument {
            Some(json) => ctx.json_parse(json).map_err(caught)?,
            None => Value::new_undefined(ctx.clone()),
        };
        let value = self.call_and_settle(&function, (argument,))?;
        if name == "handleSummary" {
            return summary_files(&value)
                .map_err(caught)?
                .map_err(|told| ScriptError::other(&told));
        }
        if value.is_undefined() {
            return Ok(None);
        }
        marshal(ctx, value).map(Some).map_err(|error| {
            let problem = self.inside.caught(error).message;
            let problem = problem.strip_prefix("Error: ").unwrap_or(&problem);
            ScriptError::other(&format!("{UNMARSHALLED}{name}() data to JSON: {problem}"))
        })
    }

    /// The exported function of this name.
    pub(super) fn function(&self, name: &str) -> Option<Function<'js>> {
        self.exports.get::<_, Option<Function<'js>>>(name).ok().flatten()
    }

    /// `setup`'s result, parsed once for this user.
    pub(super) fn setup_data(&mut self) -> Value<'js> {
        if let Some(known) = &self.setup_data {
            return known.clone();
        }
        let ctx = self.inside.ctx;
        let json = self.user.host.settings.setup_data.get().and_then(Clone::clone);
        let parsed = json.and_then(|json| ctx.json_parse(json).ok());
        let value = parsed.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
        self.setup_data = Some(value.clone());
        value
    }

    /// Calls, then waits until nothing that the call has begun is outstanding. A promise stands for
    /// what it comes to.
    pub(super) fn call_and_settle<A>(
        &self,
        function: &Function<'js>,
        arguments: A,
    ) -> Result<Value<'js>, ScriptError>
    where
        A: sojourn_script::js::function::IntoArgs<'js>,
    {
        let called = function.call::<_, Value<'js>>(arguments);
        let value = called.map_err(|error| self.inside.caught(error))?;
        run_callbacks(self.user, self.inside, || Ok(()))?;
        let Some(promise) = value.as_promise() else { return Ok(value) };
        match promise.state() {
            PromiseState::Pending => Ok(Value::new_undefined(self.inside.ctx.clone())),
            _ => promise.finish().map_err(|error| self.inside.caught(error)),
        }
    }
}

/// How the error begins that says what a script's data can't be.
pub(crate) const UNMARSHALLED: &str = "error marshaling ";

/// Data as JSON as k6 makes it, which is not `JSON.stringify`: what is undefined becomes null,
/// dates have no zeros at their end, and functions and infinite numbers are errors.
const MARSHAL: &str = r#"
(function (value) {
    const plain = (value) => {
        if (value === undefined || value === null) return null;
        if (typeof value === "function") {
            throw new Error("json: unsupported type: func(sobek.FunctionCall) sobek.Value");
        }
        if (typeof value === "number" && !Number.isFinite(value)) {
            const name = Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
            throw new Error(`json: unsupported value: ${name}`);
        }
        if (typeof value !== "object") return value;
        if (value instanceof Date) return value.toISOString().replace(/\.?0*Z$/, "Z");
        if (Array.isArray(value)) return value.map(plain);
        const entries = Object.entries(value).map(([key, inner]) => [key, plain(inner)]);
        return Object.fromEntries(entries);
    };
    return JSON.stringify(plain(value));
})
"#;

fn marshal<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> sojourn_script::js::Result<String> {
    let marshal: Function<'js> = ctx.eval(MARSHAL)?;
    marshal.call((value,))
}

/// What `handleSummary` returns, as JSON from name to text; a buffer is Base64 after `base64:`.
/// The inner error says which member is neither.
fn summary_files(value: &Value<'_>) -> sojourn_script::js::Result<Result<Option<String>, String>> {
    use base64::Engine as _;
    let Some(object) = value.as_object() else { return Ok(Ok(None)) };
    let mut files = serde_json::Map::new();
    for entry in object.props::<String, Value<'_>>() {
        let (name, content) = entry?;
        let text = match crate::modules::bytes::of(&content) {
            Some(bytes) if !content.is_string() => {
                let coded = base64::engine::general_purpose::STANDARD.encode(bytes);
                format!("base64:{coded}")
            }
            _ => match content.as_string() {
                Some(text) => format!("text:{}", text.to_string()?),
                None => {
                    let kind = go_type(&content);
                    return Ok(Err(format!(
                        "{UNFIT_SUMMARY}{name}: invalid type {kind}, it needs to be a string or \
                         ArrayBuffer"
                    )));
                }
            },
        };
        files.insert(name, text.into());
    }
    Ok(Ok(Some(serde_json::Value::Object(files).to_string())))
}

/// How the error begins that says what `handleSummary` may not return.
pub(crate) const UNFIT_SUMMARY: &str = "error handling summary object ";

/// What Go calls the type of a value.
fn go_type(value: &Value<'_>) -> &'static str {
    match value {
        _ if value.is_null() || value.is_undefined() => "<nil>",
        _ if value.is_bool() => "bool",
        _ if value.as_number().is_some_and(|number| number.fract() == 0.0) => "int64",
        _ if value.is_number() => "float64",
        _ if value.is_array() => "[]interface {}",
        _ => "map[string]interface {}",
    }
}
