//! Steps repeated while the run goes on, such as renewing a token.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crossbeam_channel::Sender;
use sojourn_clock::now_ns;
use sojourn_plan::Plan;

use crate::{RunOptions, link::ToGenerator, steps::StepRunner};

/// The thread's body: runs each refresh step on its interval and hands new values to the
/// generators. Failures go to `failures` in words; the old value stays in use.
pub(crate) fn run(
    plan: &Plan,
    options: &RunOptions,
    variables: Vec<Option<Box<str>>>,
    generators: &[Sender<ToGenerator>],
    failures: &Sender<String>,
    stop: &Arc<AtomicBool>,
) {
    let Ok(mut runner) = StepRunner::new(plan, options, variables) else {
        return;
    };
    let start_ns = now_ns();
    let mut due: Vec<u64> =
        plan.refresh.iter().map(|refresh| start_ns + refresh.every_ns).collect();
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(20));
        for (refresh, due_ns) in plan.refresh.iter().zip(&mut due) {
            if now_ns() < *due_ns {
                continue;
            }
            *due_ns += refresh.every_ns;
            match runner.run(&refresh.step) {
                Ok(()) => {
                    for extract in &refresh.step.extract {
                        let variable = extract.variable.0;
                        let value = &runner.variables[usize::from(variable)];
                        let Some(value) = value.as_deref().map(str::to_owned) else {
                            continue;
                        };
                        for generator in generators {
                            let message =
                                ToGenerator::SetVariable { variable, value: value.clone() };
                            // A generator that has ended needs no value.
                            let _ignored = generator.send(message);
                        }
                    }
                }
                Err(why) => {
                    // Beyond the bound, more of the same would say nothing new.
                    let _ignored = failures.try_send(why);
                }
            }
        }
    }
}
