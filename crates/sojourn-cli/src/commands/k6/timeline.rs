//! The seconds of a run, kept for its page.

use sojourn_k6::summary::Moment;
use sojourn_live::frame::Frame;

/// Most moments kept: twice as many as a line has pixels are no use.
const MOMENTS_MAX: usize = 1_200;

/// Every second of a run, or as many as there is room for at equal distances.
#[derive(Debug)]
pub(super) struct Timeline {
    moments: Vec<Moment>,
    /// Of so many seconds one is kept.
    stride: u64,
    /// Seconds seen.
    seen: u64,
}

impl Default for Timeline {
    fn default() -> Self {
        Self { moments: Vec::new(), stride: 1, seen: 0 }
    }
}

impl Timeline {
    /// Takes a second.
    pub(super) fn add(&mut self, frame: &Frame) {
        let is_kept = self.seen.is_multiple_of(self.stride);
        self.seen += 1;
        if !is_kept {
            return;
        }
        if self.moments.len() == MOMENTS_MAX {
            let mut number = 0_u64;
            self.moments.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.stride *= 2;
        }
        self.moments.push(moment(frame));
    }

    pub(super) fn moments(&self) -> &[Moment] {
        &self.moments
    }
}

fn moment(frame: &Frame) -> Moment {
    let requests = frame.journeys.first().and_then(|all| all.steps.first());
    Moment {
        elapsed_s: frame.elapsed_ns as f64 / 1e9,
        users: frame.clients.unwrap_or_default(),
        iterations_per_s: frame.delivered_per_s,
        requests_per_s: requests.map_or(0.0, |all| all.requests_per_s),
        request_ms_p99: requests.and_then(|all| all.response_so_far.p99_ns).map(|ns| ns / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_long_a_run_is_its_moments_are_few_and_at_equal_distances() {
        let mut timeline = Timeline::default();
        for second in 0..10_000_u64 {
            let elapsed_ns = second * 1_000_000_000;
            timeline.add(&Frame { elapsed_ns, ..Frame::default() });
            assert!(timeline.moments().len() <= MOMENTS_MAX);
        }
        let at_s: Vec<_> = timeline.moments().iter().map(|at| at.elapsed_s).collect();
        // 10,000 seconds at a stride of 16 are 625 moments.
        assert_eq!((at_s.len(), at_s[0], at_s[624]), (625, 0.0, 9_984.0));
        assert!(at_s.windows(2).all(|pair| pair[1] - pair[0] == 16.0));
    }
}
