//! The dynamic table: the newest field has the lowest index, the oldest are evicted.

use std::collections::VecDeque;

use super::FIELD_OVERHEAD;

/// Fields that the other end has asked to remember, within a bound.
///
/// Names and values lie one after the other in a ring's place of their own: evicted fields leave
/// their allocation to new ones, so that a table in steady state allocates nothing.
#[derive(Debug)]
pub(super) struct DynamicTable {
    /// The newest is at the front.
    fields: VecDeque<Field>,
    spare: Vec<Vec<u8>>,
    size: usize,
    size_max: usize,
    /// How often it was changed: what was decoded from it holds as long as this stays.
    changes: u64,
    /// Size of all fields that were ever added.
    inserted_bytes: u64,
}

#[derive(Debug)]
struct Field {
    /// The name, then the value.
    bytes: Vec<u8>,
    name_length: usize,
}

/// Allocations kept for new fields.
const SPARE_MAX: usize = 64;

impl DynamicTable {
    pub(super) fn new(size_max: usize) -> Self {
        Self {
            fields: VecDeque::new(),
            spare: Vec::new(),
            size: 0,
            size_max,
            changes: 0,
            inserted_bytes: 0,
        }
    }

    /// Name and value of the field at an index from 0.
    pub(super) fn get(&self, index: usize) -> Option<(&[u8], &[u8])> {
        let field = self.fields.get(index)?;
        Some(field.bytes.split_at(field.name_length))
    }

    /// Adds a field, in front; one larger than the table empties it.
    pub(super) fn insert(&mut self, name: &[u8], value: &[u8]) {
        self.changes += 1;
        let size = name.len() + value.len() + FIELD_OVERHEAD;
        self.inserted_bytes += size as u64;
        self.evict_to(self.size_max.saturating_sub(size));
        if size > self.size_max {
            return;
        }
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(name);
        bytes.extend_from_slice(value);
        self.fields.push_front(Field { bytes, name_length: name.len() });
        self.size += size;
    }

    /// Changes the bound.
    pub(super) fn resize(&mut self, size_max: usize) {
        self.changes += 1;
        self.size_max = size_max;
        self.evict_to(size_max);
    }

    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    pub(super) fn inserted_bytes(&self) -> u64 {
        self.inserted_bytes
    }

    fn evict_to(&mut self, size_max: usize) {
        while self.size > size_max {
            let Some(oldest) = self.fields.pop_back() else {
                return;
            };
            self.size -= oldest.bytes.len() + FIELD_OVERHEAD;
            if self.spare.len() < SPARE_MAX {
                self.spare.push(oldest.bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_first_and_the_size_holds() {
        let mut table = DynamicTable::new(3 * 34);
        for value in [b"1", b"2", b"3", b"4"] {
            table.insert(b"n", value);
        }
        assert_eq!(table.get(0), Some((b"n".as_slice(), b"4".as_slice())));
        assert_eq!(table.get(2), Some((b"n".as_slice(), b"2".as_slice())));
        assert_eq!(table.get(3), None);
        table.resize(34);
        assert_eq!(table.get(1), None);
        table.insert(b"larger", b"than the table has room for");
        assert_eq!((table.get(0), table.size), (None, 0));
    }

    #[test]
    fn spare_allocations_are_bounded() {
        let mut table = DynamicTable::new(100_000);
        for _ in 0..1_000 {
            table.insert(b"n", b"v");
        }
        table.resize(0);
        assert!(table.spare.len() <= SPARE_MAX);
    }
}
