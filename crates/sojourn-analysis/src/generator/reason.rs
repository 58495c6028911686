//! Why a generator was late.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Facts, busiest};
use crate::words;

/// On a processor for so much of its time, a thread is late by its own work.
const COMPUTES: f64 = 0.8;
/// Waiting for a processor for so much of its time, it is late by what else runs on the machine.
const WAITS: f64 = 0.1;
/// A turn of the event loop of so much of the greatest lag explains it.
const STALL_SHARE: f64 = 0.5;

/// Why the lag was what it was.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Reason {
    /// The cause.
    pub cause: Cause,
    /// In words, with its figures and what to do.
    pub text: String,
}

/// What makes a generator late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "LagCause")]
pub enum Cause {
    /// Its thread had more to do than one processor does.
    OwnWork,
    /// Others used the processors.
    OthersWork,
    /// One turn of its event loop was long.
    LongTurn,
    /// It was neither busy nor waiting: the machine did not run it, or woke it late.
    Machine,
}

/// The reason, by the thread that explains it best; `None` without figures of threads.
pub(super) fn of_lag(facts: &Facts) -> Option<Reason> {
    let length_s = facts.busy_for_s;
    let stretches: Vec<_> = facts
        .threads
        .iter()
        .filter(|thread| thread.makes_load)
        .filter_map(|thread| Some((thread, busiest(&thread.seconds, length_s)?)))
        .collect();
    let (computing, stretch) =
        stretches.iter().max_by(|(_, one), (_, other)| one.cpu.total_cmp(&other.cpu))?;
    if stretch.cpu >= COMPUTES {
        let (name, cpu) = (&computing.name, words::percent(stretch.cpu));
        return Some(reason(
            Cause::OwnWork,
            format!("{name} computed {cpu} of its time; use --threads, or more generators"),
        ));
    }
    let waited = stretches
        .iter()
        .filter_map(|(thread, stretch)| Some((thread, stretch.run_queue?)))
        .max_by(|(_, one), (_, other)| one.total_cmp(other));
    if let Some((thread, share)) = waited.filter(|(_, share)| *share >= WAITS) {
        let (name, share) = (&thread.name, words::percent(share));
        return Some(reason(
            Cause::OthersWork,
            format!(
                "{name} waited {share} of its time for a processor that others used; give the \
                 generator a machine of its own"
            ),
        ));
    }
    let turn_ns = facts.threads.iter().filter_map(|thread| thread.turn_ns_max).reduce(f64::max);
    if let (Some(turn_ns), Some(lag_ns)) = (turn_ns, facts.lag_ns_max)
        && turn_ns >= STALL_SHARE * lag_ns
    {
        let turn = words::duration(turn_ns);
        return Some(reason(
            Cause::LongTurn,
            format!("one turn of its event loop took {turn}, in which nothing could begin"),
        ));
    }
    Some(reason(
        Cause::Machine,
        "its threads were neither busy nor waiting for a processor, so the machine itself stood \
         still or woke them late, as virtual machines on busy hosts do"
            .to_owned(),
    ))
}

fn reason(cause: Cause, text: String) -> Reason {
    Reason { cause, text }
}
