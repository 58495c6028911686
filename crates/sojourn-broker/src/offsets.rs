//! How far each partition has been read.

use std::collections::HashMap;

use crate::Position;

/// The last position read of each partition. Bounded by the number of partitions.
#[derive(Debug, Default)]
pub(crate) struct Offsets {
    read: Vec<Position>,
    /// Where each partition is in `read`.
    places: HashMap<u64, usize>,
    /// The place of the latest message's: the next one is mostly of the same.
    latest: usize,
}

impl Offsets {
    /// Whether a position had been read before; notes it.
    pub(crate) fn is_reread(&mut self, position: Position) -> bool {
        let is_of = |read: &&mut Position| read.partition == position.partition;
        if self.read.get_mut(self.latest).filter(is_of).is_none() {
            let next = self.read.len();
            self.latest = *self.places.entry(position.partition).or_insert(next);
        }
        match self.read.get_mut(self.latest) {
            Some(read) if position.offset <= read.offset => true,
            Some(read) => {
                read.offset = position.offset;
                false
            }
            None => {
                self.read.push(position);
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_partition_is_read_on_from_where_it_was() {
        let mut offsets = Offsets::default();
        let mut is_reread = |partition, offset| offsets.is_reread(Position { partition, offset });
        for partition in [7, 0, u64::MAX] {
            assert!(!is_reread(partition, 3));
            assert!(is_reread(partition, 3));
            assert!(!is_reread(partition, 5));
        }
        for partition in [0, 7, u64::MAX, 0] {
            assert!(is_reread(partition, 4));
            assert!(is_reread(partition, 5));
        }
        assert!(!is_reread(7, 6));
        assert!(is_reread(7, 6));
        assert!(!is_reread(0, 6));
    }
}
