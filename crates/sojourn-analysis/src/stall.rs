//! Did completions stop for a while, though journeys were on their way?
//!
//! A stall is a row of seconds in which next to nothing is completed, long enough that at the usual
//! rate twenty or more would have been, and much longer than the pauses that the system makes
//! anyhow (a relay that polls every five seconds completes nothing in four of them). Journeys must
//! have been arriving before it, for a pause of the load is not the system's.

use schemars::JsonSchema;
use serde::Serialize;

use crate::saturation::StageTimeline;

/// One second's completions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Second {
    /// Its start, nanoseconds since the run's start.
    pub start_ns: u64,
    /// Its end.
    pub end_ns: u64,
    /// Arrivals in it.
    pub arrived: u64,
    /// Completions in it.
    pub completed: u64,
}

/// Seconds with next to no completions.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Stall {
    /// Its start, nanoseconds since the run's start.
    pub from_ns: u64,
    /// Its end: when completions went on, or the last arrival.
    pub to_ns: u64,
    /// Completions in it.
    pub completed: u64,
    /// Completions that the usual rate would have made in it.
    pub expected: f64,
    /// Whether completions went on after it, before the last arrival.
    pub ended: bool,
}

/// A stall and where it was.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Stalled {
    /// When, and what it cost.
    #[serde(flatten)]
    pub stall: Stall,
    /// The first stage that was not reached meanwhile, where there is one.
    pub stage: Option<String>,
}

/// Stalls told of one run: the longest.
const STALLS_MAX: usize = 5;
/// Of the usual rate: a second with no more than this part is a silent one.
const SILENT: f64 = 0.05;
/// Completions that a stall must have cost: by chance twenty fail to come in one of 10⁸ cases.
const EXPECTED_MIN: f64 = 20.0;
/// So many times the usual longest pause.
const TIMES_USUAL: usize = 3;
/// A shorter one is not told, seconds.
const SECONDS_MIN: usize = 2;

/// The stalls between the first completion and the last arrival, in order.
pub fn stalls(seconds: &[Second], arrivals_end_ns: u64) -> Vec<Stall> {
    let loaded: Vec<&Second> = seconds
        .iter()
        .skip_while(|second| second.completed == 0)
        .filter(|second| second.end_ns <= arrivals_end_ns)
        .collect();
    let rate = usual(&loaded);
    let pauses = pauses(&loaded, SILENT * rate);
    let longest_usual = usual_pause(&pauses, loaded.len());
    let mut stalls: Vec<Stall> = pauses
        .iter()
        .filter(|(_, length)| {
            *length >= SECONDS_MIN
                && *length as f64 * rate >= EXPECTED_MIN
                && *length > TIMES_USUAL * longest_usual
        })
        .filter_map(|&(from, length)| stall(&loaded, from, length, rate))
        .collect();
    stalls.sort_by(|a, b| b.expected.total_cmp(&a.expected));
    stalls.truncate(STALLS_MAX);
    stalls.sort_by_key(|stall| stall.from_ns);
    stalls
}

/// The first stage, in their order, that next to nothing reached during a stall, though it is
/// usually reached more often than that.
pub fn first_silent(stall: &Stall, stages: &[StageTimeline]) -> Option<String> {
    let is_silent = |stage: &&StageTimeline| {
        let is_within = |at_ns: u64| at_ns >= stall.from_ns && at_ns < stall.to_ns;
        let loaded = || stage.seconds.iter().skip_while(|second| second.left == 0);
        let within: Vec<u64> =
            loaded().filter(|it| is_within(it.start_ns)).map(|it| it.left).collect();
        let others: Vec<u64> =
            loaded().filter(|it| it.end_ns <= stall.from_ns).map(|it| it.left).collect();
        let mean = |of: &[u64]| of.iter().sum::<u64>() as f64 / of.len().max(1) as f64;
        !within.is_empty() && mean(&others) > 0.0 && mean(&within) <= SILENT * mean(&others)
    };
    stages.iter().find(is_silent).map(|stage| stage.stage.clone())
}

fn stall(seconds: &[&Second], from: usize, length: usize, rate: f64) -> Option<Stall> {
    let within = &seconds[from..from + length];
    // Journeys on their way: as many as usual in as long a time before it, for what has arrived
    // since need not be complete.
    let before = &seconds[from.saturating_sub(length)..from];
    let arrived: u64 = before.iter().map(|second| second.arrived).sum();
    let has_come = arrived as f64 >= 0.5 * rate * before.len() as f64;
    (has_come && !before.is_empty()).then(|| Stall {
        from_ns: within[0].start_ns,
        to_ns: within[length - 1].end_ns,
        completed: within.iter().map(|second| second.completed).sum(),
        expected: rate * length as f64,
        ended: from + length < seconds.len(),
    })
}

