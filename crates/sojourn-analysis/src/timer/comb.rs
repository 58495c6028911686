//! Hops that come in steps: clusters at multiples of a period, and next to nothing between.
//!
//! A distribution with one peak has between two clusters at least as much as in the one that is
//! further from the peak. So all that lies half-way between multiples of the period, taken
//! together, is at least what lies near multiples without the greatest cluster. Steps are claimed
//! when half-way there is so much less that a fair coin would fall so in one case of ten thousand.

use super::shape::Shape;

/// Fewer samples than this show no steps.
const SAMPLES_MIN: f64 = 20.0;
/// The most steps that the fullest cluster may be away from zero.
const STEPS_MAX: u32 = 30;
/// How far clusters may lie off the multiples: the work before the wait, as a part of the period.
const OFFSET_MAX: f64 = 0.1;
/// The same where there are but two clusters, which chance puts so more easily.
const OFFSET_OF_TWO_MAX: f64 = 0.05;
/// Deviation of samples from their multiple at most, as a part of the period.
const DEVIATION_MAX: f64 = 0.12;
/// What lies half-way between multiples at most, of what lies near one.
const BETWEEN_MAX: f64 = 0.1;
/// With so much between them, as a part of all, a guess is none.
const HOPELESS: f64 = 0.4;
/// The chance that is called none: there are thirty candidates for a period.
const CHANCE_MAX: f64 = 1e-4;

/// Clusters at multiples of a period.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Comb {
    pub(super) period_ns: f64,
    /// Steps and how many samples lie near each, in ascending order.
    pub(super) clusters: Vec<(u32, f64)>,
}

/// The greatest period whose multiples the samples keep to; `None` without one.
pub(super) fn find(shape: &Shape) -> Option<Comb> {
    if shape.n < SAMPLES_MIN {
        return None;
    }
    let fullest = shape.mode(0.01);
    (1..=STEPS_MAX).find_map(|steps| at(shape, fullest / f64::from(steps)))
}

fn at(shape: &Shape, guess_ns: f64) -> Option<Comb> {
    let (period_ns, offset_ns) = refined(shape, guess_ns)?;
    let nearest = |value: f64| ((value - offset_ns) / period_ns).round().max(0.0);
    let (mut clusters, mut between, mut squares) = (Vec::<(u32, f64)>::new(), 0.0, 0.0);
    for &(value, count) in &shape.points {
        let steps = nearest(value);
        let off = (value - offset_ns) / period_ns - steps;
        if off.abs() > 0.25 {
            between += count;
            continue;
        }
        squares += off * off * count;
        match clusters.last_mut() {
            Some((last, of_it)) if f64::from(*last) == steps => *of_it += count,
            _ => clusters.push((steps as u32, count)),
        }
    }
    let near: f64 = clusters.iter().map(|(_, count)| count).sum();
    let rest = near - clusters.iter().map(|(_, count)| *count).fold(0.0, f64::max);
    // A stray sample is no cluster.
    clusters.retain(|(_, count)| *count >= f64::max(2.0, 0.01 * shape.n));
    let offset_max = if clusters.len() > 2 { OFFSET_MAX } else { OFFSET_OF_TWO_MAX };
    let holds = clusters.len() >= 2
        && has_neighbours(&clusters)
        && offset_ns.abs() <= offset_max * period_ns
        && (squares / near).sqrt() <= DEVIATION_MAX
        && between <= BETWEEN_MAX * rest
        && chance(between, rest) <= CHANCE_MAX;
    holds.then_some(Comb { period_ns, clusters })
}

/// Clusters one step apart: else the period is a guess at something else.
fn has_neighbours(clusters: &[(u32, f64)]) -> bool {
    clusters.windows(2).any(|pair| pair[1].0 == pair[0].0 + 1)
}

/// The period and offset that fit best, from a guess: a line through (steps, samples).
fn refined(shape: &Shape, guess_ns: f64) -> Option<(f64, f64)> {
    let (mut period_ns, mut offset_ns) = (guess_ns, 0.0);
    for _ in 0..3 {
        let (mut n, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
        let mut between = 0.0;
        for &(value, count) in &shape.points {
            let steps = ((value - offset_ns) / period_ns).round().max(0.0);
            let off = (value - offset_ns) / period_ns - steps;
            if off.abs() > 0.25 {
                between += count;
                continue;
            }
            n += count;
            x += steps * count;
            y += value * count;
            xx += steps * steps * count;
            xy += steps * value * count;
        }
        let spread = n * xx - x * x;
        // Half of what has no steps is between: no better guess comes of it.
        if spread <= 0.0 || between > HOPELESS * shape.n {
            return None;
        }
        period_ns = (n * xy - x * y) / spread;
        offset_ns = (y - period_ns * x) / n;
        if period_ns.is_nan() || period_ns < guess_ns * 0.8 || period_ns > guess_ns * 1.2 {
            return None;
        }
    }
    Some((period_ns, offset_ns))
}

/// That a fair coin shows heads at most `between` times when tails come `rest` times: the
/// cumulative binomial distribution at one half; of many throws Hoeffding's bound, which is
/// greater.
fn chance(between: f64, rest: f64) -> f64 {
    let n = between + rest;
    if n > 1_000.0 {
        let z = (rest - between) / n.sqrt();
        return (-z * z / 2.0).exp();
    }
    let (mut term, mut sum) = (-n * std::f64::consts::LN_2, 0.0);
    for k in 0..=between as u32 {
        if k > 0 {
            term += (n - f64::from(k) + 1.0).ln() - f64::from(k).ln();
        }
        sum += term.exp();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fair_coin() {
        assert!((chance(0.0, 10.0) - 0.5f64.powi(10)).abs() < 1e-12);
        // Of ten throws at most three heads: 176 of 1,024.
        assert!((chance(3.0, 7.0) - 176.0 / 1_024.0).abs() < 1e-12);
        assert!(chance(400.0, 1_000.0) < 1e-20);
    }
}
