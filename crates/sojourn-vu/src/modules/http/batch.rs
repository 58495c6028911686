//! `http.batch`: requests side by side, within the options' limits.

use std::collections::HashMap;

use sojourn_script::js::{self, Array, Ctx, Exception, IntoJs, Object, Value};

use super::request::{Address, Request};
use super::response::Response;
use super::transfer::{Next, Transfer};
use super::{answer, unsent};
use crate::host::OperationId;
use crate::modules::coerced;
use crate::user::{Outcome, User};

/// Requests side by side where the options do not say: in all, and to one host.
const AT_ONCE: i64 = 20;
const PER_HOST: i64 = 6;

/// The result has the shape of the argument: an array, or an object of the same keys.
pub(super) fn run<'js>(
    user: &User,
    ctx: &Ctx<'js>,
    requests: &Value<'js>,
) -> js::Result<Value<'js>> {
    user.not_at_init(ctx, "Using batch")?;
    if let Some(array) = requests.as_array() {
        let items: Vec<Value<'js>> = array.iter().collect::<js::Result<_>>()?;
        let answers = all(user, ctx, items)?;
        let result = Array::new(ctx.clone())?;
        for (at, answer) in answers.into_iter().enumerate() {
            result.set(at, answer)?;
        }
        return Ok(result.into_value());
    }
    let Some(object) = requests.as_object() else {
        let told = "invalid http.batch() argument type: it must be an array or an object";
        return Err(Exception::throw_message(ctx, told));
    };
    let (mut keys, mut items) = (Vec::new(), Vec::new());
    for entry in object.props::<String, Value<'js>>() {
        let (key, item) = entry?;
        keys.push(key);
        items.push(item);
    }
    let answers = all(user, ctx, items)?;
    let result = Object::new(ctx.clone())?;
    for (key, answer) in keys.into_iter().zip(answers) {
        result.set(key, answer)?;
    }
    Ok(result.into_value())
}

/// A batch under way.
struct Batch<'js> {
    waiting: Vec<(usize, Transfer)>,
    running: HashMap<OperationId, (usize, Transfer)>,
    per_host: HashMap<String, usize>,
    answers: Vec<Option<Value<'js>>>,
    at_once: usize,
    at_once_per_host: usize,
}

fn all<'js>(user: &User, ctx: &Ctx<'js>, items: Vec<Value<'js>>) -> js::Result<Vec<Value<'js>>> {
    let options = &user.host.settings.options;
    let bound = |given: Option<i64>, default| {
        usize::try_from(given.unwrap_or(default))
            .ok()
            .filter(|most| *most > 0)
            .unwrap_or(usize::MAX)
    };
    let mut batch = Batch {
        waiting: Vec::new(),
        running: HashMap::new(),
        per_host: HashMap::new(),
        answers: vec![None; items.len()],
        at_once: bound(options.batch, AT_ONCE),
        at_once_per_host: bound(options.batch_per_host, PER_HOST),
    };
    for (at, item) in items.iter().enumerate() {
        match read(user, ctx, item)? {
            Ok(request) => batch.waiting.push((at, Transfer::new(request))),
            Err((address, problem)) => {
                return none(user, ctx, (at, items.len()), &address, &problem);
            }
        }
    }
    batch.start(user);
    while !batch.running.is_empty() {
        batch.step(user, ctx)?;
    }
    let undefined = || Value::new_undefined(ctx.clone());
    Ok(batch.answers.into_iter().map(|answer| answer.unwrap_or_else(undefined)).collect())
}

/// As in k6, nothing of a batch is sent that has something wrong in it. The answers end there;
/// those before it are empty.
fn none<'js>(
    user: &User,
    ctx: &Ctx<'js>,
    (at, count): (usize, usize),
    address: &Address,
    problem: &str,
) -> js::Result<Vec<Value<'js>>> {
    user.host.settings.console.batch_failed(problem);
    let mut answers = Vec::with_capacity(count);
    for _ in 0..at {
        answers.push(Response::default().into_value(ctx)?);
    }
    answers.push(unsent(ctx, address, problem)?);
    answers.resize(count, Value::new_null(ctx.clone()));
    Ok(answers)
}

impl<'js> Batch<'js> {
    /// Sends what may be sent beside what runs.
    fn start(&mut self, user: &User) {
        let mut kept = Vec::new();
        for (at, mut transfer) in std::mem::take(&mut self.waiting) {
            let host = self.per_host.get(transfer.host()).copied().unwrap_or(0);
            if self.running.len() >= self.at_once || host >= self.at_once_per_host {
                kept.push((at, transfer));
                continue;
            }
            *self.per_host.entry(transfer.host().to_owned()).or_default() += 1;
            let operation = transfer.send(user);
            self.running.insert(operation, (at, transfer));
        }
        self.waiting = kept;
    }

    /// Waits for one completion and sees to what follows.
    fn step(&mut self, user: &User, ctx: &Ctx<'js>) -> js::Result<()> {
        let found = user.wait_any(|operation| self.running.contains_key(&operation));
        let Some((operation, outcome)) = found else {
            return Err(Exception::throw_internal(ctx, "interrupted"));
        };
        let Some((at, mut transfer)) = self.running.remove(&operation) else { return Ok(()) };
        let Outcome::Http(completion) = outcome else { return Ok(()) };
        match transfer.on_completion(user, *completion) {
            Next::Hop(next) => {
                self.running.insert(next, (at, transfer));
                Ok(())
            }
            Next::Done(response) => {
                if let Some(count) = self.per_host.get_mut(transfer.host()) {
                    *count -= 1;
                }
                self.answers[at] = Some(answer(ctx, &transfer, *response)?);
                self.start(user);
                Ok(())
            }
        }
    }
}

type Read = Result<Request, (Address, String)>;

/// One item: a URL, `[method, url, body, params]` or `{method, url, body, params}`.
fn read<'js>(user: &User, ctx: &Ctx<'js>, item: &Value<'js>) -> js::Result<Read> {
    let undefined = || Value::new_undefined(ctx.clone());
    let get = |object: &Object<'js>, name: &str| object.get::<_, Value<'js>>(name);
    let usual = "GET".into_js(ctx)?;
    let (method, url, body, params) = if let Some(list) = item.as_array() {
        let at = |index: usize| if index < list.len() { list.get(index) } else { Ok(undefined()) };
        (at(0)?, at(1)?, at(2)?, at(3)?)
    } else if let Some(object) = item.as_object().filter(|object| !is_address(object)) {
        let method = Some(get(object, "method")?).filter(|method| !method.is_undefined());
        let (url, body, params) =
            (get(object, "url")?, get(object, "body")?, get(object, "params")?);
        (method.unwrap_or(usual), url, body, params)
    } else {
        (usual, item.clone(), undefined(), undefined())
    };
    let address = Address::read(ctx, &url)?;
    let Some(method) = method.as_string() else {
        let shown = match method.is_null() || method.is_undefined() {
            true => "<nil>".to_owned(),
            false => coerced::text(ctx, &method)?,
        };
        let told = format!("invalid method type '{shown}'");
        if user.host.settings.options.throw == Some(true) {
            return Err(Exception::throw_message(ctx, &told));
        }
        return Ok(Err((address, told)));
    };
    let method = method.to_string()?;
    let read = Request::read(user, ctx, &method, &address, Some(&body), Some(&params))?;
    Ok(read.map_err(|problem| (address, problem)))
}

/// What http.url`…` makes.
fn is_address(object: &Object<'_>) -> bool {
    object.contains_key("name").unwrap_or(false) && !object.contains_key("method").unwrap_or(true)
}
