//! Steps repeated while the run goes on, such as renewing a token.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crossbeam_channel::{Receiver, Sender};
use sojourn_clock::now_ns;
use sojourn_plan::{Plan, Refresh};

use crate::{
    RunOptions,
    link::ToGenerator,
    steps::{Latest, StepRunner},
};

/// What the refresh thread is made with.
pub(crate) struct RefreshSpec {
    pub(crate) plan: Arc<Plan>,
    pub(crate) options: RunOptions,
    pub(crate) variables: Latest,
    pub(crate) generators: Vec<Sender<ToGenerator>>,
    /// Remarks for the report.
    pub(crate) notes: Sender<String>,
    /// The run's start, sent once; closed: end.
    pub(crate) start: Receiver<u64>,
    pub(crate) stop: Arc<AtomicBool>,
}

/// The thread's body: runs each refresh step on its interval, counted from the run's start, and
/// hands new values to the generators, and to whoever asks `variables`. After a failure the old
/// value stays in use.
pub(crate) fn run(spec: &RefreshSpec) {
    let mut runner = match StepRunner::new(&spec.plan, &spec.options, spec.variables.values()) {
        Ok(runner) => runner,
        Err(error) => {
            // There is room: it is the first.
            let _ignored = spec.notes.try_send(failed(&error.message));
            return;
        }
    };
    let Ok(start_ns) = spec.start.recv() else {
        return;
    };
    let of_refresh = |refresh: &Refresh| next_due_ns(start_ns, refresh.every_ns, start_ns);
    let mut due: Vec<(u64, u64)> =
        spec.plan.refresh.iter().map(|refresh| (of_refresh(refresh), 0)).collect();
    while !spec.stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(20));
        for (refresh, (due_ns, k)) in spec.plan.refresh.iter().zip(&mut due) {
            if now_ns() < *due_ns || spec.stop.load(Ordering::Relaxed) {
                continue;
            }
            let ran = runner.run(&refresh.step, *k).and_then(|()| hand_on(spec, &runner, refresh));
            if let Err(why) = ran {
                // Beyond the bound, more of the same would say nothing new.
                let _ignored = spec.notes.try_send(failed(&why));
            }
            *k += 1;
            *due_ns = next_due_ns(start_ns, refresh.every_ns, now_ns());
        }
    }
}

fn failed(why: &str) -> String {
    format!("refresh failed: {why}")
}

/// Gives the step's new values to whoever uses them.
fn hand_on(spec: &RefreshSpec, runner: &StepRunner<'_>, refresh: &Refresh) -> Result<(), String> {
    spec.variables.set(runner.variables.clone());
    for extract in &refresh.step.extract {
        let variable = extract.variable.0;
        let Some(value) = runner.variables[usize::from(variable)].as_deref() else {
            continue;
        };
        for generator in &spec.generators {
            let message = ToGenerator::SetVariable { variable, value: value.to_owned() };
            if generator.try_send(message).is_err_and(|error| error.is_full()) {
                let name = &refresh.step.name;
                return Err(format!("step {name}: a generator is too far behind for a new value"));
            }
        }
    }
    Ok(())
}

/// The first multiple of the interval after the start that is later than `now_ns`. Those that a
/// slow answer took are left out: a burst would renew nothing.
fn next_due_ns(start_ns: u64, every_ns: u64, now_ns: u64) -> u64 {
    let every_ns = every_ns.max(1);
    let past = now_ns.saturating_sub(start_ns) / every_ns;
    start_ns.saturating_add(every_ns.saturating_mul(past + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dues_are_multiples_from_the_start_and_none_comes_twice() {
        for (now_ns, due_ns) in [(0, 150), (100, 150), (149, 150), (150, 200), (374, 400)] {
            assert_eq!(next_due_ns(100, 50, now_ns), due_ns, "{now_ns}");
        }
        assert_eq!(next_due_ns(100, u64::MAX, u64::MAX), u64::MAX);
    }
}
