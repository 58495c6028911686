//! The queue with c servers as arithmetic: arrival and service time in, start and finish out.
//!
//! First come, first served, one waiting line. Nothing here sleeps or reads a clock, so the same
//! model drives a server, a simulation of millions of arrivals, and the check of one against the
//! other.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::num::NonZeroUsize;

/// When a request is served, on the caller's time axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// A server takes the request, nanoseconds.
    pub start_ns: u64,
    /// The server is done with it, nanoseconds.
    pub finish_ns: u64,
}

/// Requests in order of arrival before `servers` equal servers.
#[derive(Clone, Debug)]
pub struct QueueModel {
    /// When each server becomes free; the earliest is on top.
    free_at_ns: BinaryHeap<Reverse<u64>>,
    /// Starts of those who still wait, oldest first. Starts never decrease, because arrivals do not
    /// and neither does the earliest free server.
    waiting_starts_ns: VecDeque<u64>,
    waiting_max: usize,
    refused: u64,
}

impl QueueModel {
    /// An empty queue. A request that finds `waiting_max` others waiting is refused.
    pub fn new(servers: NonZeroUsize, waiting_max: usize) -> Self {
        Self {
            free_at_ns: (0..servers.get()).map(|_| Reverse(0)).collect(),
            waiting_starts_ns: VecDeque::new(),
            waiting_max,
            refused: 0,
        }
    }

    /// Lets one request in: it starts at the later of its arrival and the earliest free server, and
    /// holds that server for `service_ns`. `None`: refused, the waiting line is full.
    ///
    /// Arrivals must not decrease from call to call.
    pub fn admit(&mut self, arrival_ns: u64, service_ns: u64) -> Option<Slot> {
        let waiting = self.waiting(arrival_ns);
        // There is at least one server, so the heap is never empty.
        let mut earliest = self.free_at_ns.peek_mut()?;
        let must_wait = earliest.0 > arrival_ns;
        if must_wait && waiting >= self.waiting_max {
            self.refused += 1;
            return None;
        }
        let start_ns = earliest.0.max(arrival_ns);
        let finish_ns = start_ns.saturating_add(service_ns);
        *earliest = Reverse(finish_ns);
        drop(earliest);
        if must_wait {
            self.waiting_starts_ns.push_back(start_ns);
        }
        Some(Slot { start_ns, finish_ns })
    }

    /// How many admitted requests wait for a server at `instant_ns`, which is no earlier than the
    /// last arrival.
    pub fn waiting(&mut self, instant_ns: u64) -> usize {
        while self.waiting_starts_ns.front().is_some_and(|&start_ns| start_ns <= instant_ns) {
            self.waiting_starts_ns.pop_front();
        }
        self.waiting_starts_ns.len()
    }

    /// Requests refused so far because the waiting line was full.
    pub fn refused(&self) -> u64 {
        self.refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn servers(count: usize) -> NonZeroUsize {
        NonZeroUsize::new(count).unwrap()
    }

    #[test]
    fn an_idle_server_starts_at_once_and_a_busy_one_when_it_is_free() {
        let mut queue = QueueModel::new(servers(1), 10);
        let slots: Vec<_> = [(100, 50), (110, 5), (300, 7)]
            .map(|(arrival_ns, service_ns)| queue.admit(arrival_ns, service_ns).unwrap())
            .map(|slot| (slot.start_ns, slot.finish_ns))
            .to_vec();
        assert_eq!(slots, [(100, 150), (150, 155), (300, 307)]);
    }

    #[test]
    fn a_full_waiting_line_refuses_until_someone_is_served() {
        let mut queue = QueueModel::new(servers(2), 1);
        assert!(queue.admit(0, 100).is_some());
        assert!(queue.admit(0, 200).is_some());
        assert!(queue.admit(10, 50).is_some(), "waits alone until 100");
        assert_eq!(queue.waiting(10), 1);
        assert_eq!(queue.admit(99, 50), None);
        assert_eq!(queue.refused(), 1);
        assert!(queue.admit(100, 50).is_some(), "the line is empty again");
    }

    #[test]
    fn without_a_waiting_line_it_is_a_loss_system() {
        let mut queue = QueueModel::new(servers(1), 0);
        assert!(queue.admit(0, 10).is_some());
        assert_eq!(queue.admit(9, 10), None);
        assert!(queue.admit(10, 10).is_some());
    }

    /// The oracle: every server kept apart, the first of the earliest chosen by search.
    fn by_search(count: usize, jobs: &[(u64, u64)]) -> Vec<Slot> {
        let mut free_at_ns = vec![0_u64; count];
        jobs.iter()
            .map(|&(arrival_ns, service_ns)| {
                let chosen = (0..count).min_by_key(|&at| free_at_ns[at]).unwrap();
                let start_ns = free_at_ns[chosen].max(arrival_ns);
                free_at_ns[chosen] = start_ns + service_ns;
                Slot { start_ns, finish_ns: free_at_ns[chosen] }
            })
            .collect()
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_search_over_the_servers(
            count in 1_usize..6,
            gaps in prop::collection::vec((0_u64..50, 0_u64..200), 1..200),
        ) {
            let mut arrival_ns = 0;
            let jobs: Vec<_> = gaps
                .iter()
                .map(|&(gap_ns, service_ns)| {
                    arrival_ns += gap_ns;
                    (arrival_ns, service_ns)
                })
                .collect();
            let mut queue = QueueModel::new(servers(count), usize::MAX);
            let slots: Vec<_> = jobs
                .iter()
                .map(|&(arrival_ns, service_ns)| queue.admit(arrival_ns, service_ns).unwrap())
                .collect();
            prop_assert_eq!(&slots, &by_search(count, &jobs));
            prop_assert!(slots.windows(2).all(|pair| pair[0].start_ns <= pair[1].start_ns));
        }
    }
}
