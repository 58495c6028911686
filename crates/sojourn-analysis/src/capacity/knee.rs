//! The knee of the curve: where more load begins to cost more time than it brings work.

use serde::Serialize;

/// A point of the curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Journeys completed per second.
    pub completed_per_s: f64,
    /// Their mean duration, nanoseconds.
    pub mean_ns: f64,
}

/// Which of the points has the greatest *power*, throughput over mean duration (L. Kleinrock,
/// "Power and deterministic rules of thumb for probabilistic problems in computer communications",
/// ICC 1979): below it load is given away, above it time. `None` for fewer than three points.
pub fn knee(points: &[Point]) -> Option<usize> {
    let power = |point: &Point| point.completed_per_s / point.mean_ns;
    let measured = points.iter().enumerate().filter(|(_, point)| {
        point.mean_ns > 0.0 && point.mean_ns.is_finite() && point.completed_per_s > 0.0
    });
    let all: Vec<(usize, f64)> = measured.map(|(index, point)| (index, power(point))).collect();
    (all.len() >= 3).then(|| all.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|best| best.0))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_knee_of_an_mm1_queue_is_half_its_capacity() {
        // Mean response 1/(μ − λ): the power λ(μ − λ) is greatest at μ/2.
        let points: Vec<Point> = (1..10)
            .map(|tenths| {
                let rate = f64::from(tenths) * 10.0;
                Point { completed_per_s: rate, mean_ns: 1e9 / (100.0 - rate) }
            })
            .collect();
        assert_eq!(knee(&points).map(|index| points[index].completed_per_s), Some(50.0));
    }

    #[test]
    fn two_points_or_unmeasured_ones_have_no_knee() {
        let point = Point { completed_per_s: 1.0, mean_ns: 1.0 };
        assert_eq!(knee(&[point, point]), None);
        assert_eq!(knee(&[point, point, Point { completed_per_s: 0.0, mean_ns: 0.0 }]), None);
    }
}
