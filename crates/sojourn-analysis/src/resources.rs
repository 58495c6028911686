//! What the system's own resources say: processor time for each journey, memory that grows, and
//! whether a resource is used up.
//!
//! A process that uses all the cores that it may is limited by them, whatever else is slow; one
//! that is far from its limit is not, and nothing is said of it. A third of the seconds is enough,
//! since work comes in bursts, and a second that is nearly used up is, because readings and seconds
//! do not begin at the same instant.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{backlog::slope, words};

/// One second of a resource; `None` where there was no reading.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ResourceSecond {
    /// Start of the second, nanoseconds since the run's start.
    pub start_ns: u64,
    /// Its end.
    pub end_ns: u64,
    /// Cores in use.
    pub cores: Option<f64>,
    /// Cores that the busiest thread used.
    pub busiest_thread_cores: Option<f64>,
    /// Cores that it may use, where that is fewer than the machine has.
    pub limit_cores: Option<f64>,
    /// Cores of its machine.
    pub machine_cores: Option<f64>,
    /// Share of the periods in which its quota was used up.
    pub throttled_share: Option<f64>,
    /// How long its threads were held back by that, added up, seconds per second.
    pub throttled_s: Option<f64>,
    /// Memory, bytes.
    pub memory_bytes: Option<f64>,
    /// Journeys completed in it, of all kinds.
    pub completed: u64,
}

impl ResourceSecond {
    fn length_s(&self) -> f64 {
        self.end_ns.saturating_sub(self.start_ns) as f64 / 1e9
    }

    /// Cores that it may use at once.
    fn most_cores(&self) -> Option<f64> {
        [self.limit_cores, self.machine_cores].into_iter().flatten().reduce(f64::min)
    }
}

/// Processor time over the seconds that had a reading.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Processor {
    /// Seconds with a reading.
    pub seconds: usize,
    /// Cores in use, on average.
    pub cores_mean: f64,
    /// In the busiest second.
    pub cores_max: f64,
    /// Cores that it may use at once; `None`: not known.
    pub limit_cores: Option<f64>,
    /// That limit is what its machine has.
    pub is_machine_limit: bool,
    /// `cores_mean` as a share of the limit.
    pub limit_share: Option<f64>,
    /// Processor time for each journey completed in these seconds; `None`: too few of either.
    pub cpu_ns_per_journey: Option<f64>,
    /// Journeys per second that one core is enough for, by the same figures.
    pub journeys_per_core_s: Option<f64>,
    /// Share of its periods in which its quota was used up; `None`: it has none.
    pub throttled_share: Option<f64>,
    /// How long its threads were held back by that, added up, nanoseconds.
    pub throttled_ns: Option<f64>,
}

/// Memory over the same seconds.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Memory {
    /// On average.
    pub mean_bytes: f64,
    /// At most.
    pub max_bytes: f64,
    /// Where it surely grew or shrank.
    pub growth: Option<MemoryGrowth>,
}

/// A straight line's rise.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct MemoryGrowth {
    /// Bytes per minute.
    pub bytes_per_min: f64,
    /// Half the width of its 95 % interval.
    pub half_width_bytes_per_min: f64,
    /// Bytes for each journey completed in these seconds; `None`: too few of them.
    pub bytes_per_journey: Option<f64>,
}

/// That a resource was used up.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Saturated {
    /// What of it.
    pub by: SaturatedBy,
    /// Cores in use in the seconds in which it was: its own, or its busiest thread's.
    pub cores: f64,
    /// The limit that this came up to; `None`: not known.
    pub limit_cores: Option<f64>,
    /// In so many seconds…
    pub seconds: usize,
    /// …of so many with a reading.
    pub of_seconds: usize,
    /// Share of its periods in which its quota was used up.
    pub throttled_share: Option<f64>,
}

/// What was used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SaturatedBy {
    /// The cores that it may use: its group's quota, or the processors that it is allowed.
    Limit,
    /// The cores of its machine.
    Machine,
    /// One core, by its only busy thread.
    Thread,
    /// Its quota, again and again, though not in every moment of a second.
    Throttling,
}

