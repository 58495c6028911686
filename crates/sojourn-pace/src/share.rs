//! Which arrivals are a generator's own.

use serde::{Deserialize, Serialize};

/// A generator's part of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Share {
    /// Arrival k belongs to generator `k mod of`.
    Stripe {
        /// This generator, from 0.
        index: u32,
        /// Of how many.
        of: u32,
    },
    /// Arrivals `from ≤ k < to`.
    Segment {
        /// First arrival.
        from: u64,
        /// One past the last.
        to: u64,
    },
}

impl Share {
    /// The only generator's share: every arrival.
    pub const WHOLE: Self = Self::Stripe { index: 0, of: 1 };

    /// The first arrival of this share that is not below `k`; `None` when there is none. A stripe
    /// that cannot be (`index ≥ of`) owns nothing.
    pub fn next_from(self, k: u64) -> Option<u64> {
        match self {
            Self::Stripe { index, of } if index >= of => None,
            Self::Stripe { index, of } => {
                let (index, of) = (u64::from(index), u64::from(of));
                let ahead = (index + of - k % of) % of;
                k.checked_add(ahead)
            }
            Self::Segment { from, to } => Some(k.max(from)).filter(|&k| k < to),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn impossible_stripes_own_nothing() {
        assert_eq!(Share::Stripe { index: 0, of: 0 }.next_from(7), None);
        assert_eq!(Share::Stripe { index: 3, of: 3 }.next_from(0), None);
        assert_eq!(Share::Stripe { index: 0, of: 2 }.next_from(u64::MAX), None);
    }

    #[test]
    fn segments_are_half_open() {
        let share = Share::Segment { from: 5, to: 8 };
        assert_eq!(share.next_from(0), Some(5));
        assert_eq!(share.next_from(7), Some(7));
        assert_eq!(share.next_from(8), None);
    }

    proptest! {
        #[test]
        fn every_arrival_has_exactly_one_stripe(of in 1u32..40, k in 0u64..u64::MAX / 2) {
            let owners = (0..of)
                .filter(|&index| Share::Stripe { index, of }.next_from(k) == Some(k))
                .count();
            prop_assert_eq!(owners, 1);
        }
    }
}
