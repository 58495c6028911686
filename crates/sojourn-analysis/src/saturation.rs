//! Which stage can't keep up, and how much it does at once.
//!
//! A stage whose capacity is exhausted shows in three figures together: more journeys reach the
//! point before it than leave it, so that those who wait for it grow; as many leave it however many
//! wait; and its hop grows, since whoever comes waits behind the others. A loss shows in the first
//! alone, a slowdown in the first and the last.
//!
//! How much it does at once follows from Little's law: what leaves per second times the time of
//! work, for which the shortest hop stands, the one that waited for nobody. Where a stage of its
//! own marks the beginning of the work, so that the shortest hop to it is none, the limit can be
//! seen directly: the level of those between the two stays at it, while those before grow.

use schemars::JsonSchema;
use serde::Serialize;

use crate::backlog::{self, Backlog, Level, Load, Slope};

/// One second of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageSecond {
    /// Its start, nanoseconds since the run's start.
    pub start_ns: u64,
    /// Its end.
    pub end_ns: u64,
    /// Journeys that reached the point before the stage.
    pub entered: u64,
    /// Journeys that reached the stage.
    pub left: u64,
    /// Journeys that wait for it, at the second's end; `None` when not measured.
    pub waiting: Option<f64>,
    /// The most that waited for it in this second.
    pub waiting_max: Option<f64>,
    /// The hop's least, median and 95th percentile, nanoseconds.
    pub hop_ns: Option<[f64; 3]>,
}

/// A stage, second by second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageTimeline {
    /// Its name.
    pub stage: String,
    /// The stage or step that its hop counts from.
    pub after: String,
    /// Seconds of the run in order.
    pub seconds: Vec<StageSecond>,
}

/// The part of the run that is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Start of the steady phase, nanoseconds since the run's start.
    pub from_ns: u64,
    /// The last arrival.
    pub to_ns: u64,
}

/// A stage and what the slope of those who wait for it says.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct StageGrowth {
    /// The stage.
    pub stage: String,
    /// The judgement.
    #[serde(flatten)]
    pub backlog: Backlog,
}

/// The stage whose backlog grows first.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Saturation {
    /// The stage that can't keep up.
    pub stage: String,
    /// Those who wait for it, or for the stage before it where that one shows its limit.
    pub growing: String,
    /// By how much they grow.
    pub slope: Slope,
    /// When they began to, nanoseconds since the run's start.
    pub began_ns: u64,
    /// Journeys that reached the point before, per second.
    pub entered_per_s: f64,
    /// Journeys that reached the stage, per second.
    pub left_per_s: f64,
    /// What its capacity shows by; `None` when it grows but is not shown to be exhausted.
    pub exhausted: Option<Exhausted>,
    /// Other stages that grow too, in order.
    pub others: Vec<String>,
}

/// By what an exhausted capacity shows.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Exhausted {
    /// As many leave however many wait.
    Throughput {
        /// The shortest hop, nanoseconds.
        hop_min_ns: f64,
        /// Median hop at the beginning and at the end, nanoseconds.
        hop_rose_ns: [f64; 2],
        /// Journeys worked on at once; `None` where the shortest hop is not work alone.
        at_once: Option<f64>,
    },
    /// The level between two stages stays at its limit.
    Level {
        /// The limit.
        at_once: u64,
        /// The share of the seconds at it.
        share: f64,
    },
}

/// Fewer leave than enter by at least this part.
const DEFICIT_MIN: f64 = 0.03;
/// What leaves may change from one half to the other by this part, beside what chance makes.
const LEAVES_CHANGE_MAX: f64 = 0.1;
/// The median hop must rise to so many times what it was.
const HOP_RISE_MIN: f64 = 1.25;
/// The share of the seconds in which a level is at its limit.
const AT_LIMIT_MIN: f64 = 0.9;
/// Fewer seconds show neither.
const SECONDS_MIN: usize = 8;

