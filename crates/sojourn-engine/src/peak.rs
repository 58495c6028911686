//! The highest rate of a load.

use sojourn_pace::{Profile, Segment};

/// The highest rate of a profile, arrivals per second.
pub(crate) fn peak_per_s(profile: &Profile) -> f64 {
    let of_segment = |segment: &Segment| match segment {
        Segment::Linear { from_per_s, to_per_s, .. } => from_per_s.max(*to_per_s),
        Segment::Sine { mean_per_s, amplitude_per_s, .. } => mean_per_s + amplitude_per_s.abs(),
        Segment::RandomSteps { max_per_s, .. } => *max_per_s,
    };
    profile.segments.iter().map(of_segment).fold(0.0, f64::max)
}

/// Most of these instants that lie within a window of this length, all nanoseconds.
pub(crate) fn most_within(instants_ns: &[u64], window_ns: u64) -> u64 {
    let mut sorted = instants_ns.to_vec();
    sorted.sort_unstable();
    let mut from = 0;
    let mut most = 0;
    for (to, &at_ns) in sorted.iter().enumerate() {
        while at_ns - sorted[from] >= window_ns.max(1) {
            from += 1;
        }
        most = most.max(to + 1 - from);
    }
    most as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_of_all_segments_counts() {
        let segments = vec![
            Segment::Linear { from_per_s: 10.0, to_per_s: 40.0, duration_ns: 1 },
            Segment::Sine {
                mean_per_s: 30.0,
                amplitude_per_s: 20.0,
                period_ns: 1,
                phase: 0.0,
                duration_ns: 1,
            },
            Segment::RandomSteps { min_per_s: 1.0, max_per_s: 45.0, every_ns: 1, duration_ns: 1 },
        ];
        assert_eq!(peak_per_s(&Profile { segments }), 50.0);
        assert_eq!(peak_per_s(&Profile::default()), 0.0);
    }

    #[test]
    fn a_window_slides_over_replayed_instants() {
        assert_eq!(most_within(&[], 10), 0);
        assert_eq!(most_within(&[5, 0, 9, 10, 30], 10), 3);
        assert_eq!(most_within(&[7, 7, 7], 0), 3);
    }
}
