//! Does a hop wait for a timer? Something polls every T: what comes at any moment waits 0 to T,
//! evenly; what comes right after a tick waits whole multiples of T.
//!
//! Three kinds of evidence, each with its own file: hops that are spread evenly over an interval
//! (`even`), hops that come in steps (`comb`), and events whose instants keep to a grid that the
//! instants before them do not keep to (`grid`, by the journeys that were kept). A hop that always
//! takes the same time shows nothing by itself; where another hop of its journey has shown a timer
//! and it takes whole intervals of that, it waits for the same.
//!
//! Arrivals at a constant rate are a grid of their own, which no timer of the system made: a
//! period that the scheduled instants keep to is never named. In a queue that grows hops are spread
//! evenly too, over the whole run: hops that rise or fall with time show no timer.

mod comb;
mod even;
mod fit;
mod grid;
mod shape;

use schemars::JsonSchema;
use serde::Serialize;
use sojourn_metrics::Histogram;

use comb::Comb;
use shape::Shape;

/// A hop's samples.
#[derive(Clone, Debug, Default)]
pub struct HopSamples<'a> {
    /// The stage that ends it.
    pub stage: String,
    /// Its durations, nanoseconds.
    pub hops: Option<&'a Histogram>,
    /// Of journeys that were kept, a random sample: the instants of each.
    pub kept: Vec<KeptHop>,
}

/// One journey's instants, nanoseconds since the run's start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeptHop {
    /// When the journey was due.
    pub t0_ns: u64,
    /// Where the hop begins.
    pub from_ns: u64,
    /// Where it ends.
    pub seen_ns: u64,
}

/// A timer, and the hops that wait for it.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Timer {
    /// Its interval, nanoseconds.
    pub period_ns: f64,
    /// The hops, in the order given.
    pub hops: Vec<TimedHop>,
}

/// A hop that waits for a timer.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct TimedHop {
    /// The stage that ends it.
    pub stage: String,
    /// How it shows.
    pub pattern: Pattern,
    /// Hops measured.
    pub hops: u64,
    /// Of the kept journeys, those seen at a tick, and all; `None` where these show no grid.
    pub at_ticks: Option<(u64, u64)>,
}

/// How a hop shows that it waits for a timer.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Pattern {
    /// Spread over one interval.
    Spread {
        /// The shortest, nanoseconds.
        from_ns: f64,
        /// The longest.
        to_ns: f64,
    },
    /// Whole intervals.
    Steps {
        /// Intervals taken by at least one in a hundred, and by which share of the hops, in
        /// ascending order.
        shares: Vec<(u32, f64)>,
    },
}

impl Pattern {
    /// The number of intervals that most hops take; `None` where they are spread over one.
    pub fn usual_steps(&self) -> Option<u32> {
        match self {
            Self::Spread { .. } => None,
            Self::Steps { shares } => {
                shares.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(steps, _)| *steps)
            }
        }
    }
}

/// How near to whole intervals hops must be.
struct Near {
    off: f64,
    share: f64,
}

/// What one hop shows by itself.
struct Sign {
    hop: usize,
    period_ns: f64,
    /// How exactly the period is known: greater is better.
    rank: u8,
    pattern: Pattern,
    at_ticks: Option<(u64, u64)>,
}

/// Periods this close, as a part of the greater, are one timer's.
const SAME: f64 = 0.04;
/// Hops take whole intervals when such a share of them is so close to whole ones, as a part of the
/// interval.
const NEAR: Near = Near { off: 0.1, share: 0.95 };
/// The same where the instants keep to the timer's grid besides.
const NEAR_ON_GRID: Near = Near { off: 0.15, share: 0.9 };
/// Fewer hops do not join another hop's timer.
const JOINING_MIN: u64 = 10;
/// The shortest of hops that wait for the next tick of a grid takes at most so many intervals: the
/// work before the wait.
const BEGINS_MAX: f64 = 2.0;
/// Hops that are correlated so with time rise or fall with it.
const TREND_MAX: f64 = 0.6;
/// R of scheduled instants that are a grid themselves.
const ARRIVALS_KEEP: f64 = 0.8;