/// Of each stage, whether those who wait for it grow.
pub fn growths(stages: &[StageTimeline], window: &Window) -> Vec<StageGrowth> {
    stages
        .iter()
        .filter_map(|stage| {
            let backlog = growth(stage, window)?;
            Some(StageGrowth { stage: stage.stage.clone(), backlog })
        })
        .collect()
}

/// The stage whose backlog grows first, and what shows that its capacity is exhausted; `None` where
/// none grows. `timed` are stages whose hop waits for a timer: their shortest hop is not work.
pub fn saturation(
    stages: &[StageTimeline],
    window: &Window,
    growths: &[StageGrowth],
    timed: &[String],
) -> Option<Saturation> {
    let growing: Vec<(&StageTimeline, Slope, u64)> = growths
        .iter()
        .filter_map(|growth| {
            let Backlog::Growing { slope } = growth.backlog else { return None };
            let stage = stages.iter().find(|stage| stage.stage == growth.stage)?;
            Some((stage, slope, began_ns(stage, window)))
        })
        .collect();
    let earliest_ns = growing.iter().map(|(_, _, began_ns)| *began_ns).min()?;
    let together_ns = (window.to_ns.saturating_sub(window.from_ns) / 20).max(2_000_000_000);
    // Stages that begin together: the first of them is the cause.
    let &(stage, slope, began_ns) =
        growing.iter().find(|(_, _, began_ns)| *began_ns <= earliest_ns + together_ns)?;
    let within = within(stage, window);
    let seconds = elapsed_s(&within);
    let entered: u64 = within.iter().map(|second| second.entered).sum();
    let left: u64 = within.iter().map(|second| second.left).sum();
    let is_timed = timed.contains(&stage.stage);
    let own = throughput(stage, window, is_timed);
    // Where those who wait do no work meanwhile, it is the next stage that has no more places.
    let is_idle = matches!(own, Some(Exhausted::Throughput { at_once: None, .. }) if !is_timed);
    let next = stages.iter().filter(|next| is_idle && next.after == stage.stage);
    let limit = next.filter_map(|next| Some((next, level(next, window)?))).next();
    let exhausted = limit.map(|(_, level)| level).or(own);
    Some(Saturation {
        stage: limit.map_or(&stage.stage, |(next, _)| &next.stage).clone(),
        growing: stage.stage.clone(),
        slope,
        began_ns,
        entered_per_s: entered as f64 / seconds,
        left_per_s: left as f64 / seconds,
        exhausted,
        others: growing
            .iter()
            .filter(|(other, _, _)| other.stage != stage.stage)
            .map(|(other, _, _)| other.stage.clone())
            .collect(),
    })
}

/// Until a stage is filled, those who wait for it grow anyhow: for as long as its hops take. In a
/// queue that grows the hops do too, so that the beginning of the run must speak for them: the
/// lower quarter of the seconds' 95th percentiles, twice.
fn growth(stage: &StageTimeline, window: &Window) -> Option<Backlog> {
    let first = stage.seconds.iter().find(|second| second.entered > 0)?;
    let loaded = || stage.seconds.iter().filter(|second| second.end_ns <= window.to_ns);
    let mut hops: Vec<f64> =
        loaded().filter_map(|second| second.hop_ns.map(|[_, _, p95_ns]| p95_ns)).collect();
    hops.sort_by(f64::total_cmp);
    let fill_ns = 2.0 * hops.get(hops.len() / 4).copied().unwrap_or(0.0);
    let levels: Vec<Level> = loaded()
        .filter_map(|second| Some(Level { at_ns: second.end_ns, value: second.waiting? }))
        .collect();
    let entered: u64 = loaded().map(|second| second.entered).sum();
    let seconds = (window.to_ns.saturating_sub(first.start_ns)) as f64 / 1e9;
    let load = Load {
        start_ns: first.start_ns,
        steady_ns: window.from_ns,
        end_ns: window.to_ns,
        arrivals_per_s: entered as f64 / seconds.max(1e-9),
        journey_p99_ns: Some(fill_ns as u64),
    };
    (!levels.is_empty() && entered > 0).then(|| backlog::judge(&levels, &load))
}