/// A second counts as used up from this share of the limit on.
const USED_UP: f64 = 0.95;
/// How much of a process besides its busiest thread may be busy, cores.
const OTHERS_MAX: f64 = 0.25;
/// Throttling in a greater share of the periods holds it back.
const THROTTLED_MIN: f64 = 0.1;
/// Fewer seconds tell nothing.
const SECONDS_MIN: usize = 4;
/// Fewer seconds that are used up tell nothing.
const USED_UP_MIN: usize = 3;
/// Fewer journeys are not divided by.
const JOURNEYS_MIN: u64 = 20;
/// Fewer seconds show no growth of memory.
const GROWTH_SECONDS_MIN: usize = 20;
/// Growth by less than this share of the mean each minute is not told.
const GROWTH_MIN: f64 = 0.01;

/// Processor time over these seconds; `None` where there was no reading.
pub fn processor(seconds: &[ResourceSecond]) -> Option<Processor> {
    let read: Vec<(&ResourceSecond, f64)> =
        seconds.iter().filter_map(|second| Some((second, second.cores?))).collect();
    let length_s: f64 = read.iter().map(|(second, _)| second.length_s()).sum();
    if length_s <= 0.0 {
        return None;
    }
    let used_s: f64 = read.iter().map(|(second, cores)| second.length_s() * cores).sum();
    let completed: u64 = read.iter().map(|(second, _)| second.completed).sum();
    let is_enough = read.len() >= SECONDS_MIN && completed >= JOURNEYS_MIN;
    let cpu_s_per_journey = is_enough.then(|| used_s / completed as f64);
    // As it was at last: limits are changed while things run.
    let last = read.last().map(|(second, _)| *second)?;
    let limit_cores = last.most_cores();
    let shares: Vec<f64> = read.iter().filter_map(|(second, _)| second.throttled_share).collect();
    let held_back =
        read.iter().filter_map(|(second, _)| Some(second.throttled_s? * second.length_s()));
    let throttled_share =
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64);
    Some(Processor {
        seconds: read.len(),
        cores_mean: used_s / length_s,
        cores_max: read.iter().map(|(_, cores)| *cores).fold(0.0, f64::max),
        limit_cores,
        is_machine_limit: last.limit_cores.is_none() && limit_cores.is_some(),
        limit_share: limit_cores.filter(|limit| *limit > 0.0).map(|it| used_s / length_s / it),
        cpu_ns_per_journey: cpu_s_per_journey.map(|seconds| seconds * 1e9),
        journeys_per_core_s: cpu_s_per_journey.filter(|s| *s > 0.0).map(|seconds| 1.0 / seconds),
        throttled_share,
        throttled_ns: throttled_share.map(|_| held_back.sum::<f64>() * 1e9),
    })
}

/// Memory over these seconds; `None` where there was no reading.
pub fn memory(seconds: &[ResourceSecond]) -> Option<Memory> {
    let points: Vec<(f64, f64)> = seconds
        .iter()
        .filter_map(|second| Some((second.end_ns as f64 / 1e9, second.memory_bytes?)))
        .collect();
    if points.is_empty() {
        return None;
    }
    let mean_bytes = points.iter().map(|(_, bytes)| bytes).sum::<f64>() / points.len() as f64;
    let read = || seconds.iter().filter(|second| second.memory_bytes.is_some());
    let completed: u64 = read().map(|second| second.completed).sum();
    let length_s: f64 = read().map(ResourceSecond::length_s).sum();
    let completed_per_s = (completed >= JOURNEYS_MIN).then(|| completed as f64 / length_s);
    let rise = (points.len() >= GROWTH_SECONDS_MIN).then(|| slope(&points)).flatten();
    let growth = rise
        .map(|slope| MemoryGrowth {
            bytes_per_min: slope.per_s * 60.0,
            half_width_bytes_per_min: slope.half_width_per_s * 60.0,
            bytes_per_journey: completed_per_s.map(|completed| slope.per_s / completed),
        })
        .filter(|growth| {
            let size = growth.bytes_per_min.abs();
            size > growth.half_width_bytes_per_min && size > GROWTH_MIN * mean_bytes
        });
    let max_bytes = points.iter().map(|(_, bytes)| *bytes).fold(0.0, f64::max);
    Some(Memory { mean_bytes, max_bytes, growth })
}