/// The timers that a journey's hops wait for, the longest period first.
pub fn timers(hops: &[HopSamples<'_>]) -> Vec<Timer> {
    let shapes: Vec<Option<Shape>> =
        hops.iter().map(|hop| hop.hops.filter(|hops| hops.count() > 0).map(Shape::of)).collect();
    let mut signs: Vec<Sign> = hops
        .iter()
        .zip(&shapes)
        .enumerate()
        .filter_map(|(at, (hop, shape))| sign(at, hop, shape.as_ref()?))
        .collect();
    // The most exact period speaks for those that are the same.
    signs.sort_by(|a, b| (b.rank, a.hop).cmp(&(a.rank, b.hop)));
    let mut timers: Vec<(f64, Vec<Sign>)> = Vec::new();
    for sign in signs {
        let is_same = |period: f64| (period - sign.period_ns).abs() <= tolerance(&sign) * period;
        match timers.iter_mut().find(|(period, _)| is_same(*period)) {
            Some((_, of_it)) => of_it.push(sign),
            None => timers.push((sign.period_ns, vec![sign])),
        }
    }
    timers.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut taken: Vec<usize> =
        timers.iter().flat_map(|(_, signs)| signs.iter().map(|sign| sign.hop)).collect();
    timers
        .into_iter()
        .map(|(period_ns, mut signs)| {
            let joining = joining(period_ns, hops, &shapes, &taken);
            taken.extend(joining.iter().map(|sign| sign.hop));
            signs.extend(joining);
            signs.sort_by_key(|sign| sign.hop);
            Timer { period_ns, hops: signs.into_iter().map(|sign| timed(hops, sign)).collect() }
        })
        .collect()
}

/// How far a sign's period may be from the timer's: that of a spread is the least exact.
fn tolerance(sign: &Sign) -> f64 {
    if sign.rank == 0 { 0.15 } else { SAME }
}

fn timed(hops: &[HopSamples<'_>], sign: Sign) -> TimedHop {
    let hop = &hops[sign.hop];
    TimedHop {
        stage: hop.stage.clone(),
        pattern: sign.pattern,
        hops: hop.hops.map_or(0, Histogram::count),
        at_ticks: sign.at_ticks,
    }
}

fn sign(at: usize, hop: &HopSamples<'_>, shape: &Shape) -> Option<Sign> {
    if trend(&hop.kept).abs() > TREND_MAX {
        return None;
    }
    let even = even::find(shape);
    if let Some(sign) = by_grid(at, hop, shape) {
        return Some(sign);
    }
    let arrivals: Vec<f64> = hop.kept.iter().map(|kept| kept.t0_ns as f64).collect();
    let is_of_arrivals = |period_ns: f64| grid::keeps_to(&arrivals, period_ns) >= ARRIVALS_KEEP;
    let may_be =
        |period_ns: f64| arrivals.len() < JOINING_MIN as usize || !is_of_arrivals(period_ns);
    if let Some(even) = even
        && may_be(even.period_ns)
    {
        let pattern = Pattern::Spread { from_ns: shape.min(), to_ns: shape.max() };
        return Some(Sign { hop: at, period_ns: even.period_ns, rank: 0, pattern, at_ticks: None });
    }
    let Comb { period_ns, clusters } = comb::find(shape).filter(|comb| may_be(comb.period_ns))?;
    let pattern = Pattern::Steps { shares: shares(&clusters, shape.n) };
    Some(Sign { hop: at, period_ns, rank: 1, pattern, at_ticks: None })
}

/// How the kept hops rise with time: their correlation with the instants they begin at.
fn trend(kept: &[KeptHop]) -> f64 {
    if kept.len() < JOINING_MIN as usize {
        return 0.0;
    }
    let n = kept.len() as f64;
    let point = |kept: &KeptHop| (kept.from_ns as f64, kept.seen_ns as f64 - kept.from_ns as f64);
    let (x, y) = kept.iter().map(point).fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (from, hop) in kept.iter().map(point) {
        let (from, hop) = (from - x / n, hop - y / n);
        xx += from * from;
        yy += hop * hop;
        xy += from * hop;
    }
    xy / (xx * yy).sqrt().max(f64::MIN_POSITIVE)
}

/// A hop that begins at any moment and ends at the ticks of a grid.
fn by_grid(at: usize, hop: &HopSamples<'_>, shape: &Shape) -> Option<Sign> {
    let trimmed = shape.trimmed();
    let guess_ns = trimmed.width();
    // Hops that hardly differ wait for something else than the next tick; and where they begin at
    // the ticks of another timer, their instants are not of chance.
    if trimmed.min() > BEGINS_MAX * guess_ns || even::is_far(&trimmed) {
        return None;
    }
    let instants = |of: fn(&KeptHop) -> u64| -> Vec<f64> {
        hop.kept.iter().map(|kept| of(kept) as f64).collect()
    };
    let found =
        grid::find(&instants(|kept| kept.from_ns), &instants(|kept| kept.seen_ns), guess_ns)?;
    let pattern = Pattern::Spread { from_ns: shape.min(), to_ns: shape.max() };
    let at_ticks = Some(found.at_ticks);
    Some(Sign { hop: at, period_ns: found.period_ns, rank: 2, pattern, at_ticks })
}

/// Hops without a sign of their own that take whole intervals of a timer.
fn joining(
    period_ns: f64,
    hops: &[HopSamples<'_>],
    shapes: &[Option<Shape>],
    taken: &[usize],
) -> Vec<Sign> {
    let join = |at: usize, hop: &HopSamples<'_>, shape: &Shape| {
        let seen: Vec<f64> = hop.kept.iter().map(|kept| kept.seen_ns as f64).collect();
        let is_on_grid = seen.len() >= JOINING_MIN as usize
            && grid::keeps_to(&seen, period_ns) >= grid::KEEPS_MIN;
        let clusters = whole(shape, period_ns, if is_on_grid { NEAR_ON_GRID } else { NEAR })?;
        let at_ticks = is_on_grid.then(|| grid::at_ticks(&seen, period_ns));
        let pattern = Pattern::Steps { shares: shares(&clusters, shape.n) };
        Some(Sign { hop: at, period_ns, rank: 1, pattern, at_ticks })
    };
    hops.iter()
        .zip(shapes)
        .enumerate()
        .filter(|(at, _)| !taken.contains(at))
        .filter_map(|(at, (hop, shape))| join(at, hop, shape.as_ref()?))
        .collect()
}

/// How many intervals the hops take, where nearly all take whole ones and at least one.
fn whole(shape: &Shape, period_ns: f64, needed: Near) -> Option<Vec<(u32, f64)>> {
    let (mut clusters, mut near) = (Vec::<(u32, f64)>::new(), 0.0);
    for &(value, count) in &shape.points {
        let steps = (value / period_ns).round();
        let is_near = (value / period_ns - steps).abs() <= needed.off;
        if !is_near || steps < 1.0 || steps > f64::from(u16::MAX) {
            continue;
        }
        near += count;
        match clusters.last_mut() {
            Some((last, of_it)) if f64::from(*last) == steps => *of_it += count,
            _ => clusters.push((steps as u32, count)),
        }
    }
    (shape.n >= JOINING_MIN as f64 && near >= needed.share * shape.n).then_some(clusters)
}

fn shares(clusters: &[(u32, f64)], n: f64) -> Vec<(u32, f64)> {
    let shares = clusters.iter().map(|&(steps, count)| (steps, count / n));
    shares.filter(|(_, share)| *share >= 0.01).collect()
}
