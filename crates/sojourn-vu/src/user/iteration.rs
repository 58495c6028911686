//! One iteration: numbers, tags, the function, its account.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use sojourn_k6::metrics::{SystemTag, builtin};
use sojourn_script::ScriptError;

use super::life::Script;
use super::{Iteration, JobEnd, Phase, User};
use crate::globals;
use crate::thread::Shown;

/// Runs the iteration and accounts for it, unless it is cut off.
pub(super) fn run(script: &mut Script<'_, '_, '_>, work: Iteration) -> JobEnd {
    let user = script.user;
    let settings = Arc::clone(&user.host.settings);
    let Some(scenario) = settings.scenarios.get(work.scenario) else {
        return JobEnd { error: None, value: None };
    };
    if user.cancelled.get() {
        // Cut between its being given and its beginning.
        settings.progress.interrupted.fetch_add(1, Ordering::Relaxed);
        return JobEnd { error: None, value: None };
    }
    user.phase.set(Phase::Iteration);
    user.iteration.set(work);
    set_tags(user, work);
    if !settings.options.no_cookies_reset.unwrap_or(false) {
        user.http.reset_cookies();
    }
    let number = user.counts.iterations.get();
    script.inside.ctx.globals().set("__ITER", number).ok();
    set_environment(script, work.scenario);
    let began_ns = sojourn_clock::now_ns();
    let lag_ns = began_ns.saturating_sub(work.due_ns);
    user.lag_ns.set(lag_ns);
    if scenario.kind().has_schedule() {
        user.host.watch.borrow_mut().late(lag_ns);
    }
    user.journeys.begin(began_ns);
    let result = match script.function(&scenario.exec) {
        Some(function) => {
            let data = script.setup_data();
            script.call_and_settle(&function, (data,)).map(|_| ())
        }
        None => Err(ScriptError::missing(&scenario.exec)),
    };
    let took_ns = sojourn_clock::now_ns() - began_ns;
    user.timers.stop(&settings.console);
    let cut = user.cancelled.get();
    if !cut {
        pad(user, &settings.options, took_ns);
    }
    if settings.options.no_vu_connection_reuse == Some(true) {
        user.http.close_connections(&mut user.host.client.borrow_mut());
    }
    count(user, work.scenario);
    let progress = &settings.progress;
    let counter = if cut { &progress.interrupted } else { &progress.completed };
    counter.fetch_add(1, Ordering::Relaxed);
    account(user, began_ns, took_ns, cut);
    let error = result.err().filter(|_| !cut);
    if let Some(error) = &error {
        progress.exceptions.fetch_add(1, Ordering::Relaxed);
        settings.console.exception(error, Shown::of(scenario));
    }
    JobEnd { error, value: None }
}

/// A new iteration has its scenario's tags, whatever the last one had.
fn set_tags(user: &User, work: Iteration) {
    let settings = &user.host.settings;
    let Some(scenario) = settings.scenarios.get(work.scenario) else { return };
    let mut pairs = settings.run_tags();
    let mut metadata: Vec<(&str, &str)> = Vec::new();
    if settings.system_tags.has(SystemTag::Scenario) {
        pairs.push(("scenario", &scenario.name));
    }
    if settings.system_tags.has(SystemTag::Group) {
        pairs.push(("group", ""));
    }
    pairs.extend(scenario.tags.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    let (vu, iter) = (user.number().to_string(), user.counts.iterations.get().to_string());
    if settings.system_tags.has(SystemTag::Vu) {
        metadata.push(("vu", &vu));
    }
    if settings.system_tags.has(SystemTag::Iter) {
        metadata.push(("iter", &iter));
    }
    let mut sets = user.host.tag_sets.borrow_mut();
    let empty = Arc::clone(sets.empty());
    let mut tags = sets.with(&empty, &pairs);
    if !metadata.is_empty() {
        tags = sets.with_metadata(&tags, &metadata);
    }
    *user.tags.borrow_mut() = tags;
    user.group.borrow_mut().clear();
}

/// `setup` and `teardown` have tags of the run and a group of their own.
pub(super) fn set_call_tags(user: &User, function: &str) {
    let settings = &user.host.settings;
    let path = format!("::{function}");
    let mut pairs = settings.run_tags();
    if settings.system_tags.has(SystemTag::Group) {
        pairs.push(("group", &path));
    }
    let mut sets = user.host.tag_sets.borrow_mut();
    let empty = Arc::clone(sets.empty());
    let tags = sets.with(&empty, &pairs);
    *user.tags.borrow_mut() = tags;
    *user.group.borrow_mut() = path;
}

/// Bytes that `setup` or `teardown` has sent and received.
pub(super) fn account_for_call(user: &User, function: &str) {
    if function == "handleSummary" {
        return;
    }
    account_for_bytes(user, sojourn_clock::now_ns());
}

fn account_for_bytes(user: &User, now_ns: u64) {
    let tags = Arc::clone(&user.tags.borrow());
    let (sent, received) = user.links.take_traffic();
    let (sent, received) = (user.bytes_out.take() + sent, user.bytes_in.take() + received);
    user.add_tagged(builtin::DATA_SENT, &tags, now_ns, sent as f64);
    user.add_tagged(builtin::DATA_RECEIVED, &tags, now_ns, received as f64);
}

/// A user that enters a scenario gets fresh variables, with the scenario's own; what the top level
/// or another scenario has set is gone, as in k6. They last for all its iterations there.
fn set_environment(script: &Script<'_, '_, '_>, scenario: usize) {
    let user = script.user;
    if user.environment_of.replace(Some(scenario)) != Some(scenario) {
        // Can't fail: the property is one that can be defined again.
        globals::set_environment(script.inside.ctx, user, Some(scenario)).ok();
    }
}

/// `minIterationDuration`: what came too soon waits.
fn pad(user: &User, options: &sojourn_k6::options::Options, took_ns: u64) {
    let least_ns = options.min_iteration_duration.map_or(0, |least| least.ns());
    if took_ns < least_ns {
        let operation = user.operation();
        let until_ns = sojourn_clock::now_ns() + (least_ns - took_ns);
        user.host.set_timer(until_ns, user.index, operation);
        user.wait(operation);
    }
}

fn count(user: &User, scenario: usize) {
    user.counts.iterations.set(user.counts.iterations.get() + 1);
    *user.counts.in_scenario.borrow_mut().entry(scenario).or_default() += 1;
}

/// The iteration's samples. One that was cut off leaves its bytes only.
fn account(user: &User, began_ns: u64, took_ns: u64, cut: bool) {
    let now_ns = sojourn_clock::now_ns();
    let tags = Arc::clone(&user.tags.borrow());
    let add = |metric, value| user.add_tagged(metric, &tags, now_ns, value);
    account_for_bytes(user, now_ns);
    if !cut {
        add(builtin::ITERATION_DURATION, took_ns as f64 / 1e6);
        add(builtin::ITERATIONS, 1.0);
        let due_ns = user.iteration.get().due_ns;
        if due_ns > 0 {
            add(builtin::ITERATION_LAG, began_ns.saturating_sub(due_ns) as f64 / 1e6);
        }
    }
}
