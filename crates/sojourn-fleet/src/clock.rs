//! How far two machines' clocks are apart, from questions and answers.
//!
//! A question sent at `s` and answered with the other's time `h` comes back at `r`: when the answer
//! was given the own clock was somewhere between `s` and `r`, so the other is ahead by
//! `h - (s + r) / 2`, at most `(r - s) / 2` wrong (Cristian 1989; NTP's clock filter, RFC 5905
//! section 10, takes the answer of the shortest way likewise).

use serde::{Deserialize, Serialize};

/// What a generator knows of its clock against the coordinator's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockFigures {
    /// What was added to its own clock when it joined, nanoseconds: it stays so for the run.
    pub offset_ns: i64,
    /// How wrong that may have been: half the time of the fastest question and answer, nanoseconds.
    pub uncertainty_ns: u64,
    /// The greatest departure from it that later answers prove, nanoseconds: what is left of a
    /// difference after half the time that the answer took.
    pub departure_ns: u64,
}

/// One question and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Own time of the question…
    pub(crate) sent_ns: u64,
    /// …the other's time of the answer…
    pub(crate) here_ns: u64,
    /// …and own time of its arrival.
    pub(crate) heard_ns: u64,
}

impl Sample {
    /// Time from question to answer, nanoseconds.
    pub(crate) fn round_trip_ns(&self) -> u64 {
        self.heard_ns.wrapping_sub(self.sent_ns)
    }

    /// How far the other's clock is ahead, nanoseconds. Clocks may be before zero (a test's are).
    pub(crate) fn offset_ns(&self) -> i64 {
        let middle_ns = self.sent_ns.wrapping_add(self.round_trip_ns() / 2);
        self.here_ns.wrapping_sub(middle_ns).cast_signed()
    }

    /// The least difference that it proves, nanoseconds.
    pub(crate) fn departure_ns(&self) -> u64 {
        self.offset_ns().unsigned_abs().saturating_sub(self.round_trip_ns().div_ceil(2))
    }
}

/// The figures of several samples, taken one after the other: those of the shortest way count.
pub(crate) fn best(samples: &[Sample]) -> Option<ClockFigures> {
    let best = samples.iter().min_by_key(|sample| sample.round_trip_ns())?;
    Some(ClockFigures {
        offset_ns: best.offset_ns(),
        uncertainty_ns: best.round_trip_ns().div_ceil(2),
        departure_ns: 0,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Ways of any length there and back, clocks any hours apart: the truth is within the
        /// stated uncertainty.
        #[test]
        fn the_true_offset_is_within_the_uncertainty(
            true_ns in -10_000_000_000_000i64..10_000_000_000_000,
            ways in prop::collection::vec((0u64..50_000_000, 0u64..50_000_000), 1..20),
        ) {
            let mut now_ns = 5_000_000_000u64;
            let mut samples = Vec::new();
            for (there_ns, back_ns) in ways {
                let here_ns = (now_ns + there_ns).wrapping_add_signed(true_ns);
                let heard_ns = now_ns + there_ns + back_ns;
                let sample = Sample { sent_ns: now_ns, here_ns, heard_ns };
                prop_assert!(sample.departure_ns() <= true_ns.unsigned_abs());
                samples.push(sample);
                now_ns = heard_ns + 1_000;
            }
            let figures = best(&samples).unwrap();
            prop_assert!(figures.offset_ns.abs_diff(true_ns) <= figures.uncertainty_ns);
        }
    }
}
