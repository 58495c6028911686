//! What limited the generator if anything did, and how far from its limits it ran.
//!
//! Each thing that a generator can run out of is put as a share of what it may use, by the same
//! limits that make a run void. The greatest share is how near the generator was to being the
//! bottleneck; a share of one or more means that it was, and that the figures describe it.
//!
//! Lag is an effect: where it is what came nearest, the threads' own figures say why.

mod reason;

use schemars::JsonSchema;
use serde::Serialize;

use crate::words;

pub use reason::Reason;

/// From this share of a limit on, the generator is said to have run near it.
pub const NEAR_SHARE: f64 = 0.7;

/// What a generator can run out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Time on a processor, and waiting for one, of a generator's thread.
    Processor,
    /// Lateness of its own.
    Lag,
    /// Descriptors: files and sockets that a process may open.
    Descriptors,
    /// Local ports towards one target.
    Ports,
    /// Delay of a tap.
    Tap,
    /// A bounded queue or table.
    Queue,
    /// A limit of the machine that requests met.
    Machine,
}

/// One second of a generator's thread, as fractions of one processor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ThreadSecond {
    /// On a processor.
    pub cpu: f64,
    /// Ready to run, and waiting for one; `None` where the kernel does not tell.
    pub run_queue: Option<f64>,
}

/// A generator's thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thread {
    /// Its name.
    pub name: String,
    /// Whether it begins arrivals. Of the others, waiting for a processor is no harm by itself: it
    /// shows in the delay of taps.
    pub makes_load: bool,
    /// Seconds of the run in order.
    pub seconds: Vec<ThreadSecond>,
    /// Longest turn of its event loop, nanoseconds.
    pub turn_ns_max: Option<f64>,
}

/// A level beside what it may be, in the same unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Level {
    /// What it is about: a channel's or a process's name; empty where there is only one.
    pub subject: String,
    /// The worst that was seen.
    pub used: f64,
    /// What it may be.
    pub limit: f64,
}

/// What is known of the generator. Levels are those of the whole run, lag that of the steady phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Threads, each of which does what no other can take over.
    pub threads: Vec<Thread>,
    /// Most of a thread's time on or waiting for a processor, as a fraction…
    pub busy_max: f64,
    /// …for so long, seconds.
    pub busy_for_s: usize,
    /// Lag at p99 and its limit, nanoseconds.
    pub lag_p99_ns: Option<Level>,
    /// Greatest lag, nanoseconds.
    pub lag_ns_max: Option<f64>,
    /// Descriptors in use and allowed, of each process.
    pub descriptors: Vec<Level>,
    /// Local ports taken at most, and there are for one target.
    pub ports: Option<Level>,
    /// Delays of taps, milliseconds.
    pub taps_ms: Vec<Level>,
    /// Entries that a bounded queue or table refused, by its name.
    pub refused: Vec<(String, u64)>,
    /// Requests that failed at a limit of this machine.
    pub failed_here: u64,
}

/// How much of a limit was used.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Margin {
    /// Of what.
    pub resource: Resource,
    /// Whose: a thread, a channel, a queue; empty where there is only one.
    pub subject: String,
    /// Used over allowed; at least 1 where it was the limit.
    pub share: f64,
    /// The same in words.
    pub text: String,
}

/// What the generator's own figures say.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct GeneratorVerdict {
    /// Whether it was the limit of what was measured.
    pub is_limit: bool,
    /// Every limit with what was used of it, the nearest first.
    pub margins: Vec<Margin>,
    /// Why its lag was what it was, where lag came near its limit.
    pub reason: Option<Reason>,
    /// One sentence, without a full stop.
    pub text: String,
}

/// The verdict on the generator; `None` where nothing is known of it.
pub fn verdict(facts: &Facts) -> Option<GeneratorVerdict> {
    let mut margins = margins(facts);
    margins.sort_by(|one, other| other.share.total_cmp(&one.share));
    let nearest = margins.first()?;
    let lag_share = share_of(&margins, Resource::Lag);
    let is_near = |share: f64| share >= NEAR_SHARE;
    let reason = lag_share.filter(|share| is_near(*share)).and_then(|_| reason::of_lag(facts));
    let because = reason.as_ref().map_or_else(String::new, |reason| format!(": {}", reason.text));
    let is_limit = nearest.share >= 1.0;
    let text = if is_limit {
        let over = margins.iter().filter(|margin| margin.share >= 1.0);
        let over: Vec<String> = over.map(|margin| margin.text.clone()).collect();
        format!("the generator was the limit by {}{because}", words::list(&over))
    } else if is_near(nearest.share) {
        format!("the generator ran near its limit, {}{because}", nearest.text)
    } else {
        format!("the generator was not the limit; nearest to one came {}", nearest.text)
    };
    Some(GeneratorVerdict { is_limit, reason, text, margins })
}

