//! A stage's servers: so many pieces of work at once, one line before them.
//!
//! Start and end of a piece of work are fixed when it comes, as in the mock's queue: it starts when
//! the first server is free and takes exactly its time. A machine that wakes somebody late makes
//! that piece late, not the next one, so a stage's capacity is servers over mean service time
//! whatever else the demo does for an event.

use std::sync::{Mutex, PoisonError};

/// When each server is free, nanoseconds.
#[derive(Debug)]
pub(crate) struct Servers {
    free_ns: Mutex<Vec<u64>>,
}

impl Servers {
    /// So many idle ones, at least one.
    pub(crate) fn new(count: u32) -> Self {
        Self { free_ns: Mutex::new(vec![0; count.max(1) as usize]) }
    }

    /// When work of `service_ns` that comes now ends.
    pub(crate) fn end_ns(&self, now_ns: u64, service_ns: u64) -> u64 {
        // Whoever panicked in here left whole numbers behind.
        let mut free_ns = self.free_ns.lock().unwrap_or_else(PoisonError::into_inner);
        let first = free_ns.iter_mut().min();
        first.map_or(now_ns, |free_ns| {
            *free_ns = (*free_ns).max(now_ns).saturating_add(service_ns);
            *free_ns
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_waits_for_the_first_free_server() {
        let servers = Servers::new(2);
        let ends: Vec<u64> = [(0, 10), (0, 30), (0, 10), (0, 10), (100, 10)]
            .map(|(now, service)| servers.end_ns(now, service))
            .into();
        assert_eq!(ends, [10, 30, 20, 30, 110]);
    }

    #[test]
    fn an_overloaded_stage_does_its_capacity_exactly() {
        let servers = Servers::new(4);
        let last = (0..2_000u64).map(|k| servers.end_ns(k * 1_000_000, 20_000_000)).max();
        // 4 at a time, 20 ms each: 2,000 take ten seconds.
        assert_eq!(last, Some(10_003_000_000));
    }
}