/// Whether the resource was used up, and what of it; `None` where it was not, or the seconds are
/// too few to tell.
pub fn saturated(seconds: &[ResourceSecond]) -> Option<Saturated> {
    let read: Vec<(&ResourceSecond, f64)> =
        seconds.iter().filter_map(|second| Some((second, second.cores?))).collect();
    if read.len() < SECONDS_MIN {
        return None;
    }
    let enough = USED_UP_MIN.max(read.len().div_ceil(3));
    let shares: Vec<f64> = read.iter().filter_map(|(second, _)| second.throttled_share).collect();
    let throttled_share =
        (shares.len() >= SECONDS_MIN).then(|| shares.iter().sum::<f64>() / shares.len() as f64);
    let found = |by, used: &[f64], limit_cores| Saturated {
        by,
        cores: used.iter().sum::<f64>() / used.len().max(1) as f64,
        limit_cores,
        seconds: used.len(),
        of_seconds: read.len(),
        throttled_share,
    };
    let last = read.last().map(|(second, _)| *second)?;
    let up_to_limit: Vec<f64> = read
        .iter()
        .filter(|(it, cores)| it.most_cores().is_some_and(|most| *cores >= USED_UP * most))
        .map(|(_, cores)| *cores)
        .collect();
    if up_to_limit.len() >= enough {
        let of_machine = last.limit_cores.is_none();
        let by = if of_machine { SaturatedBy::Machine } else { SaturatedBy::Limit };
        return Some(found(by, &up_to_limit, last.most_cores()));
    }
    if throttled_share.is_some_and(|share| share > THROTTLED_MIN) {
        let all: Vec<f64> = read.iter().map(|(_, cores)| *cores).collect();
        return Some(found(SaturatedBy::Throttling, &all, last.limit_cores));
    }
    let by_thread: Vec<f64> = read
        .iter()
        .filter_map(|(it, cores)| Some((it.busiest_thread_cores?, *cores)))
        .filter(|(busiest, cores)| *busiest >= USED_UP && *cores <= busiest + OTHERS_MAX)
        .map(|(busiest, _)| busiest)
        .collect();
    (by_thread.len() >= enough).then(|| found(SaturatedBy::Thread, &by_thread, Some(1.0)))
}

/// The sentence that says it, without a full stop.
pub fn saturated_sentence(name: &str, found: &Saturated) -> String {
    let cores = words::number(found.cores);
    let limit = found.limit_cores.map_or_else(|| "–".to_owned(), words::number);
    let noun = if found.limit_cores == Some(1.0) { "core" } else { "cores" };
    let when = format!("for {} of {} s", found.seconds, found.of_seconds);
    match found.by {
        SaturatedBy::Limit => format!(
            "{name} used {cores} of its {limit} {noun} {when}: processor time is what limits it"
        ),
        SaturatedBy::Machine => format!(
            "{name} used {cores} of the {limit} {noun} of its machine {when}: processor time is \
             what limits it"
        ),
        SaturatedBy::Thread => format!(
            "one thread of {name} used {cores} of a core {when}, and the others next to nothing: \
             that thread is what limits it"
        ),
        SaturatedBy::Throttling => format!(
            "{name} was throttled in {} of its periods, while it used {cores} cores{}: its quota \
             is what limits it",
            words::percent(found.throttled_share.unwrap_or(0.0)),
            found.limit_cores.map_or_else(String::new, |_| format!(" of {limit}")),
        ),
    }
}

#[cfg(test)]
mod tests;
