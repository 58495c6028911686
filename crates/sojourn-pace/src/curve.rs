//! A profile's integral, and the instants at which it passes a level.

use crate::{
    Profile, Segment,
    random::{STEPS_STREAM, random_unit},
    sine::Sine,
};

/// The integral of a [`Profile`], as pieces that each know where they start in time and in count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Curve {
    pieces: Vec<Piece>,
    duration_ns: u64,
    total: f64,
    /// The piece last asked for: arrivals are asked for in order.
    current: usize,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    start_ns: u64,
    end_ns: u64,
    /// Level at its start and at its end.
    from: f64,
    to: f64,
    shape: Shape,
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    Line { from_per_s: f64, slope_per_s2: f64 },
    Wave(Sine),
}

/// Most drawn rates in one segment; a shorter interval is stretched to this many, which bounds the
/// memory a profile can ask for (some 20 MB).
const MOST_STEPS: u64 = 200_000;

/// Most arrivals per second: one per nanosecond, the resolution of an instant.
const MOST_PER_S: f64 = 1e9;

const NS_PER_S: f64 = 1e9;

impl Curve {
    pub(crate) fn new(profile: &Profile, seed: u64) -> Self {
        let mut curve = Self::default();
        for (index, segment) in profile.segments.iter().enumerate() {
            match *segment {
                Segment::Linear { from_per_s, to_per_s, duration_ns } => {
                    curve.push_line(from_per_s, to_per_s, duration_ns)
                }
                Segment::Sine { mean_per_s, amplitude_per_s, period_ns, phase, duration_ns } => {
                    let wave = [mean_per_s, amplitude_per_s, phase];
                    curve.push_wave(wave, period_ns, duration_ns);
                }
                Segment::RandomSteps { min_per_s, max_per_s, every_ns, duration_ns } => {
                    let stream = STEPS_STREAM.wrapping_add(index as u64);
                    let draw = |k| random_unit(seed, stream, k);
                    curve.push_steps([min_per_s, max_per_s], every_ns, duration_ns, draw);
                }
            }
        }
        curve
    }

    pub(crate) fn duration_ns(&self) -> u64 {
        self.duration_ns
    }

    /// Λ at the end.
    pub(crate) fn total(&self) -> f64 {
        self.total
    }

    /// The instant at which Λ passes `level`, nanoseconds; `None` when it never does.
    pub(crate) fn instant_ns(&mut self, level: f64) -> Option<u64> {
        let here = self.pieces.get(self.current);
        if !here.is_some_and(|piece| piece.from <= level && level < piece.to) {
            self.current = self.pieces.partition_point(|piece| piece.to <= level);
        }
        self.pieces.get(self.current).map(|piece| piece.instant_ns(level))
    }

    /// Λ at an instant.
    pub(crate) fn level(&self, at_ns: u64) -> f64 {
        let place = self.pieces.partition_point(|piece| piece.end_ns <= at_ns);
        self.pieces.get(place).map_or(self.total, |piece| piece.level(at_ns))
    }

    fn push_line(&mut self, from_per_s: f64, to_per_s: f64, duration_ns: u64) {
        let (from, to) = (valid_rate(from_per_s), valid_rate(to_per_s));
        let duration_s = duration_ns as f64 / NS_PER_S;
        let area = (from + to) / 2.0 * duration_s;
        let shape = Shape::Line {
            from_per_s: from,
            slope_per_s2: if duration_ns == 0 { 0.0 } else { (to - from) / duration_s },
        };
        self.push(shape, area, duration_ns);
    }

    fn push_wave(&mut self, wave: [f64; 3], period_ns: u64, duration_ns: u64) {
        let [mean, amplitude, phase] = wave.map(|x| if x.is_finite() { x } else { 0.0 });
        // The mean may lie below zero: a wave that only shows its crests.
        let mean = mean.clamp(-MOST_PER_S, MOST_PER_S);
        let amplitude = amplitude.clamp(-MOST_PER_S, MOST_PER_S);
        if amplitude == 0.0 || period_ns == 0 {
            return self.push_line(mean, mean, duration_ns);
        }
        let sine = Sine::new(mean, amplitude, period_ns as f64 / NS_PER_S, phase);
        let area = sine.area(duration_ns as f64 / NS_PER_S);
        self.push(Shape::Wave(sine), area, duration_ns);
    }

    fn push_steps(
        &mut self,
        bounds_per_s: [f64; 2],
        every_ns: u64,
        duration_ns: u64,
        draw: impl Fn(u64) -> f64,
    ) {
        let [min, max] = bounds_per_s.map(valid_rate);
        let every_ns = match every_ns {
            0 => duration_ns.max(1),
            _ => every_ns.max(duration_ns.div_ceil(MOST_STEPS)),
        };
        for k in 0..duration_ns.div_ceil(every_ns) {
            let rate = min + (max - min).max(0.0) * draw(k);
            let length_ns = every_ns.min(duration_ns - k * every_ns);
            self.push_line(rate, rate, length_ns);
        }
    }

    fn push(&mut self, shape: Shape, area: f64, duration_ns: u64) {
        let start_ns = self.duration_ns;
        let from = self.total;
        self.duration_ns = start_ns.saturating_add(duration_ns);
        if self.duration_ns == start_ns {
            return;
        }
        self.total = snapped(from + area);
        self.pieces.push(Piece { start_ns, end_ns: self.duration_ns, from, to: self.total, shape });
    }
}

impl Piece {
    fn instant_ns(&self, level: f64) -> u64 {
        let local = (level - self.from).max(0.0);
        let after_s = match self.shape {
            Shape::Line { from_per_s, slope_per_s2 } => {
                let end_rate_squared = from_per_s * from_per_s + 2.0 * slope_per_s2 * local;
                let divisor = from_per_s + end_rate_squared.max(0.0).sqrt();
                if divisor > 0.0 { 2.0 * local / divisor } else { 0.0 }
            }
            Shape::Wave(sine) => sine.instant(local),
        };
        // The cast saturates; the clamp keeps what rounding pushed over the edge.
        let after_ns = (after_s * NS_PER_S).round() as u64;
        self.start_ns.saturating_add(after_ns).min(self.end_ns.saturating_sub(1))
    }
}

impl Piece {
    /// Λ at an instant within it.
    fn level(&self, at_ns: u64) -> f64 {
        let t_s = at_ns.saturating_sub(self.start_ns) as f64 / NS_PER_S;
        let area = match self.shape {
            Shape::Line { from_per_s, slope_per_s2 } => {
                from_per_s * t_s + slope_per_s2 * t_s * t_s / 2.0
            }
            Shape::Wave(sine) => sine.area(t_s),
        };
        snapped((self.from + area).clamp(self.from, self.to))
    }
}

fn valid_rate(per_s: f64) -> f64 {
    // NaN compares false and becomes zero.
    if per_s > 0.0 { per_s.min(MOST_PER_S) } else { 0.0 }
}

/// The whole number that `level` means when only rounding keeps it from being one: 12/h over an
/// hour must not be 12.000000000000002, or a thirteenth arrival would fall on the last nanosecond.
pub(crate) fn snapped(level: f64) -> f64 {
    let whole = level.round();
    if (level - whole).abs() <= 1e-12 * whole.max(1.0) { whole } else { level }
}
