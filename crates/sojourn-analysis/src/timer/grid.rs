//! Instants that keep to a grid: what a timer releases is seen at its ticks.
//!
//! A few dozen kept journeys show this far better than the hops alone, since it is a matter of
//! when events came and not of how long they took. The length of the mean vector of the instants'
//! phases (Rayleigh's statistic R) is one on a grid. Among n instants at random, n·R² exceeds z
//! with probability e^−z at each period looked at.

use std::f64::consts::TAU;

/// Instants looked at, at most: they are enough.
const INSTANTS_MAX: usize = 64;
/// Fewer instants show no grid.
const INSTANTS_MIN: usize = 12;
/// How far from the guess a period is looked for, as a part of it.
const OFF_MAX: f64 = 0.3;
/// Periods tried at most.
const PERIODS_MAX: f64 = 6_000.0;
/// Periods tried for each turn that the run's length makes among them.
const PERIODS_PER_TURN: f64 = 8.0;
/// R of instants that keep to a grid.
pub(super) const KEEPS_MIN: f64 = 0.8;
/// R of the instants before, which must not keep to it already.
const BEFORE_MAX: f64 = 0.5;
/// The chance that is called none, as −ln.
const CHANCE_MAX_LN: f64 = 11.5;
/// How near to a tick counts as at it, as a part of the period.
const AT_TICK: f64 = 0.1;

/// A grid that instants keep to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Grid {
    pub(super) period_ns: f64,
    /// Instants at its ticks, and all looked at.
    pub(super) at_ticks: (u64, u64),
}

/// A grid that `seen` keeps to and `before` does not, with a period near a guess: within three
/// tenths of it, or as near as can be searched.
pub(super) fn find(before: &[f64], seen: &[f64], guess_ns: f64) -> Option<Grid> {
    let (before, seen) = (thinned(before), thinned(seen));
    let span_ns = span(&seen);
    if seen.len() < INSTANTS_MIN || guess_ns <= 0.0 || span_ns < 2.0 * guess_ns {
        return None;
    }
    let turns = span_ns / guess_ns;
    let off = f64::min(OFF_MAX, PERIODS_MAX / PERIODS_PER_TURN / turns / 2.0);
    let (least, most) = (1.0 / (1.0 + off) / guess_ns, 1.0 / (1.0 - off) / guess_ns);
    let periods = ((most - least) * span_ns * PERIODS_PER_TURN).ceil().max(1.0);
    let step = (most - least) / periods;
    let keeps = |frequency: f64| resultant(&seen, 1.0 / frequency).0;
    let (_, best) = (0..=periods as u32)
        .map(|nth| least + f64::from(nth) * step)
        .map(|frequency| (keeps(frequency), frequency))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    let period_ns = 1.0 / sharpened(&keeps, best, step);
    let (length, _) = resultant(&seen, period_ns);
    let is_chance = seen.len() as f64 * length * length < CHANCE_MAX_LN + (periods + 1.0).ln();
    if length < KEEPS_MIN || is_chance || keeps_to(&before, period_ns) > BEFORE_MAX {
        return None;
    }
    Some(Grid { period_ns, at_ticks: at_ticks(&seen, period_ns) })
}

/// How well instants keep to a grid of this period, 0 to 1.
pub(super) fn keeps_to(instants: &[f64], period_ns: f64) -> f64 {
    resultant(&thinned(instants), period_ns).0
}

/// How many instants are at a tick of this period, of how many.
pub(super) fn at_ticks(instants: &[f64], period_ns: f64) -> (u64, u64) {
    let instants = thinned(instants);
    let (_, phase) = resultant(&instants, period_ns);
    let is_at = |instant: &&f64| {
        let turns = *instant / period_ns - phase;
        (turns - turns.round()).abs() <= AT_TICK
    };
    (instants.iter().filter(is_at).count() as u64, instants.len() as u64)
}

/// The mean vector of the phases: its length, and its direction in turns.
fn resultant(instants: &[f64], period_ns: f64) -> (f64, f64) {
    let (mut x, mut y) = (0.0, 0.0);
    for instant in instants {
        let (sine, cosine) = (instant / period_ns * TAU).sin_cos();
        x += cosine;
        y += sine;
    }
    (x.hypot(y) / instants.len().max(1) as f64, y.atan2(x) / TAU)
}

/// The frequency of the peak near one that was tried: ever smaller steps uphill.
fn sharpened(keeps: &impl Fn(f64) -> f64, from: f64, step: f64) -> f64 {
    let (mut at, mut step) = (from, step / 2.0);
    for _ in 0..16 {
        let around = [at - step, at, at + step];
        at = around.into_iter().max_by(|a, b| keeps(*a).total_cmp(&keeps(*b))).unwrap_or(at);
        step /= 2.0;
    }
    at
}

fn thinned(instants: &[f64]) -> Vec<f64> {
    let every = instants.len().div_ceil(INSTANTS_MAX).max(1);
    instants.iter().step_by(every).copied().collect()
}

fn span(instants: &[f64]) -> f64 {
    let last = instants.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let first = instants.iter().copied().fold(f64::INFINITY, f64::min);
    (last - first).max(0.0)
}
