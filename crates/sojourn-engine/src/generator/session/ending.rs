//! The end of loops that go on until the test ends.

use sojourn_session::Ended;

use super::{SessionGenerator, World};

/// Clients looked at in a row before answers are looked at again.
const LOOKED_AT_PER_TURN: usize = 1_024;

impl<W: World> SessionGenerator<W> {
    /// Whether no further client comes, so that loops without end have theirs.
    pub(super) fn is_over(&self, now_ns: u64) -> bool {
        self.stopped || now_ns >= self.load_end_ns
    }

    /// Lets clients leave that pause within such a loop, a bounded number at a time; those that
    /// wait for an answer leave when it has come. Says when to look again.
    pub(super) fn end_loops(&mut self, now_ns: u64) -> u64 {
        if !self.is_over(now_ns) {
            return self.load_end_ns;
        }
        let end = self.seats.capacity().min(self.loops_ended + LOOKED_AT_PER_TURN);
        for slot in self.loops_ended..end {
            let leaves = self.seats.get(slot).is_some_and(|seat| {
                let of_broker = seat.events.as_ref();
                let awaits =
                    of_broker.is_some_and(|it| it.publishing.is_some() || it.expecting.is_some());
                let pauses = seat.asked.is_none() && !awaits;
                pauses && seat.walker.is_in_endless_loop(&self.sessions.program)
            });
            if leaves {
                self.leave(slot, Ended::Completed, now_ns);
            }
        }
        self.loops_ended = end;
        if end < self.seats.capacity() { now_ns } else { u64::MAX }
    }
}
