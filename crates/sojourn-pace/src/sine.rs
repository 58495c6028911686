//! A sine-shaped intensity, floored at zero: its integral and the inverse of it.
//!
//! In turns of a wave (θ = t/period), λ(θ) = max(0, m + a·sin 2πθ) with a > 0. It is positive on
//! one stretch of each turn: sin 2πθ > −m/a, so with β = asin(m/a) / 2π from θ = −β to θ = ½ + β.
//! Counted from the start of that stretch, y = θ + β, the integral over one turn is
//!
//! ```text
//! h(y) = m·y + a/π · sin(πy) · sin(π(y − 2β))      for 0 ≤ y ≤ L = ½ + 2β
//! h(y) = h(L)                                        for L ≤ y ≤ 1
//! ```
//!
//! where the product stands for (cos 2πβ − cos 2π(y − β)) / 2, which would cancel for small y. A
//! wave that never touches zero (m ≥ a) is the case β = ¼, L = 1.

use std::f64::consts::{PI, TAU};

/// A floored sine over time in seconds, from its segment's start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sine {
    mean_per_s: f64,
    amplitude_per_s: f64,
    period_s: f64,
    /// β, in turns.
    lead: f64,
    /// L, in turns.
    positive: f64,
    /// Where the segment starts: θ + β, in [0, 1).
    origin: f64,
}

impl Sine {
    /// A wave; `amplitude_per_s` must not be zero, `period_s` must be positive, all finite.
    pub(crate) fn new(mean_per_s: f64, amplitude_per_s: f64, period_s: f64, phase: f64) -> Self {
        // A negative swing is a positive one half a turn on.
        let phase = if amplitude_per_s < 0.0 { phase + 0.5 } else { phase };
        let amplitude_per_s = amplitude_per_s.abs();
        let lead = (mean_per_s / amplitude_per_s).clamp(-1.0, 1.0).asin() / TAU;
        Self {
            mean_per_s,
            amplitude_per_s,
            period_s,
            lead,
            positive: (0.5 + 2.0 * lead).clamp(0.0, 1.0),
            origin: (phase + lead).rem_euclid(1.0).min(1.0 - f64::EPSILON),
        }
    }

    /// Arrivals within the first `t_s` seconds.
    pub(crate) fn area(&self, t_s: f64) -> f64 {
        let turns = self.origin + t_s / self.period_s;
        let whole = turns.floor();
        let whole_turns = whole * self.per_turn();
        let within = self.within_turn(turns - whole) - self.within_turn(self.origin);
        (self.period_s * (whole_turns + within)).max(0.0)
    }

    /// The instant in seconds at which the area passes `level`, in [0, ∞).
    pub(crate) fn instant(&self, level: f64) -> f64 {
        let per_turn = self.per_turn();
        if per_turn <= 0.0 {
            return 0.0;
        }
        let target = level / self.period_s + self.within_turn(self.origin);
        let mut whole = (target / per_turn).floor();
        let mut rest = target - whole * per_turn;
        // What is left of a turn but for rounding is the next turn's start: a level met where the
        // wave dips to zero is passed when it rises again.
        if rest >= per_turn * (1.0 - 1e-12) {
            whole += 1.0;
            rest = 0.0;
        }
        let turns = whole + self.solve_turn(rest.max(0.0), per_turn) - self.origin;
        (turns * self.period_s).max(0.0)
    }

    /// Arrivals per turn, over the period: h(L).
    fn per_turn(&self) -> f64 {
        self.within_turn(1.0)
    }

    /// h(y).
    fn within_turn(&self, y: f64) -> f64 {
        let y = y.clamp(0.0, self.positive);
        let swing = (PI * y).sin() * (PI * (y - 2.0 * self.lead)).sin() / PI;
        (self.mean_per_s * y + self.amplitude_per_s * swing).max(0.0)
    }

    /// The y in [0, L] with h(y) = `rest`: Newton's steps where they stay within the bracket, which
    /// every step narrows, else its middle.
    fn solve_turn(&self, rest: f64, per_turn: f64) -> f64 {
        if rest == 0.0 {
            return 0.0;
        }
        let (mut low, mut high) = (0.0, self.positive);
        let mut y = high * (rest / per_turn);
        // Newton needs about six steps; the middle of the bracket needs 53 for every bit.
        for _ in 0..64 {
            let error = self.within_turn(y) - rest;
            if error > 0.0 {
                high = y;
            } else {
                low = y;
            }
            let slope = self.mean_per_s + self.amplitude_per_s * (TAU * (y - self.lead)).sin();
            let newton = y - error / slope;
            let next =
                if newton > low && newton < high { newton } else { low + (high - low) / 2.0 };
            if (next - y).abs() <= f64::EPSILON * 0.25 {
                return next;
            }
            y = next;
        }
        y
    }
}
