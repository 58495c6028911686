//! When to give up, and the like: an ordered queue of instants, cancelled lazily.
//!
//! A request's timeout is nearly always cancelled by its answer. Instead of searching for it, it
//! stays until its instant has come, and stands for the later ones of the requests that come into
//! the same slot meanwhile: then the present one's is put in. So in a closed loop a slot costs one
//! entry each timeout, not one each request. The queue is swept when more than three in four are
//! dead, so its memory follows the most requests that were ever in flight.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Sweeping is not worth it below this length.
const SWEEP_LENGTH_MIN: usize = 1_024;

/// Something due at an instant. Ordered by that instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Deadline {
    /// CLOCK_MONOTONIC, nanoseconds.
    pub(crate) at_ns: u64,
    /// The request's serial number, unique in the client.
    pub(crate) serial: u64,
    /// The request's slot.
    pub(crate) slot: u32,
    pub(crate) what: Due,
}

/// What is due at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Due {
    /// The request's end.
    Answer,
    /// While there is no connection yet: its end (`connect_timeout`).
    Connection,
    /// While there is no connection yet: the next address is to be tried too.
    NextAddress,
}

/// The queue.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    /// Those that came in the order of their instants, as with one timeout for all requests they
    /// do: nothing needs to be sorted.
    in_order: VecDeque<Deadline>,
    /// The others.
    heap: BinaryHeap<Reverse<Deadline>>,
}

impl Deadlines {
    /// Adds a deadline; sweeps if `live_max`, the deadlines that may be alive, is small beside the
    /// queue.
    pub(crate) fn push(
        &mut self,
        deadline: Deadline,
        live_max: usize,
        is_live: impl Fn(&Deadline) -> bool,
    ) {
        if self.in_order.len() + self.heap.len() >= SWEEP_LENGTH_MIN.max(live_max * 4) {
            self.in_order.retain(&is_live);
            self.heap.retain(|Reverse(deadline)| is_live(deadline));
        }
        if self.in_order.back().is_none_or(|last| last.at_ns <= deadline.at_ns) {
            self.in_order.push_back(deadline);
        } else {
            self.heap.push(Reverse(deadline));
        }
    }

    /// The next instant at which something is to be given up.
    pub(crate) fn next_ns(&mut self, is_live: impl Fn(&Deadline) -> bool) -> Option<u64> {
        while self.in_order.pop_front_if(|first| !is_live(first)).is_some() {}
        while self.heap.peek().is_some_and(|Reverse(first)| !is_live(first)) {
            self.heap.pop();
        }
        self.first().map(|(first, _)| first.at_ns)
    }

    /// Takes a deadline that has passed, dead or alive.
    pub(crate) fn pop_due(&mut self, now_ns: u64) -> Option<Deadline> {
        let (first, is_in_heap) = self.first()?;
        if first.at_ns > now_ns {
            return None;
        }
        if is_in_heap { self.heap.pop() } else { self.in_order.pop_front().map(Reverse) }
            .map(|Reverse(deadline)| deadline)
    }

    /// The first of all, and whether it is the heap's.
    fn first(&self) -> Option<(&Deadline, bool)> {
        match (self.in_order.front(), self.heap.peek()) {
            (Some(first), Some(Reverse(of_heap))) if of_heap < first => Some((of_heap, true)),
            (Some(first), _) => Some((first, false)),
            (None, of_heap) => of_heap.map(|Reverse(first)| (first, true)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deadline(at_ns: u64) -> Deadline {
        Deadline { at_ns, serial: at_ns, slot: 0, what: Due::Answer }
    }

    #[test]
    fn the_earliest_live_one_is_next() {
        let mut deadlines = Deadlines::default();
        for at_ns in [30, 10, 20] {
            deadlines.push(deadline(at_ns), 3, |_| true);
        }
        assert_eq!(deadlines.next_ns(|_| true), Some(10));
        assert_eq!(deadlines.next_ns(|deadline| deadline.at_ns > 10), Some(20));
        assert_eq!(deadlines.pop_due(19), None);
        assert_eq!(deadlines.pop_due(20), Some(deadline(20)));
        assert_eq!(deadlines.pop_due(40), Some(deadline(30)));
        assert_eq!(deadlines.next_ns(|_| true), None);
    }

    #[test]
    fn memory_follows_the_live_ones() {
        let mut deadlines = Deadlines::default();
        // The first one hangs, a million others come and are answered.
        for at_ns in 0..1_000_000 {
            deadlines.push(deadline(at_ns), 2, |deadline| {
                deadline.at_ns == 0 || deadline.at_ns + 1 >= at_ns
            });
        }
        assert!(deadlines.in_order.len() + deadlines.heap.len() <= SWEEP_LENGTH_MIN);
        assert_eq!(deadlines.next_ns(|_| true), Some(0));
    }

    #[test]
    fn any_order_comes_out_sorted() {
        let mut deadlines = Deadlines::default();
        // All of 0..1000 once, in an order that goes up and down.
        let all: Vec<u64> = (0..1_000).map(|place| place * 337 % 1_000).collect();
        for at_ns in &all {
            deadlines.push(deadline(*at_ns), all.len(), |_| true);
        }
        for expected in 0..1_000 {
            assert_eq!(deadlines.next_ns(|_| true), Some(expected));
            assert_eq!(deadlines.pop_due(expected), Some(deadline(expected)));
        }
        assert_eq!(deadlines.pop_due(u64::MAX), None);
    }
}
