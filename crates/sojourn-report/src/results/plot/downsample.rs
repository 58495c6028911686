//! Fewer points of the same shape: Largest-Triangle-Three-Buckets (Sveinn Steinarsson,
//! *Downsampling Time Series for Visual Representation*, University of Iceland, 2013).
//!
//! The first and the last point stay. Those between are divided into buckets of equal count; of
//! each the point stays that makes the largest triangle with the one kept before and the mean of
//! the bucket after.

use super::series::Point;

/// At most `threshold` of the points, which are in order of time; all of them for 0.
pub(super) fn downsample(points: &[Point], threshold: usize) -> Vec<Point> {
    if threshold == 0 || points.len() <= threshold {
        return points.to_vec();
    }
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Vec::new() };
    let buckets = threshold.saturating_sub(2);
    let inner = points.len() - 2;
    // Where a bucket begins: the inner points spread evenly.
    let begin = |bucket: usize| 1 + bucket * inner / buckets.max(1);
    let mut kept = Vec::with_capacity(threshold);
    kept.push(*first);
    let mut before = *first;
    for bucket in 0..buckets {
        let after = if bucket + 1 < buckets {
            mean(&points[begin(bucket + 1)..begin(bucket + 2)], first)
        } else {
            place(last, first)
        };
        let corner = place(&before, first);
        let area = |point: &Point| triangle(corner, place(point, first), after);
        let within = &points[begin(bucket)..begin(bucket + 1)];
        let largest = within.iter().max_by(|a, b| area(a).total_cmp(&area(b)));
        before = *largest.unwrap_or(first);
        kept.push(before);
    }
    kept.push(*last);
    kept
}

/// Seconds since the first point, and latency: numbers that a float holds well.
fn place(point: &Point, first: &Point) -> (f64, f64) {
    (point.unix_ns.saturating_sub(first.unix_ns) as f64 / 1e9, point.latency_ns as f64)
}

fn mean(points: &[Point], first: &Point) -> (f64, f64) {
    let sum = points.iter().map(|point| place(point, first));
    let (x, y) = sum.fold((0.0, 0.0), |sum, place| (sum.0 + place.0, sum.1 + place.1));
    let count = points.len().max(1) as f64;
    (x / count, y / count)
}

/// Twice the area.
fn triangle(a: (f64, f64), b: (f64, f64), c: (f64, f64)) -> f64 {
    ((a.0 - c.0) * (b.1 - a.1) - (a.0 - b.0) * (c.1 - a.1)).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(latencies: &[i64]) -> Vec<Point> {
        let at = |index| index as i64 * 1_000_000;
        let points = latencies.iter().enumerate();
        points.map(|(index, ns)| Point { unix_ns: at(index), latency_ns: *ns }).collect()
    }

    #[test]
    fn peaks_stay_and_the_count_is_the_threshold() {
        let mut latencies = vec![100; 10_000];
        latencies[1_234] = 9_000;
        latencies[8_000] = -5;
        let all = points(&latencies);
        for threshold in [3, 4, 50, 999] {
            let kept = downsample(&all, threshold);
            assert_eq!(kept.len(), threshold);
            assert_eq!((kept[0], kept[threshold - 1]), (all[0], all[9_999]));
            assert!(kept.windows(2).all(|pair| pair[0].unix_ns < pair[1].unix_ns));
            assert!(kept.contains(&all[1_234]), "{threshold}");
        }
        assert!(downsample(&all, 50).contains(&all[8_000]));
    }

    /// Worked by hand: of (1, 0), (2, 5) and (3, 1) the second makes the largest triangle with the
    /// ends.
    #[test]
    fn three_points_are_the_ends_and_the_largest_triangle() {
        let all = points(&[0, 0, 5, 1, 0]);
        assert_eq!(downsample(&all, 3), [all[0], all[2], all[4]]);
    }

    #[test]
    fn few_points_and_a_threshold_of_zero_change_nothing() {
        let all = points(&[1, 2, 3, 4, 5]);
        for threshold in [0, 5, 6] {
            assert_eq!(downsample(&all, threshold), all);
        }
        assert!(downsample(&[], 3).is_empty());
    }
}
