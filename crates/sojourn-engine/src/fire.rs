//! One journey's root, fired by itself: for looking at what it causes.

use std::sync::Arc;

use sojourn_broker::Registry;
use sojourn_clock::{MILLISECOND_NS, now_ns};
use sojourn_plan::{Action, Journey, KeyRule, Plan, PublishAction, Template};

use crate::{
    RunError, RunOptions,
    generator::{Message, Publishers},
    steps::StepRunner,
};

/// How often a published root's acknowledgement is looked for.
const LOOK_NS: u64 = MILLISECOND_NS;

/// A root that went well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fired {
    /// When its first step began, CLOCK_MONOTONIC nanoseconds.
    pub began_ns: u64,
    /// When its last step was answered or acknowledged.
    pub ended_ns: u64,
    /// The journey's key.
    pub key: String,
}

/// Runs the plan's setup and then, once, the root steps of one of its journeys. Errs when a step is
/// refused, and when the journey has no key.
pub fn fire(
    plan: &Plan,
    journey: &Journey,
    options: &RunOptions,
    registry: &Registry,
) -> Result<Fired, RunError> {
    let failed = |why: String| RunError::new(why, "`sojourn run FILE --once --debug` shows more");
    if journey.batch().is_some() {
        return Err(RunError::new(
            format!("journey `{}` sends several at once: one is to be followed", journey.name),
            "take a journey whose root has no `batch`",
        ));
    }
    let variables = plan.variables.iter().map(|_| None).collect();
    let mut runner = StepRunner::new(plan, options, variables)?;
    for step in &plan.setup {
        runner.run(step, 0).map_err(failed)?;
    }
    let began_ns = now_ns();
    for step in journey.steps.iter().filter(|step| step.after.is_none()) {
        if let Some(KeyRule::Made(template)) = &step.key {
            runner.key = text(&runner, template).map_err(failed)?;
        }
        match &step.action {
            Action::Http(_) => {
                let key = runner.run_keyed(step, 0).map_err(failed)?;
                runner.key = key.unwrap_or(runner.key);
            }
            Action::Publish(action) => publish(plan, action, &runner, registry)?,
        }
    }
    if runner.key.is_empty() {
        return Err(RunError::new(
            format!("journey `{}` has no key to look for", journey.name),
            "say where it is: `key: body.id`, or make it: `key: \"{{ uuid() }}\"`",
        ));
    }
    Ok(Fired { began_ns, ended_ns: now_ns(), key: runner.key })
}

fn text(runner: &StepRunner<'_>, template: &Template) -> Result<String, String> {
    let mut out = Vec::new();
    let rendered = template.render(&runner.values(0), &mut out);
    rendered.map_err(|_| "a variable of the root has no value".to_owned())?;
    String::from_utf8(out).map_err(|_| "a value of the root is no text".to_owned())
}

fn publish(
    plan: &Plan,
    action: &PublishAction,
    runner: &StepRunner<'_>,
    registry: &Registry,
) -> Result<(), RunError> {
    let failed = |why: String| RunError::new(why, "may this user publish there?");
    let text = |template| text(runner, template).map_err(failed);
    let key = action.key.as_ref().map(text).transpose()?;
    let mut headers = Vec::new();
    for (name, value) in &action.headers {
        headers.push((name.as_str(), text(value)?));
    }
    let headers: Vec<(&str, &[u8])> =
        headers.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
    let (topic, payload) = (text(&action.topic)?, text(&action.body)?);
    let message = Message {
        channel: action.channel,
        topic: &topic,
        key: key.as_deref().map(str::as_bytes),
        headers: &headers,
        payload: payload.as_bytes(),
        timeout_ns: action.timeout_ns,
    };
    let mut publishers = Publishers::new(0, plan, registry, &Arc::default())?;
    publishers.ready(plan)?;
    publishers.send(now_ns(), 0, &message).map_err(failed)?;
    let mut outcomes = Vec::new();
    while outcomes.is_empty() {
        std::thread::sleep(std::time::Duration::from_nanos(LOOK_NS));
        publishers.outcomes(now_ns(), &mut outcomes);
    }
    match outcomes.pop().and_then(|outcome| outcome.error) {
        Some(why) => Err(failed(format!("the root was not published: {why}"))),
        None => Ok(()),
    }
}
