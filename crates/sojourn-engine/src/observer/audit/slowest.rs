//! The slowest journeys of a kind: exactly the longest ones, however many were looked at.

use std::{cmp::Ordering, collections::BinaryHeap};

use sojourn_record::JourneyRecord;

/// The longest so far, at most as many as asked for.
#[derive(Debug)]
pub(super) struct Slowest {
    most: usize,
    /// The least slow on top.
    heap: BinaryHeap<Slow>,
}

#[derive(Debug)]
struct Slow {
    duration_ns: u64,
    record: Box<JourneyRecord>,
}

impl Slowest {
    pub(super) fn new(most: usize) -> Self {
        Self { most, heap: BinaryHeap::new() }
    }

    /// Whether a journey of this length is among the slowest so far. Of equally long ones the
    /// first stay.
    pub(super) fn is_slow(&self, duration_ns: u64) -> bool {
        let is_longer = |least: &Slow| duration_ns > least.duration_ns;
        self.heap.len() < self.most || self.most > 0 && self.heap.peek().is_some_and(is_longer)
    }

    pub(super) fn push(&mut self, duration_ns: u64, record: JourneyRecord) {
        if self.heap.len() >= self.most {
            self.heap.pop();
        }
        self.heap.push(Slow { duration_ns, record: Box::new(record) });
    }

    /// The slowest first.
    pub(super) fn into_records(self) -> Vec<JourneyRecord> {
        self.heap.into_sorted_vec().into_iter().map(|slow| *slow.record).collect()
    }
}

impl Ord for Slow {
    fn cmp(&self, other: &Self) -> Ordering {
        // Reversed, since a heap has its greatest on top.
        other.duration_ns.cmp(&self.duration_ns).then(self.record.id.cmp(&other.record.id))
    }
}

impl PartialOrd for Slow {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Slow {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Slow {}
