//! Actors that wait for an instant.

use std::{cmp::Reverse, collections::BinaryHeap};

/// Instants at which actors go on. Holds one per actor at most, so the bound on actors is its own.
#[derive(Debug, Default)]
pub(crate) struct Timers(BinaryHeap<Reverse<(u64, u64)>>);

impl Timers {
    /// Wakes the actor of this token at that instant.
    pub(crate) fn push(&mut self, at_ns: u64, token: u64) {
        self.0.push(Reverse((at_ns, token)));
    }

    /// The token of an actor whose instant has come.
    pub(crate) fn pop_due(&mut self, now_ns: u64) -> Option<u64> {
        let Reverse((at_ns, token)) = *self.0.peek()?;
        (at_ns <= now_ns).then(|| {
            self.0.pop();
            token
        })
    }

    /// The next instant; the end of time when nobody waits.
    pub(crate) fn next_ns(&self) -> u64 {
        self.0.peek().map_or(u64::MAX, |Reverse((at_ns, _))| *at_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actors_go_on_in_the_order_of_their_instants() {
        let mut timers = Timers::default();
        assert_eq!((timers.next_ns(), timers.pop_due(u64::MAX)), (u64::MAX, None));
        for (at_ns, token) in [(30, 1), (10, 2), (20, 3)] {
            timers.push(at_ns, token);
        }
        assert_eq!((timers.next_ns(), timers.pop_due(9)), (10, None));
        assert_eq!([(); 3].map(|()| timers.pop_due(20)), [Some(2), Some(3), None]);
        assert_eq!(timers.next_ns(), 30);
    }
}
