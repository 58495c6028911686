//! What was in flight over the steady phase, kept small: for the slope that thresholds ask for.

/// Levels kept; beyond it every second one goes and the spacing doubles.
const LEVELS_MAX: usize = 4_096;

/// Seconds and levels, evenly thinned.
#[derive(Debug)]
pub(super) struct Levels {
    points: Vec<(f64, f64)>,
    /// Keep one level in so many.
    every: u64,
    seen: u64,
}

impl Levels {
    pub(super) fn new() -> Self {
        Self { points: Vec::new(), every: 1, seen: 0 }
    }

    /// Takes the level at so many seconds.
    pub(super) fn push(&mut self, at_s: f64, level: f64) {
        if self.seen.is_multiple_of(self.every) {
            self.points.push((at_s, level));
        }
        self.seen += 1;
        if self.points.len() > LEVELS_MAX {
            let mut index = 0;
            self.points.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.every *= 2;
        }
    }

    /// Growth per second; `None` for too few levels.
    pub(super) fn slope_per_s(&self) -> Option<f64> {
        sojourn_analysis::backlog::slope(&self.points).map(|slope| slope.per_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_slope_and_the_bound() {
        let mut levels = Levels::new();
        for second in 0..50_000 {
            levels.push(f64::from(second), 3.0 + 2.0 * f64::from(second));
        }
        assert!(levels.points.len() <= LEVELS_MAX + 1);
        assert!((levels.slope_per_s().unwrap() - 2.0).abs() < 1e-6);
    }
}