/// The seconds of a stage within the window.
fn within(stage: &StageTimeline, window: &Window) -> Vec<StageSecond> {
    let is_within =
        |second: &&StageSecond| second.start_ns >= window.from_ns && second.end_ns <= window.to_ns;
    stage.seconds.iter().filter(is_within).copied().collect()
}

fn elapsed_s(seconds: &[StageSecond]) -> f64 {
    let ns: u64 = seconds.iter().map(|it| it.end_ns.saturating_sub(it.start_ns)).sum();
    (ns as f64 / 1e9).max(1e-9)
}

/// The last instant at which no more than a tenth of the final level waited.
fn began_ns(stage: &StageTimeline, window: &Window) -> u64 {
    let loaded = || stage.seconds.iter().filter(|second| second.end_ns <= window.to_ns);
    let last = loaded().filter_map(|second| second.waiting).next_back().unwrap_or(0.0);
    let low = loaded().filter(|second| second.waiting.is_some_and(|level| level <= 0.1 * last));
    low.map(|second| second.end_ns).max().unwrap_or(0)
}

/// As many leave however many wait, and whoever comes waits longer.
fn throughput(stage: &StageTimeline, window: &Window, is_timed: bool) -> Option<Exhausted> {
    let seconds = within(stage, window);
    if seconds.len() < SECONDS_MIN {
        return None;
    }
    let entered: u64 = seconds.iter().map(|second| second.entered).sum();
    let left: u64 = seconds.iter().map(|second| second.left).sum();
    if left == 0 || (left as f64) > (1.0 - DEFICIT_MIN) * entered as f64 {
        return None;
    }
    let (early, late) = seconds.split_at(seconds.len() / 2);
    let [early_left, late_left] =
        [early, late].map(|half| half.iter().map(|second| second.left as f64).sum::<f64>());
    let [early_per_s, late_per_s] = [early_left / elapsed_s(early), late_left / elapsed_s(late)];
    let chance = 3.0 * (early_left + late_left).sqrt() / elapsed_s(early);
    if (late_per_s - early_per_s).abs() > LEAVES_CHANGE_MAX * early_per_s + chance {
        return None;
    }
    let median = |of: &[StageSecond]| {
        let hops = of.iter().filter_map(|second| second.hop_ns.map(|[_, p50_ns, _]| p50_ns));
        let mut hops: Vec<f64> = hops.collect();
        hops.sort_by(f64::total_cmp);
        hops.get(hops.len() / 2).copied()
    };
    let third = seconds.len() / 3;
    let hop_rose_ns = [median(&seconds[..third])?, median(&seconds[seconds.len() - third..])?];
    if hop_rose_ns[1] < HOP_RISE_MIN * hop_rose_ns[0] {
        return None;
    }
    let least = stage.seconds.iter().filter_map(|it| it.hop_ns.map(|[min_ns, _, _]| min_ns));
    let hop_min_ns = least.fold(f64::INFINITY, f64::min);
    let at_once = left as f64 / elapsed_s(&seconds) * hop_min_ns / 1e9;
    // Less than one at once is no concurrency: the shortest hop was work of no size.
    let at_once = (!is_timed && at_once >= 0.9).then_some(at_once);
    Some(Exhausted::Throughput { hop_min_ns, hop_rose_ns, at_once })
}

/// The level of those between two stages that stays at its highest.
fn level(stage: &StageTimeline, window: &Window) -> Option<Exhausted> {
    let highest: Vec<f64> =
        within(stage, window).iter().filter_map(|second| second.waiting_max).collect();
    let limit = highest.iter().copied().fold(0.0, f64::max);
    let at_limit = highest.iter().filter(|level| **level == limit).count();
    let share = at_limit as f64 / highest.len().max(1) as f64;
    (highest.len() >= SECONDS_MIN && limit >= 1.0 && share >= AT_LIMIT_MIN)
        .then_some(Exhausted::Level { at_once: limit as u64, share })
}

#[cfg(test)]
mod tests;
