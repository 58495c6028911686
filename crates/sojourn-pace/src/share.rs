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

    /// The first arrival of this share that is not below `k`; `None` when there is none.
    pub fn next_from(self, k: u64) -> Option<u64> {
        match self {
            Self::Stripe { index, of } => {
                let (index, of) = (u64::from(index), u64::from(of));
                let ahead = (index + of - k % of) % of;
                k.checked_add(ahead)
            }
            Self::Segment { from, to } => Some(k.max(from)).filter(|&k| k < to),
        }
    }
}
