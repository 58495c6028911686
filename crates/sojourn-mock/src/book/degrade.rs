//! Getting worse over time: latency grows by a factor, and a share of answers fails.

/// A course of degradation: points in time, straight lines between them, constant beyond.
#[derive(Clone, Debug, PartialEq)]
pub struct Degradation {
    /// Ascending in time; never empty.
    points: Vec<DegradationPoint>,
}

/// How bad it is at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DegradationPoint {
    /// After the start, nanoseconds.
    pub at_ns: u64,
    /// Latency is this many times the usual.
    pub factor: f64,
    /// Share of requests answered 503, in [0, 1].
    pub errors: f64,
}

impl Degradation {
    /// A course through these points. `None`: none, or not ascending in time.
    pub fn new(points: Vec<DegradationPoint>) -> Option<Self> {
        let ascends = points.windows(2).all(|pair| pair[0].at_ns < pair[1].at_ns);
        (ascends && !points.is_empty()).then_some(Self { points })
    }

    /// Factor and share of errors at an instant after the start.
    pub fn at(&self, elapsed_ns: u64) -> (f64, f64) {
        let after = self.points.partition_point(|point| point.at_ns <= elapsed_ns);
        let before = after.checked_sub(1).and_then(|at| self.points.get(at));
        match (before, self.points.get(after)) {
            (Some(low), Some(high)) => {
                let passed = (elapsed_ns - low.at_ns) as f64 / (high.at_ns - low.at_ns) as f64;
                let between = |from: f64, to: f64| from + (to - from) * passed;
                (between(low.factor, high.factor), between(low.errors, high.errors))
            }
            (Some(only), None) | (None, Some(only)) => (only.factor, only.errors),
            (None, None) => (1.0, 0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn straight_lines_between_points() {
        let point = |at_ns, factor, errors| DegradationPoint { at_ns, factor, errors };
        let course = Degradation::new(vec![point(100, 1.0, 0.0), point(200, 5.0, 0.2)]).unwrap();
        for (at_ns, expected) in
            [(0, (1.0, 0.0)), (100, (1.0, 0.0)), (150, (3.0, 0.1)), (200, (5.0, 0.2))]
        {
            assert_eq!(course.at(at_ns), expected);
        }
        assert_eq!(course.at(u64::MAX), (5.0, 0.2));
        assert_eq!(Degradation::new(vec![point(2, 1.0, 0.0), point(1, 1.0, 0.0)]), None);
        assert_eq!(Degradation::new(Vec::new()), None);
    }
}
