//! Ids of messages handed over of late, so that what a queue gives twice is seen once.

use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

/// How many are remembered.
const IDS_MAX: usize = 65_536;

/// The latest ids.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    known: HashSet<u128>,
    order: VecDeque<u128>,
}

impl Seen {
    /// Whether this id is new.
    pub(crate) fn insert(&mut self, id: &str) -> bool {
        let id = uuid::Uuid::parse_str(id).map_or_else(|_| hash(id), |id| id.as_u128());
        if !self.known.insert(id) {
            return false;
        }
        self.order.push_back(id);
        if self.order.len() > IDS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }
}

/// AWS's ids are UUIDs; another server's may be any text.
fn hash(id: &str) -> u128 {
    let half = |seed: u8| {
        let mut hasher = DefaultHasher::new();
        (seed, id).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    (half(0) << 64) | half(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_ids_are_known_and_the_oldest_forgotten() {
        let mut seen = Seen::default();
        assert!(seen.insert("0190d1b2-8f6e-7b3c-9a51-0c2d3e4f5a6b"));
        assert!(!seen.insert("0190d1b2-8f6e-7b3c-9a51-0c2d3e4f5a6b"));
        for number in 0..IDS_MAX {
            assert!(seen.insert(&number.to_string()));
        }
        assert!(!seen.insert("5"));
        assert!(seen.insert("0190d1b2-8f6e-7b3c-9a51-0c2d3e4f5a6b"), "forgotten");
        assert_eq!(seen.known.len(), IDS_MAX);
    }
}
