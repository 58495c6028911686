//! The points of one line.

/// Fewer points than this are kept as they are.
const THIN_FROM: usize = 1_000;

/// A request: when it began, nanoseconds since the Unix epoch, and its latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) unix_ns: i64,
    pub(super) latency_ns: i64,
}

/// Points, and how many there have been.
#[derive(Debug, Default)]
pub(super) struct Series {
    points: Vec<Point>,
    count: u64,
}

impl Series {
    pub(super) fn push(&mut self, unix_ns: i64, latency_ns: i64) {
        self.points.push(Point { unix_ns, latency_ns });
        self.count += 1;
    }

    /// Points kept.
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// Points that there have been.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The points in order of time.
    pub(super) fn sorted(&mut self) -> &[Point] {
        self.points.sort_by_key(|point| point.unix_ns);
        &self.points
    }

    /// Keeps the lowest and the highest of every four neighbours: half the points, all the peaks.
    pub(super) fn thin(&mut self) {
        if self.points.len() < THIN_FROM {
            return;
        }
        self.points.sort_by_key(|point| point.unix_ns);
        let mut kept = 0;
        for from in (0..self.points.len()).step_by(4) {
            let to = (from + 4).min(self.points.len());
            let by_latency = |index: &usize| self.points[*index].latency_ns;
            let low = (from..to).min_by_key(by_latency).unwrap_or(from);
            let high = (from..to).max_by_key(by_latency).unwrap_or(from);
            let (first, second) = (low.min(high), low.max(high));
            self.points[kept] = self.points[first];
            kept += 1;
            if second > first {
                self.points[kept] = self.points[second];
                kept += 1;
            }
        }
        self.points.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_halves_the_points_and_keeps_the_peaks() {
        let mut series = Series::default();
        for index in (0..4_001i64).rev() {
            let latency_ns = if index == 777 { 1_000_000 } else { index % 10 };
            series.push(index, latency_ns);
        }
        series.thin();
        assert_eq!((series.len(), series.count()), (2_001, 4_001));
        let points = series.sorted();
        assert!(points.windows(2).all(|pair| pair[0].unix_ns < pair[1].unix_ns));
        assert!(points.contains(&Point { unix_ns: 777, latency_ns: 1_000_000 }));
        assert!(points.contains(&Point { unix_ns: 4_000, latency_ns: 0 }));
    }

    #[test]
    fn few_points_are_left_alone() {
        let mut series = Series::default();
        (0..10).for_each(|index| series.push(index, index));
        series.thin();
        assert_eq!(series.len(), 10);
    }
}