/// Completions per second, on average: in a relayed system most seconds have none.
fn usual(seconds: &[&Second]) -> f64 {
    let completed: u64 = seconds.iter().map(|second| second.completed).sum();
    completed as f64 / seconds.len().max(1) as f64
}

/// Rows of silent seconds: (first, how many).
fn pauses(seconds: &[&Second], silent: f64) -> Vec<(usize, usize)> {
    let mut pauses: Vec<(usize, usize)> = Vec::new();
    for (at, second) in seconds.iter().enumerate() {
        if second.completed as f64 > silent {
            continue;
        }
        match pauses.last_mut() {
            Some((from, length)) if *from + *length == at => *length += 1,
            _ => pauses.push((at, 1)),
        }
    }
    pauses
}

/// The pause that is not uncommon: so long or longer are several, or one of a short run.
fn usual_pause(pauses: &[(usize, usize)], seconds: usize) -> usize {
    let mut lengths: Vec<usize> = pauses.iter().map(|(_, length)| *length).collect();
    lengths.sort_unstable_by_key(|length| std::cmp::Reverse(*length));
    // Up to one stall in two minutes, and five at most, may be the longest.
    let stalls = (seconds / 120 + 1).min(STALLS_MAX);
    lengths.get(stalls).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::saturation::StageSecond;

    const SECOND: u64 = 1_000_000_000;

    fn seconds(arrived: u64, completed: impl Fn(u64) -> u64, count: u64) -> Vec<Second> {
        (0..count)
            .map(|at| Second {
                start_ns: at * SECOND,
                end_ns: (at + 1) * SECOND,
                arrived,
                completed: completed(at),
            })
            .collect()
    }

    fn of(seconds: &[Second]) -> Vec<Stall> {
        stalls(seconds, seconds.len() as u64 * SECOND)
    }

    #[test]
    fn seconds_without_completions_are_a_stall() {
        let found = of(&seconds(50, |at| if (20..26).contains(&at) { 0 } else { 50 }, 60));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].from_ns, found[0].to_ns), (20 * SECOND, 26 * SECOND));
        assert!(found[0].ended && found[0].expected > 250.0);
    }

    #[test]
    fn the_first_stage_that_was_not_reached_is_named() {
        let stage = |name: &str, silent: std::ops::Range<u64>| StageTimeline {
            stage: name.to_owned(),
            after: String::new(),
            seconds: (0..60)
                .map(|at| StageSecond {
                    start_ns: at * SECOND,
                    end_ns: (at + 1) * SECOND,
                    left: if silent.contains(&at) { 0 } else { 50 },
                    ..StageSecond::default()
                })
                .collect(),
        };
        let found = of(&seconds(50, |at| if (20..26).contains(&at) { 0 } else { 50 }, 60));
        let stages = [stage("created", 0..0), stage("settled", 20..26), stage("done", 20..26)];
        assert_eq!(first_silent(&found[0], &stages).as_deref(), Some("settled"));
        assert_eq!(first_silent(&found[0], &stages[..1]), None);
    }

    #[test]
    fn a_trickle_does_not_hide_a_stall() {
        let found = of(&seconds(50, |at| if (20..26).contains(&at) { 1 } else { 50 }, 60));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].completed, 6);
    }

    #[test]
    fn completions_that_never_go_on_are_told_as_such() {
        let found = of(&seconds(50, |at| if at >= 40 { 0 } else { 50 }, 60));
        assert_eq!(found.len(), 1);
        assert!(!found[0].ended);
    }

    #[test]
    fn a_relay_that_polls_does_not_stall() {
        assert_eq!(of(&seconds(50, |at| if at.is_multiple_of(5) { 250 } else { 0 }, 90)), []);
        let missed =
            |at: u64| if at.is_multiple_of(5) && !(40..60).contains(&at) { 250 } else { 0 };
        assert_eq!(of(&seconds(50, missed, 90)).len(), 1);
    }

    #[test]
    fn few_arrivals_a_pause_of_the_load_and_the_drain_are_no_stall() {
        assert_eq!(of(&seconds(1, |at| u64::from(at.is_multiple_of(7)), 60)), []);
        let mut paused = seconds(50, |at| if (21..30).contains(&at) { 0 } else { 50 }, 60);
        paused[11..30].iter_mut().for_each(|second| second.arrived = 0);
        assert_eq!(of(&paused), []);
        let drained = seconds(50, |at| if at >= 40 { 0 } else { 50 }, 60);
        assert_eq!(stalls(&drained, 40 * SECOND), []);
        assert_eq!(stalls(&[], 0), []);
    }

    #[test]
    fn a_pipeline_that_fills_up_has_not_stalled() {
        assert_eq!(of(&seconds(50, |at| if at < 20 { 0 } else { 50 }, 60)), []);
    }
}
