//! Which journeys were told already: one that is kept for several things comes as often, and must
//! not become several traces.

use std::collections::{HashSet, VecDeque};

use sojourn_record::JourneyRecord;

use crate::frame::Frame;

/// Most journeys that are remembered, the latest. Those of longer ago may come again.
const REMEMBERED_MAX: usize = 1 << 16;

/// The journeys that the receiver has.
#[derive(Debug, Default)]
pub(super) struct Told {
    ids: HashSet<u64>,
    order: VecDeque<u64>,
}

impl Told {
    /// Those of a frame that the receiver does not have, each once.
    pub(super) fn new_ones<'a>(&self, frame: &'a Frame) -> Vec<&'a JourneyRecord> {
        let mut here = HashSet::new();
        let is_new =
            |journey: &&JourneyRecord| !self.ids.contains(&journey.id) && here.insert(journey.id);
        frame.journeys.iter().filter(is_new).collect()
    }

    /// The receiver has taken these.
    pub(super) fn add(&mut self, journeys: &[&JourneyRecord]) {
        for journey in journeys {
            if self.ids.insert(journey.id) {
                self.order.push_back(journey.id);
            }
            if self.order.len() > REMEMBERED_MAX
                && let Some(oldest) = self.order.pop_front()
            {
                self.ids.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(ids: &[u64]) -> Frame {
        let journey = |id: &u64| JourneyRecord { id: *id, ..JourneyRecord::default() };
        Frame {
            number: 0,
            is_last: false,
            unix_ns: 0,
            start_unix_ns: 0,
            points: Vec::new(),
            journeys: ids.iter().map(journey).collect(),
        }
    }

    fn ids(journeys: &[&JourneyRecord]) -> Vec<u64> {
        journeys.iter().map(|journey| journey.id).collect()
    }

    #[test]
    fn a_journey_is_told_once_and_again_only_if_it_was_not_taken() {
        let mut told = Told::default();
        let first = frame(&[1, 2, 1]);
        assert_eq!(ids(&told.new_ones(&first)), [1, 2]);
        // Not taken: it is tried again.
        assert_eq!(ids(&told.new_ones(&first)), [1, 2]);
        let new = told.new_ones(&first);
        told.add(&new);
        assert_eq!(ids(&told.new_ones(&frame(&[2, 3]))), [3]);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut told = Told::default();
        for id in 0..REMEMBERED_MAX as u64 + 2 {
            let one = frame(&[id]);
            let new = told.new_ones(&one);
            told.add(&new);
        }
        assert_eq!((told.ids.len(), told.order.len()), (REMEMBERED_MAX, REMEMBERED_MAX));
        let last = REMEMBERED_MAX as u64 + 1;
        assert_eq!(ids(&told.new_ones(&frame(&[1, 2, last]))), [1]);
    }
}