fn share_of(margins: &[Margin], resource: Resource) -> Option<f64> {
    margins.iter().find(|margin| margin.resource == resource).map(|margin| margin.share)
}

fn margins(facts: &Facts) -> Vec<Margin> {
    let mut margins: Vec<Margin> =
        facts.threads.iter().filter_map(|thread| processor(facts, thread)).collect();
    let ns = |ns: f64| words::duration(ns);
    margins.extend(facts.lag_p99_ns.iter().map(|lag| of(Resource::Lag, "lag p99", lag, ns)));
    let whole = |value: f64| words::number(value.round());
    let descriptors = facts.descriptors.iter();
    margins.extend(descriptors.map(|level| of(Resource::Descriptors, "descriptors", level, whole)));
    margins.extend(facts.ports.iter().map(|level| of(Resource::Ports, "ports", level, whole)));
    let ms = |ms: f64| words::duration(ms * 1e6);
    let taps = facts.taps_ms.iter();
    margins.extend(taps.map(|level| of(Resource::Tap, "the delay of tap", level, ms)));
    let refused = facts.refused.iter().filter(|(_, count)| *count > 0);
    margins.extend(refused.map(|(queue, count)| Margin {
        resource: Resource::Queue,
        subject: queue.clone(),
        share: 1.0,
        text: format!("the bound of `{queue}`, which refused {}", words::count(*count)),
    }));
    margins.extend((facts.failed_here > 0).then(|| Margin {
        resource: Resource::Machine,
        subject: String::new(),
        share: 1.0,
        text: format!(
            "what this machine has, for want of which {} requests failed",
            words::count(facts.failed_here)
        ),
    }));
    margins
}

/// A level as a margin: `lag p99 3.00 ms of 10.0 ms (30 %)`.
fn of(resource: Resource, what: &str, level: &Level, words_of: fn(f64) -> String) -> Margin {
    let share = if level.limit > 0.0 { level.used / level.limit } else { 0.0 };
    let gap = if level.subject.is_empty() { "" } else { " " };
    Margin {
        resource,
        subject: level.subject.clone(),
        share,
        text: format!(
            "{what}{gap}{} {} of {} ({})",
            level.subject,
            words_of(level.used),
            words_of(level.limit),
            words::percent(share)
        ),
    }
}

/// A thread's busiest stretch of the length that would make the run void.
fn processor(facts: &Facts, thread: &Thread) -> Option<Margin> {
    let alone = |second: &ThreadSecond| ThreadSecond { run_queue: None, ..*second };
    let busiest = match thread.makes_load {
        true => busiest(&thread.seconds, facts.busy_for_s)?,
        false => {
            let seconds: Vec<_> = thread.seconds.iter().map(alone).collect();
            busiest(&seconds, facts.busy_for_s)?
        }
    };
    let busy = busiest.cpu + busiest.run_queue.unwrap_or(0.0);
    Some(Margin {
        resource: Resource::Processor,
        subject: thread.name.clone(),
        share: busy / facts.busy_max.max(f64::MIN_POSITIVE),
        text: format!(
            "{} {} busy over its busiest {} s, of {}",
            thread.name,
            words::percent(busy),
            facts.busy_for_s.min(thread.seconds.len()),
            words::percent(facts.busy_max)
        ),
    })
}

/// The mean of the stretch of `length_s` seconds in a row in which it is greatest; of all seconds
/// where there are fewer.
fn busiest(seconds: &[ThreadSecond], length_s: usize) -> Option<ThreadSecond> {
    let length = length_s.clamp(1, seconds.len().max(1));
    let means = seconds.windows(length).map(|stretch| {
        let n = stretch.len() as f64;
        let waits: Vec<f64> = stretch.iter().filter_map(|second| second.run_queue).collect();
        ThreadSecond {
            cpu: stretch.iter().map(|second| second.cpu).sum::<f64>() / n,
            run_queue: (!waits.is_empty()).then(|| waits.iter().sum::<f64>() / waits.len() as f64),
        }
    });
    let busy = |second: &ThreadSecond| second.cpu + second.run_queue.unwrap_or(0.0);
    means.max_by(|one, other| busy(one).total_cmp(&busy(other)))
}

#[cfg(test)]
mod tests;
